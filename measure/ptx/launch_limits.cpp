#include "measure/ptx/launch_limits.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/hardware/gpu.h"
#include "measure/cuda/cuda.h"

namespace deplo::measure::ptx {
namespace {

std::optional<std::string> exceeded_extent(const LaunchOptions& shape) {
  // CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
  constexpr std::int64_t max_threads = 1024, max_threads_z = 64, max_blocks = 65535;
  const std::int64_t threads_z = shape.threads / (shape.block_x * shape.block_y);
  const std::int64_t blocks = std::max(shape.grid_y, shape.blocks / (shape.grid_x * shape.grid_y));
  if (shape.threads > max_threads)
    return fmt::format("expected at most {} threads per block, found {}", max_threads, shape.threads);
  if (threads_z > max_threads_z)
    return fmt::format("expected at most {} threads in z, found {}", max_threads_z, threads_z);
  if (blocks > max_blocks) return fmt::format("expected at most {} blocks in y and in z, found {}", max_blocks, blocks);
  return std::nullopt;
}

std::optional<std::string> exceeded_cluster(std::int64_t cluster, std::int64_t grid_x) {
  if (cluster > ir::gpu::portable_cluster)
    return fmt::format(
        "expected clusters of at most {} blocks, found {}: larger ones need a device that supports them and the "
        "attribute cudaFuncAttributeNonPortableClusterSizeAllowed",
        ir::gpu::portable_cluster, cluster);
  if (grid_x % cluster != 0)
    return fmt::format("expected a grid that is a multiple of the cluster of {} blocks, found {}", cluster, grid_x);
  return std::nullopt;
}

std::optional<std::string> exceeded_shared(std::int64_t fixed, std::int64_t dynamic, std::string_view architecture) {
  // A launch needs no permission for this much dynamic memory, whatever the static arrays take.
  if (dynamic <= ir::gpu::static_shared_bytes) return std::nullopt;
  const std::int64_t max_bytes = architecture_target(architecture).shared_bytes;
  if (fixed + dynamic <= max_bytes) return std::nullopt;
  return fmt::format("expected at most {} bytes of shared memory per block on {}, found {}{}", max_bytes, architecture,
                     fixed + dynamic, fixed > 0 ? fmt::format(", of which {} are static", fixed) : "");
}

}  // namespace

std::optional<std::string> exceeded_limit(const Program& program, const LaunchOptions& shape,
                                          std::string_view architecture) {
  if (auto extent = exceeded_extent(shape)) return extent;
  if (auto cluster = exceeded_cluster(program.cluster, shape.grid_x)) return cluster;
  return exceeded_shared(static_cast<std::int64_t>(program.shared_bytes), shape.dynamic_shared_bytes, architecture);
}

}  // namespace deplo::measure::ptx
