// Libraries that compute what a kernel computes, as executables that are timed like any of ours.
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
  std::string library, version;            // "oneDNN", "2.6.0"; "tileiras": NVIDIA's compiler of tile programs
  std::string precision;                   // "fp32"; "tf32": f32 factors rounded; "f16", "bf16": elements of those
  std::int64_t threads = 0;                // of the host; 0: none of its own
  std::shared_ptr<const void> handle;      // what the executable needs; it goes first
  std::unique_ptr<Executable> executable;  // a grid of one block
};

struct Baselines {
  std::vector<Baseline> found;
  std::string none;  // why there is none, or not one that there could be
};

class Cublas;
struct MatmulShape;

/// Of f32 in fp32 throughout, and in TF32; of 16 bits with sums in f32.
std::vector<Baseline> cublas_matmuls(const std::shared_ptr<const Cublas>&, const MatmulShape&);

/// For verified Loop IR: for matmuls cuBLAS on CUDA devices, as above, and for those of f32 oneDNN where the device's
/// memory is the host's. Libraries are opened at run time. `tile`: the kernel is this launch of a tile program, of
/// which NVIDIA's compiler makes one more on CUDA devices.
Baselines find_baselines(const ir::Program& loop, Device&, const std::optional<TileCall>& tile = {});

}  // namespace deplo::measure
