// Global memory that a kernel addresses by pointers, byte by byte. Private to the interpreter.
#pragma once
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "ir/interpret/block/shared_memory.h"
#include "ir/tile_program/interpret/memory.h"

namespace deplo::ir::exec {

/// Memory accesses with checks. Throws Error for an access outside of an array, and for an access that races with
/// another thread of the same block: no barrier is between the two, at least one writes, and not both are atomic. Races
/// between blocks are detected on the tile program instead (tile_program::run).
class AddressedMemory {
 public:
  AddressedMemory(const Lanes& lanes, const SharedMemory& shared) : lanes_(lanes), shared_(shared) {}

  /// Sets the arrays of the kernel's buffers, in order.
  void attach(std::vector<tile_program::Array>& arrays) { memory_.emplace(arrays); }
  static std::uint64_t address(std::size_t buffer) { return tile_program::exec::Memory::address(buffer); }

  std::uint64_t load(std::uint64_t address, DType, int lane);
  void store(std::uint64_t address, DType, std::uint64_t bits, int lane);
  /// Replaces the element by change(element), and returns its previous value.
  std::uint64_t update(std::uint64_t address, DType, int lane,
                       const std::function<std::uint64_t(std::uint64_t)>& change);
  /// True if more than `max_idle` accesses in a row have changed nothing.
  bool is_idle() const { return memory_ && accesses_ > max_idle; }

 private:
  static constexpr std::int64_t max_idle = 4'000'000;  // the same limit as tile_program::Launch::idle
  static constexpr int nobody = -1;
  struct Touch {
    std::int64_t block = -1;
    std::uint32_t epoch = 0;
    int writer = nobody, reader = nobody;  // lanes that wrote and read it since the last barrier
    bool atomic = false;                   // the writer's access was atomic
  };

  std::uint64_t read(std::uint64_t address, DType, int lane);
  void write(std::uint64_t address, DType, std::uint64_t bits, int lane);
  void note(std::uint64_t address, int lane, bool writes, bool atomic);

  const Lanes& lanes_;
  const SharedMemory& shared_;
  std::optional<tile_program::exec::Memory> memory_;
  std::unordered_map<std::uint64_t, Touch> touches_;
  std::int64_t accesses_ = 0, changes_ = 0;  // accesses since the last change of memory; number of all changes so far
};

}  // namespace deplo::ir::exec
