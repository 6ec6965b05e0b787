// Reads values that Python's repr() wrote.
#pragma once
#include <optional>
#include <string_view>

#include "search/records/formats/parts/json_text.h"

namespace deplo::search::records {

/// Parses "Config(block_sizes=[64, 32], indexing='pointer', maxnreg=None)", whose name may have dots, or "{'a': 1}"
/// into an object. Tuples become lists; NaN and infinities become null. nullopt: the text is neither.
std::optional<Json> parse_python_call(std::string_view text);

}  // namespace deplo::search::records
