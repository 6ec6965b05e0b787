// Decisions. A Fork is an open decision, a Choice is a taken one, and a Trail is the whole identity of a schedule.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace deplo {

using Value = std::variant<std::int64_t, std::string>;

/// The next open decision: `rule.knob` and its legal values. options[0] is the heuristic's pick for the target.
struct Fork {
  std::string knob;
  std::vector<Value> options;
  bool operator==(const Fork&) const = default;
};

struct Choice {
  std::string knob;
  Value value;
  bool operator==(const Choice&) const = default;
};
using Trail = std::vector<Choice>;

std::string print(const Value&);
/// Returns an integer if the text is one, in decimal digits with an optional minus and within 64 bits; else the text.
/// So parse_value(print(v)) == v, provided that no text value of a space reads as an integer.
Value parse_value(std::string_view text);
/// `chunk_matmul_k.bk=32 blockify_launch.bm=64 …`; parse_trail(print(t)) == t.
std::string print(const Trail&);
/// The text as a word of a trail, which has no blanks and is not empty: blanks, % and the characters in `more` become
/// %20 and so on, and an empty text becomes %.
std::string trail_word(std::string_view text, std::string_view more = "");
/// Parses a trail. Throws Error with the first word that is not `knob=value`.
Trail parse_trail(std::string_view text);

}  // namespace deplo
