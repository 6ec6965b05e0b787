// What the rules and the emitters may know of a device. Loaded from configs/targets/*.yaml (core/config).
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace deplo {

enum class Dialect { opencl, cuda };
std::string_view name(Dialect);

/// Limits and capabilities. Sources of the CUDA numbers: CUDA C++ Programming Guide, "Technical Specifications per
/// Compute Capability"; each YAML file cites its own.
struct Target {
  std::string name;  // "opencl-cpu", "sm_90"
  Dialect dialect = Dialect::opencl;
  bool cpu = false;                    // no warps; wants vector values, small blocks and often nothing staged
  std::int64_t max_threads = 1024;     // per block
  std::int64_t warp = 32;              // 1 on CPUs
  std::int64_t shared_bytes = 49152;   // static shared (local) memory per block
  std::int64_t register_floats = 128;  // accumulators one thread may hold: fm * fn at most this
  std::int64_t vector_lanes = 4;       // widest vector value (OpenCL) or access (CUDA) in f32 lanes
  std::int64_t units = 1;              // multiprocessors or cores that blocks are spread over
  bool operator==(const Target&) const = default;
};

/// configs/targets/NAME.yaml. Throws Error with the names there are.
Target load_target(std::string_view name);

}  // namespace deplo
