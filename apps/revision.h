// Which deplo this is.
#pragma once
#include <string_view>

namespace deplo::apps {

/// As `git describe` said it when the program was built; "unknown" outside a repository.
std::string_view revision();

}  // namespace deplo::apps
