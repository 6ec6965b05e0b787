// The limits of a launch that every device of an architecture has.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "measure/ptx/machine.h"
#include "measure/ptx/program.h"

namespace deplo::measure::ptx {

/// Returns which limit the launch exceeds, so that a driver would refuse it, or nullopt. The shape of a user's kernel
/// has the extents of its grid and of its blocks.
std::optional<std::string> exceeded_limit(const Program&, const LaunchOptions& shape, std::string_view architecture);

}  // namespace deplo::measure::ptx
