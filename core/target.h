// What the rules and the emitters may know of a device. Loaded from configs/targets/*.yaml (core/config).
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace deplo {

enum class Dialect { opencl, cuda };
std::string_view name(Dialect);
std::optional<Dialect> parse_dialect(std::string_view);

/// What rules need to know of a language, whatever device runs it.
struct DialectTraits {
  bool unaligned_vectors = false;  // vectors are loaded and stored at any element, not only at multiples of their size
  bool register_limit = false;     // a kernel can ask for registers that let a unit hold a number of blocks
};
DialectTraits traits(Dialect);

/// Limits and capabilities. Sources of the CUDA numbers: CUDA C++ Programming Guide, "Technical Specifications per
/// Compute Capability"; each YAML file cites its own.
struct Target {
  std::string name;  // "opencl-cpu", "sm_90"
  Dialect dialect = Dialect::opencl;
  bool cpu = false;                    // no warps; wants vector values, small blocks and often nothing staged
  std::int64_t max_threads = 1024;     // per block
  std::int64_t warp = 32;              // 1 on CPUs
  std::int64_t shared_bytes = 49152;   // shared (local) memory per block, on CUDA with the opt-in above 48 KiB
  std::int64_t register_floats = 128;  // accumulators one thread may hold: fm * fn at most this
  std::int64_t vector_lanes = 4;       // widest vector value (OpenCL) or access (CUDA) in f32 lanes
  std::int64_t units = 1;              // multiprocessors or cores that blocks are spread over
  std::int64_t cluster = 1;            // most blocks of a cluster, which read each other's shared memory; 1: none
  // What one unit has, for occupancy; 0: not known, does not limit.
  std::int64_t unit_registers = 0, unit_threads = 0, unit_blocks = 0, unit_shared_bytes = 0;
  // Capabilities: a rule that needs one skips without it.
  bool shuffle = false;     // warp shuffles
  bool atomic_add = false;  // of floats in global memory: += writes
  bool vector_add = false;  // of 2 and 4 aligned floats in global memory at once
  bool async_copy = false;  // cp.async
  bool tma = false;         // cp.async.bulk.tensor and mbarriers
  bool prefetch = false;    // of cache lines by address
  bool mma = false;         // matrix instructions of a warp: mma.sync of 16 bits and tf32, ldmatrix
  bool dot_pairs = false;   // of bf16, on CPUs: AVX512_BF16
  bool wgmma = false;       // those of a warpgroup, which read shared memory
  bool operator==(const Target&) const = default;
};

/// Of "sm_90" and "sm_90a" 90, ten times the compute capability; 0 where the name has no such number.
int compute_capability(std::string_view architecture);

/// configs/targets/NAME.yaml. Throws Error with the names there are.
Target load_target(std::string_view name);

}  // namespace deplo
