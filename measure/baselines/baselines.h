// Library functions that compute the same as a kernel, as executables that are timed like deplo's kernels.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/program.h"
#include "measure/baselines/tile_call.h"
#include "measure/device.h"

namespace deplo::measure {

struct Baseline {
  std::string library, version;        // "oneDNN", "2.6.0"; "tileiras" is NVIDIA's compiler of tile programs
  std::string precision;               // "fp32"; "tf32": f32 factors are rounded; "f16", "bf16": type of the elements
  std::int64_t threads = 0;            // host threads that the library uses; 0: none of its own
  std::shared_ptr<const void> handle;  // must outlive the executable
  std::unique_ptr<Executable> executable;  // has a grid of one block
};

struct Baselines {
  std::vector<Baseline> found;
  std::string none;  // why no baseline was found, or why a possible one is missing
};

class Cublas;
struct MatmulShape;

/// The cuBLAS baselines of a matmul. For f32: one in fp32 throughout, and one in TF32. For 16-bit types: one with sums
/// in f32.
std::vector<Baseline> cublas_matmuls(const std::shared_ptr<const Cublas>&, const MatmulShape&);

/// Finds the baselines of verified Loop IR. For a matmul: cuBLAS on CUDA devices, and oneDNN for f32 on OpenCL's CPU
/// devices. Libraries are opened at run time. `tile`: the launch of the tile program that the kernel was made from; on
/// CUDA devices, NVIDIA's compiler builds a further baseline from it.
Baselines find_baselines(const ir::Program& loop, Device&, const std::optional<TileCall>& tile = {});

}  // namespace deplo::measure
