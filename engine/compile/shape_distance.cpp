#include "engine/compile/shape_distance.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "core/text/characters.h"

namespace deplo::engine {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

double take_number(std::string_view& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return error == std::errc::result_out_of_range ? infinity : value;
}

double shape_distance(std::string_view a, std::string_view b) {
  double sum = 0;
  while (!a.empty() && !b.empty()) {
    if (is_digit(a[0]) && is_digit(b[0])) {
      const double x = take_number(a), y = take_number(b);
      if (x != y) sum += x >= 1 && y >= 1 ? std::abs(std::log(x / y)) : std::abs(x - y);
      continue;
    }
    if (a[0] != b[0]) return infinity;
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  if (!a.empty() || !b.empty()) return infinity;
  return sum;
}

}  // namespace deplo::engine
