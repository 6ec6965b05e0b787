// The address layout of the machine. No address belongs to two spaces, so the machine detects an address of the wrong
// space.
#pragma once
#include <cstdint>

namespace deplo::measure::ptx {

// Each allocation of global memory has a range of 2^40 addresses and starts in the middle of the range. So an offset
// that is wrong by gigabytes in either direction still shows which array was meant.
inline constexpr int allocation_shift = 40;
constexpr std::uint64_t global_address(std::uint64_t number) {
  return ((number + 1) << allocation_shift) + (std::uint64_t{1} << (allocation_shift - 1));
}
constexpr std::uint64_t allocation_of(std::uint64_t address) { return (address >> allocation_shift) - 1; }

// The windows of the other spaces in generic addresses. Below them is room for more than 2^15 allocations.
inline constexpr std::uint64_t shared_window = std::uint64_t{0xfd} << 48, local_window = std::uint64_t{0xfe} << 48,
                               param_window = std::uint64_t{0xff} << 48, window_mask = std::uint64_t{0xff} << 48;

// A block's shared memory starts after the part that the system reserves (1 KiB from sm_90 on, CUDA Programming Guide,
// "Shared Memory"). The upper byte of a shared::cluster address is 0 for the own block, else the rank of the block plus
// 1.
inline constexpr std::uint32_t shared_start = 1024, rank_shift = 24, shared_offset_mask = (1U << rank_shift) - 1;
// Local memory and parameters start at 16, so that 0 is not a valid address.
inline constexpr std::uint64_t local_start = 16, param_start = 16;

// Allocation number of the first variable of a module.
inline constexpr std::uint64_t first_module_variable = 4096;

/// Rounds an offset up to a multiple of `to`.
constexpr std::uint64_t aligned(std::uint64_t offset, std::uint64_t to) { return (offset + to - 1) / to * to; }

}  // namespace deplo::measure::ptx
