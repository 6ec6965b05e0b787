// Common properties of NVIDIA's multiprocessors from compute capability 8.0 to 12.0 (CUDA C++ Programming Guide,
// "Hardware Multithreading" and "Technical Specifications per Compute Capability"). Properties that differ are in
// core/target.h.
#pragma once
#include <cstdint>

namespace deplo::ir::gpu {

inline constexpr std::int64_t warp = 32;               // threads
inline constexpr std::int64_t warps_of_group = 4;      // in a warpgroup
inline constexpr std::int64_t schedulers = 4;          // each issues one warp's instruction per cycle
inline constexpr std::int64_t banks = 32;              // banks of shared memory, each 4 bytes wide
inline constexpr std::int64_t thread_registers = 255;  // maximum number per thread, 32 bits each
inline constexpr std::int64_t static_shared_bytes = std::int64_t{48} * 1024;  // limit on a block's __shared__ arrays
inline constexpr std::int64_t portable_cluster = 8;  // blocks of the largest cluster that needs no permission

}  // namespace deplo::ir::gpu
