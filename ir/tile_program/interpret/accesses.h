// Performs the memory accesses of one operation, and checks their bounds and conflicts. Private to this folder.
#pragma once
#include <string>

#include "ir/tile_program/interpret/machine.h"

namespace deplo::ir::tile_program::exec {

enum class AccessKind : std::uint8_t { read, write, update };

/// The memory accesses of one operation. Created at the beginning of the operation. At its end, after() returns the
/// past of its token and results.
class Accesses {
 public:
  Accesses(Evaluation& now, AccessKind kind);

  /// read() and write() access the element at an address. `index`: number of the element in the operation's tile, for
  /// messages.
  std::uint64_t read(std::uint64_t address, DType, std::size_t index);
  void write(std::uint64_t address, DType, std::uint64_t bits, std::size_t index);
  /// For an atomic operation: reads the element and writes change(element). Returns the old bits.
  template <class Function>
  std::uint64_t update(std::uint64_t address, DType element, std::size_t index, Function change) {
    const std::uint64_t before = peek(address, element, index);
    note(address, element, index);
    acquire(address);
    put(address, element, change(before), index);
    release(address);
    return before;
  }
  /// Returns the past of later operations that use a token or value of this operation.
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
  PastPtr past_;      // events that are ordered before this operation
  PastPtr acquired_;  // events that it learned of through acquire operations
  EventId event_ = 0;
};

}  // namespace deplo::ir::tile_program::exec
