// The kernel that NVIDIA's compiler builds from a tile program, as a baseline for deplo's kernel.
#pragma once
#include <vector>

#include "ir/program.h"
#include "measure/baselines/baselines.h"
#include "measure/baselines/tile_call.h"

namespace deplo::measure {

/// Compiles the program with tileiras for a CUDA device. `buffers` are its arrays; before each launch, those with an
/// index in `zeroed` are filled with 0. Throws a one-line Error(environment), "tileiras: …", if that is not possible.
Baseline tile_baseline(const TileCall&, const std::vector<ir::Buffer>& buffers, const std::vector<std::size_t>& zeroed,
                       Device&);

}  // namespace deplo::measure
