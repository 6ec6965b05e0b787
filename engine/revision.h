// The version of this deplo.
#pragma once
#include <string_view>

namespace deplo::engine {

/// "0.2.0 (2b046e4, modified)"; "0.2.0" if the sources are not a git repository.
std::string_view version();
/// The form that stores keep: "2b046e4-dirty", or "v0.2.0" if the sources are not a git repository.
std::string_view revision();

}  // namespace deplo::engine
