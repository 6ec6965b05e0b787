// JSON of recorded files, as programs in Python and C++ write it.
#pragma once
#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "core/text/json_builder.h"

namespace deplo::search::records {

using Json = nlohmann::ordered_json;  // ordered, because T4's parameters have no order but that of the text

inline constexpr JsonLimits limits = {
    .levels = 128,
    .values =
        // 16 to 64 bytes each: enough for a T4 document of 300,000 configurations of 50 values each
    std::size_t{1} << 24,
    .members = 2000,                // few, because each look-up compares all names
    .big_integers_as_text = true};  // a parameter's values must stay distinct

/// Replaces what JSON does not accept as a number by null: NaN, Infinity and -Infinity of Python's json; nan and inf of
/// Python's repr() and of printf, also with a sign.
std::string without_nan(std::string_view text);
/// Returns false only if without_nan() would change nothing.
bool may_have_nan(std::string_view text);
/// Whether nothing but the end of this JSON text is missing, if nlohmann's parser reports an error at the byte `byte`
/// (from 1). The end may be within a NaN or an Infinity, in which the parser reports an error before the end.
bool is_cut_off(std::string_view text, std::size_t byte);
/// Parses one value. NaN and infinities become null. `what` describes the text, such as "a line of AutoTVM's log".
/// Throws Error `place: expected WHAT in JSON: …`, also for a value beyond the limits.
Json parse_json(std::string_view text, const std::string& place, std::string_view what);
/// The Error of parse_json() for a fault that nlohmann's parser found.
Error not_json(const std::string& place, std::string_view what, const Json::exception&);

/// The value, as JSON, of a parameter that a configuration does not have.
inline constexpr std::string_view absent = "\"-\"";
/// The value of a text inside a file; null if parse_json() does not accept the text.
Json json_in(std::string_view text);

/// The value of a table's cell or an attribute (json_of_cell()); a text if it is none of JSON's other values.
Json json_in_cell(const std::string& cell);
/// The value of a parameter as JSON text. A list or an object counts as its text.
std::string value_json(const Json&);
/// The member if it is a text; "" otherwise.
std::string text_of(const Json&, const char* key);
/// The member; null if there is none, or if this is not an object.
const Json& member_of(const Json&, const std::string& key);
/// The finite number in the value, which may be written as a text; nullopt if there is none.
std::optional<double> number_of(const Json&);
/// The first 40 bytes of the value's text.
std::string excerpt(const Json&);
/// The value's text without blanks.
std::string compact(const Json&);

/// One value of JSON lines and where it is, `FILE:LINE`.
struct JsonLine {
  Json json;
  std::string place;
};
/// Parses each line that is neither empty nor a comment (#), or the whole text if its first line is not a value. A last
/// line that is not JSON is left out if a line precedes it: the program that wrote the file was still running, or was
/// killed.
void each_json_line(std::string_view text, const std::string& place, std::string_view what,
                    const std::function<void(JsonLine)>& take);

}  // namespace deplo::search::records
