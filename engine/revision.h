// Which deplo this is.
#pragma once
#include <string_view>

namespace deplo::engine {

/// "0.2.0 (2b046e4, modified)"; "0.2.0" of sources that are no git repository.
std::string_view version();
/// As stores keep it: "2b046e4-dirty", or "v0.2.0" of sources that are no git repository.
std::string_view revision();

}  // namespace deplo::engine
