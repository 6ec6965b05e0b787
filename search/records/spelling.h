// A parameter's value in each format: as JSON, as Python prints it (in keys of Kernel Tuner's caches), as a cell of a
// table, and as a Value, which has no booleans and fractions.
//   JSON     Python   cell       Value
//   32       32       32         32
//   true     True     True       1
//   0.5      0.5      0.5        "0.5"
//   1.0      1.0      1.0        1
//   "32"     32       "32"       32
#pragma once
#include <string>
#include <string_view>

#include "core/trail.h"

namespace deplo::search::records {

/// In the digits of Python's repr(): the fewest that read back as the number, and never like an integer. Finite.
std::string json_of(double);
std::string json_of(const Value&);
/// A table's cell. Text in the quotes of a JSON string is that string.
std::string json_of_cell(std::string_view);

/// Of one of the above, or what nlohmann prints of a boolean, an integer, a string or null.
Value value_of_json(std::string_view json);
std::string python_of_json(std::string_view json);
/// json_of_cell(cell_of_json(json)) == json.
std::string cell_of_json(std::string_view json);

/// Whether it is a member of a Kernel Tuner cache's entries that is neither a parameter nor an objective. "status" and
/// "message" are ours.
bool is_cache_member(std::string_view name);

}  // namespace deplo::search::records
