#include "ir/text/words.h"

#include <algorithm>
#include <array>

#include "core/text/characters.h"
#include "ir/text/statements.h"

namespace deplo::ir {
namespace {

// Reserved words, in addition to the keywords that begin statements.
constexpr std::array<std::string_view, 11> reserved = {"in",   "load",   "min",         "max",   "inf",  "nan",
                                                       "free", "reduce", lane_variable, "write", "Stage"};

}  // namespace

std::string_view bind_name(Bind b) {
  switch (b) {
    case Bind::free:
      return "free";
    case Bind::reduce:
      return "reduce";
    case Bind::scan:
      return "scan";
    case Bind::block:
      return "BLOCK";
    case Bind::cluster:
      return "CLUSTER";
    case Bind::thread:
      return "THREAD";
    case Bind::reg:
      return "REG";
    case Bind::vector:
      return "VECTOR";
  }
  check_failed("bind is known", __FILE__, __LINE__);
}

std::string_view name(Transport t) {
  constexpr std::array<std::string_view, 4> names = {"copy", "ahead", "async", "tma"};
  return names.at(static_cast<std::size_t>(t));
}

bool is_name(std::string_view s) {
  if (s.empty() || !is_letter(s[0])) return false;
  if (!std::all_of(s.begin(), s.end(), [](char c) { return is_letter(c) || is_digit(c); })) return false;
  return std::ranges::find(reserved, s) == reserved.end() && text::find_keyword(s) == nullptr;
}

}  // namespace deplo::ir
