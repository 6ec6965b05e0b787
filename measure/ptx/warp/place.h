// The place in the text of an instruction or a finding.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "measure/ptx/finding.h"
#include "measure/ptx/program.h"

namespace deplo::measure::ptx {

class Warp;

/// The place of an instruction, as in "PTX line 120, CUDA line 45".
std::string place_of(const Statement&);
std::string place_of(const Program&, std::uint32_t at);
/// Returns the finding with the place of instruction `at` of the warp, or unchanged if it has a place already.
Finding placed(const Finding&, const Warp&, std::uint32_t at);
/// Does work that instruction `at` of the warp has issued. Throws Finding with the place of the instruction.
void do_placed(const std::function<void()>& work, const Warp&, std::uint32_t at);

}  // namespace deplo::measure::ptx
