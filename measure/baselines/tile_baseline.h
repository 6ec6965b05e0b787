// The kernel that NVIDIA's compiler builds from a tile program, as a baseline for deplo's.
#pragma once
#include <vector>

#include "ir/program.h"
#include "measure/baselines/baselines.h"
#include "measure/baselines/tile_call.h"

namespace deplo::measure {

/// Compiles the program for the device, which must be a CUDA device, with tileiras. Its arrays are `buffers`; before
/// each launch those with an index in `zeroed` are filled with 0. Throws Error(environment) in one line, `tileiras: …`,
/// if that is not possible.
Baseline tile_baseline(const TileCall&, const std::vector<ir::Buffer>& buffers, const std::vector<std::size_t>& zeroed,
                       Device&);

}  // namespace deplo::measure
