// Converts a parameter's value between formats: JSON, Python's output (in keys of Kernel Tuner's caches), a table's
// cell, and Value, which has no booleans or fractions.
//   JSON     Python   cell       Value
//   32       32       32         32
//   true     True     True       1
//   0.5      0.5      0.5        "0.5"
//   1.0      1.0      1.0        1
//   "32"     32       "32"       32
#pragma once
#include <string>
#include <string_view>

#include "core/outcome.h"
#include "core/trail.h"

namespace deplo::search::records {

/// Writes a finite number like Python's repr(): with the fewest digits that read back as the number, and never like an
/// integer.
std::string json_of(double);
std::string json_of(const Value&);
/// JSON of a table's cell. A cell that is a JSON string with quotes stands for that string.
std::string json_of_cell(std::string_view);

/// `json`: a result of the functions above, or nlohmann's text of a boolean, an integer, a string or null.
Value value_of_json(std::string_view json);
std::string python_of_json(std::string_view json);
/// json_of_cell(cell_of_json(json)) == json.
std::string cell_of_json(std::string_view json);

/// The status of a failure that another program names: CompilationFailedConfig, RuntimeFailedConfig and InvalidConfig
/// of Kernel Tuner; compile, runtime, correctness, timeout and constraints of T4; COMPILE_FAIL and wrong_result of
/// tables.
Status status_of_failure(std::string_view word);
/// Whether the word means that a configuration is valid. The word is empty in files of programs that name only
/// failures.
bool is_word_of_success(std::string_view word);

/// True for members of a Kernel Tuner cache's entries that are neither a parameter nor an objective. "status" and
/// "message" are deplo's own.
bool is_cache_member(std::string_view name);

}  // namespace deplo::search::records
