// One operation's accesses to memory: bounds, and what it conflicts with. Private to the room.
#pragma once
#include <string>

#include "ir/tile_program/interpret/machine.h"

namespace deplo::ir::tile_program::exec {

enum class AccessKind : std::uint8_t { read, write, update };

/// Begins with the operation; finished by `end`, which sets its token.
class Accesses {
 public:
  Accesses(Evaluation& now, AccessKind kind);

  /// DType `index` of the operation's tile, at an address.
  std::uint64_t read(std::uint64_t address, DType, std::size_t index);
  void write(std::uint64_t address, DType, std::uint64_t bits, std::size_t index);
  /// Of an atomic operation: reads, and writes what `change` makes of that.
  template <class Function>
  std::uint64_t update(std::uint64_t address, DType element, std::size_t index, Function change) {
    const std::uint64_t before = peek(address, element, index);
    note(address, element, index);
    acquire(address);
    put(address, element, change(before), index);
    release(address);
    return before;
  }
  /// What later operations come behind that use a token or value of this one.
  PastPtr after() const;

 private:
  std::uint64_t peek(std::uint64_t address, DType, std::size_t index);
  void put(std::uint64_t address, DType, std::uint64_t bits, std::size_t index);
  void note(std::uint64_t address, DType, std::size_t index);
  void acquire(std::uint64_t address);
  void release(std::uint64_t address);
  [[noreturn]] void fail_outside(std::uint64_t address, DType, std::size_t index) const;
  std::string element(std::size_t index) const;

  Evaluation& now_;
  AccessKind kind_;
  bool acquires_ = false, releases_ = false, strong_ = false;
  PastPtr past_;      // what this operation comes behind
  PastPtr acquired_;  // what it learned
  EventId event_ = 0;
};

}  // namespace deplo::ir::tile_program::exec
