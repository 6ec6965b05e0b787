// The properties of a device that the rules and the emitters may use. Loaded from configs/targets/*.yaml (core/config).
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace deplo {

enum class Dialect { opencl, cuda };
std::string_view name(Dialect);
std::optional<Dialect> parse_dialect(std::string_view);

/// The properties of a language that rules use, independent of the device.
struct DialectTraits {
  bool unaligned_vectors = false;  // vectors are loaded and stored at any element, not only at multiples of their size
  // a kernel can limit its registers so that a multiprocessor holds a given number of blocks
  bool register_limit = false;
};
DialectTraits traits(Dialect);

/// Limits and capabilities. The CUDA numbers are from the CUDA C++ Programming Guide, "Technical Specifications per
/// Compute Capability"; each YAML file cites its own sources.
struct Target {
  std::string name;  // "opencl-cpu", "sm_90"
  Dialect dialect = Dialect::opencl;
  bool cpu = false;                    // has no warps; prefers vector values, small blocks and often no staging
  std::int64_t max_threads = 1024;     // per block
  std::int64_t warp = 32;              // 1 on CPUs
  std::int64_t shared_bytes = 49152;   // shared (local) memory per block; on CUDA with the opt-in above 48 KiB
  std::int64_t register_floats = 128;  // maximum number of accumulators of a thread (fm * fn)
  std::int64_t vector_lanes = 4;       // widest vector value (OpenCL) or access (CUDA) in f32 lanes
  std::int64_t units = 1;              // multiprocessors or cores that execute the blocks
  std::int64_t cluster = 1;  // maximum number of blocks in a cluster, which read each other's shared memory; 1: none
  std::int64_t stream_bytes = 0;  // an output of this many bytes leaves the caches before it is read; 0: unknown
  // Resources of one unit, for occupancy; 0: unknown, does not limit.
  std::int64_t unit_registers = 0, unit_threads = 0, unit_blocks = 0, unit_shared_bytes = 0;
  // Capabilities. A rule skips if a capability that it needs is missing.
  bool shuffle = false;     // warp shuffles
  bool atomic_add = false;  // atomic addition of floats in global memory, for += writes
  bool vector_add = false;  // atomic addition of 2 or 4 aligned floats at once
  bool async_copy = false;  // cp.async
  bool tma = false;         // cp.async.bulk.tensor and mbarriers
  bool prefetch = false;    // prefetch of cache lines by address
  bool mma = false;         // matrix instructions of a warp: mma.sync of 16 bits and tf32, ldmatrix
  bool dot_pairs = false;   // dot products of bf16 pairs on CPUs: AVX512_BF16
  bool fast_pairs = false;  // they multiply more per cycle than f32 products
  bool wgmma = false;       // matrix instructions of a warpgroup, which read shared memory
  bool operator==(const Target&) const = default;
};

/// Ten times the compute capability: 90 for "sm_90" and "sm_90a"; 0 if the name has no such number.
int compute_capability(std::string_view architecture);

/// Loads configs/targets/NAME.yaml. Throws Error with the existing names if there is no such target.
Target load_target(std::string_view name);

}  // namespace deplo
