// The accesses of a warp to memory, each with all checks.
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>

#include "measure/ptx/warp.h"

namespace deplo::measure::ptx {

enum class Use { read, write, update };

/// What an instruction does at an address.
struct Operation {
  Use use = Use::read;
  MemoryOrder order = {};
  const std::byte* written = nullptr;  // of Use::write: the bytes
  std::uint32_t used = 0;              // the first bytes, which the kernel uses of what it reads; 0: all
};

/// The bytes at an address of a space. Throws Finding if they are misaligned, out of bounds, or read uninitialized, or if
/// nothing orders the access and an earlier one.
std::byte* memory_at(Warp&, Space, std::uint64_t address, std::uint32_t size, std::size_t lane, const Operation&);
/// A write to global memory makes known what its order says. `updates`: by an atomic operation.
void release(Warp&, const Instruction&, std::size_t lane, bool updates);
/// A read of global memory by an asynchronous copy.
void check_global_read(const Warp&, std::uint64_t address, std::uint64_t size, const Access&);
/// The block that has an address of shared::cluster (or shared, if `own`), and the offset there.
std::pair<Block*, std::uint64_t> shared_place(const Warp&, std::uint64_t address, bool own, std::size_t lane);
/// Throws the conflict at byte `at` of shared memory as a Finding. `does`: what the warp does, such as "reads".
[[noreturn]] void report(const Warp&, const Conflict&, const char* does, std::uint64_t size, std::uint64_t at);

}  // namespace deplo::measure::ptx
