// The version of this build of deplo.
#pragma once
#include <string_view>

namespace deplo::engine {

/// Returns "0.2.0 (2b046e4, modified)", or "0.2.0" if the sources are not a git repository.
std::string_view version();
/// Returns the revision as stores keep it: "2b046e4-dirty", or "v0.2.0" if the sources are not a git repository.
std::string_view revision();

}  // namespace deplo::engine
