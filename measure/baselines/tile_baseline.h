// What NVIDIA's compiler makes of a tile program, beside what we make of it.
#pragma once
#include <vector>

#include "ir/program.h"
#include "measure/baselines/baselines.h"
#include "measure/baselines/tile_call.h"

namespace deplo::measure {

/// Compiled for the device, which is a CUDA device, by tileiras; its arrays are `buffers`, of which those numbered in
/// `zeroed` are filled with 0 before each launch. Throws Error(environment) in one line, `tileiras: …`, where there is
/// none.
Baseline tile_baseline(const TileCall&, const std::vector<ir::Buffer>& buffers, const std::vector<std::size_t>& zeroed,
                       Device&);

}  // namespace deplo::measure
