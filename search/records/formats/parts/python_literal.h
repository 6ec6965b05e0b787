// Values as Python's repr() writes them.
#pragma once
#include <optional>
#include <string_view>

#include "search/records/formats/parts/json_text.h"

namespace deplo::search::records {

/// An object of "Config(block_sizes=[64, 32], indexing='pointer', maxnreg=None)", whose name may have dots, or of
/// "{'a': 1}". Tuples become lists; numbers that are none become null. nullopt: the text is neither.
std::optional<Json> parse_python_call(std::string_view text);

}  // namespace deplo::search::records
