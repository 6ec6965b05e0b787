// The values of special registers (PTX ISA, "Special Registers"), which say where a lane is in the launch.
#pragma once
#include <string_view>

#include "measure/ptx/program.h"

namespace deplo::measure::ptx {

/// Returns the special register of a name such as "%tid.x"; null if the machine has none of this name.
Special find_special_register(std::string_view name);

}  // namespace deplo::measure::ptx
