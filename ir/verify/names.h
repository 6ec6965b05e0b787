// The names of a program: what each stands for, and in which bodies it is visible. Private to ir/verify.
#pragma once
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "ir/program.h"
#include "ir/simplify/strided.h"

namespace deplo::ir::verifier {

/// A body that the walk has entered, and perhaps left again.
struct Scope {
  Scope* parent = nullptr;
  const Loop* loop = nullptr;  // the loop of the body; nullptr: another statement's body
  bool open = true;            // not left yet
};

struct Name {
  enum class Kind : std::uint8_t { buffer, shared, local, value, accumulator, axis, barrier, descriptor };
  std::string_view text;
  Kind kind = Kind::value;
  Type type;                // of a value or an accumulator, or of a buffer's elements
  Op op = Op::add;          // of an accumulator
  Bind bind = Bind::free;   // of an axis
  bool writable = false;    // of a buffer
  bool unit_stride = true;  // the last dimension of a buffer has stride 1
  bool varies = false;      // an axis that differs between the threads of a block
  bool of_block = false;    // a value that is the same in all threads of a block, and in all registers and lanes
  bool active = false;      // an axis that is in scope
  std::uint32_t stamp = 0;  // the last index list that named this axis
  Strided range;            // of an axis, or of an integer
  std::vector<std::int64_t> extents;  // of a buffer, or of an array of barriers
  // The body in which the name is visible. An accumulator of Loop or Tile IR: the innermost body that holds its uses so
  // far. A buffer of the program: nullptr, because it is visible everywhere.
  Scope* scope = nullptr;
  const Stage* stage = nullptr;               // of shared memory in Tile IR: its first Stage
  const TmaDescriptor* descriptor = nullptr;  // of a descriptor
};

/// A hash table over views into the program. Names and scopes keep their addresses.
class Names {
 public:
  explicit Names(Level level) : level_(level), slots_(256, nullptr) {}

  Scope* scope() const { return scope_; }  // the innermost open one; nullptr outside the program's body
  void enter(const Loop* loop);            // nullptr: another statement's body
  void leave();

  Name* find(std::string_view text) const { return slots_[slot(text)]; }  // nullptr: there is none
  /// Defines a name in the current scope. Fails unless it is valid and new. `what`: what it names, for the message: "a
  /// value".
  Name& define(const std::string& text, Name::Kind kind, const char* what);
  /// Returns a value or accumulator. Fails unless it may be read here.
  Name& use(const std::string& text);
  /// Adds a text that must be new, but need not be a valid name.
  Name& add(std::string_view text, Name::Kind kind);

 private:
  std::size_t slot(std::string_view text) const;  // the name's slot, or the empty slot for a new name

  Level level_;
  std::deque<Name> names_;
  std::vector<Name*> slots_;
  std::deque<Scope> scopes_;
  Scope* scope_ = nullptr;
};

}  // namespace deplo::ir::verifier
