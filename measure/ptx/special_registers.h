// Special registers (PTX ISA, "Special Registers"): where a lane is in the launch.
#pragma once
#include <cstdint>

#include "measure/ptx/program.h"

namespace deplo::measure::ptx {

class Block;

/// What the register has in a lane of a block's warp.
std::int64_t special_value(Special, const Block&, std::int64_t warp, std::uint32_t lane);

}  // namespace deplo::measure::ptx
