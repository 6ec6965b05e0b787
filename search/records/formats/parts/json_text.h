// JSON of recorded files, as programs in Python and C++ write it.
#pragma once
#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/json_builder.h"

namespace deplo::search::records {

using Json = nlohmann::ordered_json;  // T4's parameters have no other order than that of the text

inline constexpr JsonLimits limits = {
    .levels = 128,
    .values =
        std::size_t{1} << 24,  // of 16 to 64 bytes each: a T4 document of 300,000 configurations of 50 values each
    .members = 2000};          // each is searched for in them all

/// The text with null for numbers that are none: NaN, Infinity and -Infinity of Python's json; nan and inf of Python's
/// repr() and of printf, also with a sign.
std::string without_nan(std::string_view text);
/// False only if without_nan() changes nothing.
bool may_have_nan(std::string_view text);
/// Parses one value; numbers that are none become null. `what`: "a line of AutoTVM's log". Throws Error `place:
/// expected WHAT in JSON: …`, also for a value beyond the limits.
Json parse_json(std::string_view text, const std::string& place, std::string_view what);

/// The value, as JSON, of a parameter that a configuration does not have.
inline constexpr std::string_view absent = "\"-\"";
/// The value of a text inside of a file; null if it is no JSON that parse_json() takes.
Json json_in(std::string_view text);

/// The value of a parameter as JSON text. A list or an object counts as its text.
std::string value_json(const Json&);
/// The member if it is a text; "" otherwise.
std::string text_of(const Json&, const char* key);
/// The member; null if there is none, or if this is not an object.
const Json& member_of(const Json&, const char* key);
/// A finite number, also one that is written as a text. nullopt: neither.
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
/// Parses each line that is not empty, or the whole text if its first line is no value. A last line that is no JSON is
/// left out if a line stands before it: the program that wrote the file still ran, or was killed.
void each_json_line(std::string_view text, const std::string& place, std::string_view what,
                    const std::function<void(JsonLine)>& take);

}  // namespace deplo::search::records
