// Global memory that a kernel addresses by pointers, byte by byte. Private to the interpreter.
#pragma once
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "ir/interpret/block/shared_memory.h"
#include "ir/tile_program/interpret/memory.h"

namespace deplo::ir::exec {

/// Throws Error for an access outside of an array, and for one that races with another thread of the same block: no
/// barrier is between them, one of them writes, and not both are atomic. Races between blocks are found in the tile
/// program (tile_program::run).
class AddressedMemory {
 public:
  AddressedMemory(const Lanes& lanes, const SharedMemory& shared) : lanes_(lanes), shared_(shared) {}

  /// The arrays of the kernel's buffers, in order.
  void attach(std::vector<tile_program::Array>& arrays) { memory_.emplace(arrays); }
  static std::uint64_t address(std::size_t buffer) { return tile_program::exec::Memory::address(buffer); }

  std::uint64_t load(std::uint64_t address, DType, int lane);
  void store(std::uint64_t address, DType, std::uint64_t bits, int lane);
  /// Replaces the element by change(element), and returns what it was.
  std::uint64_t update(std::uint64_t address, DType, int lane,
                       const std::function<std::uint64_t(std::uint64_t)>& change);
  /// Whether very many accesses have changed nothing.
  bool is_idle() const { return memory_ && accesses_ > max_idle; }

 private:
  static constexpr std::int64_t max_idle = 4'000'000;  // as tile_program::Launch::idle
  static constexpr int nobody = -1;
  struct Touch {
    std::int64_t block = -1;
    std::uint32_t epoch = 0;
    int writer = nobody, reader = nobody;  // lanes since the last barrier
    bool atomic = false;                   // of the writer
  };

  std::uint64_t read(std::uint64_t address, DType, int lane);
  void write(std::uint64_t address, DType, std::uint64_t bits, int lane);
  void note(std::uint64_t address, int lane, bool writes, bool atomic);

  const Lanes& lanes_;
  const SharedMemory& shared_;
  std::optional<tile_program::exec::Memory> memory_;
  std::unordered_map<std::uint64_t, Touch> touches_;
  std::int64_t accesses_ = 0, changes_ = 0;  // since the last change; all changes so far
};

}  // namespace deplo::ir::exec
