// The values of special registers (PTX ISA, "Special Registers"), which say where a lane is in the launch.
#pragma once
#include <cstdint>

#include "measure/ptx/program.h"

namespace deplo::measure::ptx {

class Block;

/// Returns the value of a special register in one lane of a block's warp.
std::int64_t special_value(Special, const Block&, std::int64_t warp, std::uint32_t lane);

}  // namespace deplo::measure::ptx
