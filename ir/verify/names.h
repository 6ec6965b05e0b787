// The names of a program: what each stands for, and in which bodies. Private to ir/verify.
#pragma once
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "ir/program.h"
#include "ir/simplify/strided.h"

namespace deplo::ir::verifier {

/// A body that the walk has entered.
struct Scope {
  Scope* parent = nullptr;
  const Loop* loop = nullptr;  // whose body it is; nullptr for others
  bool open = true;            // not left yet
};

struct Name {
  enum class Kind : std::uint8_t { buffer, shared, value, accumulator, axis, barrier, descriptor };
  std::string_view text;
  Kind kind = Kind::value;
  Type type;                          // of a value, an accumulator or an element
  Op op = Op::add;                    // of an accumulator
  Bind bind = Bind::free;             // of an axis
  bool writable = false;              // of a buffer
  bool unit_stride = true;            // of the last dimension of a buffer
  bool varies = false;                // an axis that differs between the threads of a block
  bool of_block = false;              // a value that all threads of a block have alike, in all registers and lanes
  bool active = false;                // an axis that is in scope
  std::uint32_t stamp = 0;            // the last index list that held this axis
  Strided range;                      // of an axis, or of an integer
  std::vector<std::int64_t> extents;  // of a buffer, or of an array of barriers
  // Where it is visible; of an accumulator above Kernel IR: the innermost body that holds its uses; of the program's
  // buffers: nullptr, everywhere.
  Scope* scope = nullptr;
  const Stage* stage = nullptr;               // of shared memory in Tile IR: the first
  const TmaDescriptor* descriptor = nullptr;  // of a descriptor
};

/// A hash table over views into the program. Names and scopes keep their addresses.
class Names {
 public:
  explicit Names(Level level) : level_(level), slots_(256, nullptr) {}

  Scope* scope() const { return scope_; }  // the innermost open one; nullptr outside the program's body
  void enter(const Loop* loop);            // nullptr: the body of another statement
  void leave();

  Name* find(std::string_view text) const { return slots_[slot(text)]; }  // nullptr where there is none
  /// In the current scope. Fails unless it is a new name; `what` it is to name: "a value".
  Name& define(const std::string& text, Name::Kind kind, const char* what);
  /// A value or accumulator that may be read here. Fails where it is none.
  Name& use(const std::string& text);
  /// The text need not be a name, and must be new.
  Name& add(std::string_view text, Name::Kind kind);

 private:
  std::size_t slot(std::string_view text) const;  // of the name, or the empty one where it belongs

  Level level_;
  std::deque<Name> names_;
  std::vector<Name*> slots_;
  std::deque<Scope> scopes_;
  Scope* scope_ = nullptr;
};

}  // namespace deplo::ir::verifier
