// The names of a program: what each of them denotes, and in which bodies it is visible. Private to ir/verify.
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
  const Loop* loop = nullptr;  // the loop that the body belongs to; nullptr: the body of another statement
  bool open = true;            // not left yet
};

struct Name {
  enum class Kind : std::uint8_t { buffer, shared, local, value, accumulator, axis, barrier, descriptor };
  std::string_view text;
  Kind kind = Kind::value;
  Type type;                          // type of a value, an accumulator or a buffer's elements
  Op op = Op::add;                    // accumulators only
  Bind bind = Bind::free;             // axes only
  bool writable = false;              // buffers only
  bool unit_stride = true;            // the last dimension of a buffer has stride 1
  bool varies = false;                // axes only: the axis differs between the threads of a block
  bool of_block = false;              // values only: equal in all threads of a block, and in all registers and lanes
  bool active = false;                // axes only: the axis is in scope
  std::uint32_t stamp = 0;            // the last index list that named this axis
  Strided range;                      // range of an axis or an integer
  std::vector<std::int64_t> extents;  // extents of a buffer or of an array of barriers
  // The body in which the name is visible. For an accumulator of Loop or Tile IR, it is the innermost body that
  // contains its uses so far. For a buffer of the program it is nullptr, because such a buffer is visible everywhere.
  Scope* scope = nullptr;
  const Stage* stage = nullptr;               // first Stage of shared memory in Tile IR
  const TmaDescriptor* descriptor = nullptr;  // descriptors only
};

/// A hash table whose keys are views into the program. Names and scopes keep their addresses.
class Names {
 public:
  explicit Names(Level level) : level_(level), slots_(256, nullptr) {}

  Scope* scope() const { return scope_; }  // innermost open scope; nullptr outside the program's body
  void enter(const Loop* loop);            // nullptr: the body of a statement other than a loop
  void leave();

  Name* find(std::string_view text) const { return slots_[slot(text)]; }  // nullptr if there is none
  /// Defines a name in the current scope. Fails unless it is valid and new. `what` says what it names, for the message,
  /// such as "a value".
  Name& define(const std::string& text, Name::Kind kind, const char* what);
  /// Returns a value or an accumulator. Fails unless it may be read here.
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
