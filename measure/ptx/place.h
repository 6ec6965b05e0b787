// Where in the text something is found.
#pragma once
#include <cstdint>
#include <string>

#include "measure/ptx/finding.h"
#include "measure/ptx/program.h"

namespace deplo::measure::ptx {

class Warp;

/// "PTX line 120, CUDA line 45", of an instruction.
std::string place_of(const Program&, std::uint32_t at);
/// Adds the place of instruction `at` of a warp to what was found there.
Finding placed(const Finding&, const Warp&, std::uint32_t at);

}  // namespace deplo::measure::ptx
