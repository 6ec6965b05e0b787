// The words of `deplo compile --ir`, also for completions.
#pragma once
#include <string>
#include <vector>

#include "engine/source/source.h"

namespace deplo::apps {

/// Returns the levels at which a source of this kind can be printed.
std::vector<std::string> compile_levels(engine::SourceKind);

}  // namespace deplo::apps
