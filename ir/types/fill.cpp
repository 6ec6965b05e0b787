#include "ir/types/fill.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <unordered_set>
#include <utility>

#include "core/error.h"
#include "core/rng.h"
#include "ir/types/float16.h"

namespace deplo::ir {
namespace {

// The Box-Muller transform. One of its two numbers is dropped, because drawing is not the bottleneck. 1 - u is never 0.
double normal(Rng& rng) {
  const double radius = std::sqrt(-2 * std::log(1 - rng.uniform()));
  return radius * std::cos(2 * std::numbers::pi * rng.uniform());
}

double number(const Fill& fill, Rng& rng) {
  switch (fill.draw) {
    case Fill::Draw::normal:
      return fill.a + fill.b * normal(rng);
    case Fill::Draw::uniform:
      return rng.uniform(fill.a, fill.b);
    case Fill::Draw::integers:
    case Fill::Draw::distinct:
      return std::floor(rng.uniform(fill.a, fill.b));
    case Fill::Draw::constant:
      return fill.a;
  }
  check_failed("the fill is known", __FILE__, __LINE__);
}

bool is_whole(double value) { return value == std::floor(value); }

}  // namespace

double draw(const Fill& fill, DType dtype, Rng& rng) {
  const double value = number(fill, rng);
  if (is_integer(dtype)) return std::trunc(value);
  if (dtype == DType::boolean) return value != 0 ? 1 : 0;
  return is_float16(dtype) ? rounded(value, dtype) : value;
}

std::uint64_t numbers_of_one(const Fill& fill) {
  switch (fill.draw) {
    case Fill::Draw::normal:
      return 2;
    case Fill::Draw::uniform:
    case Fill::Draw::integers:
      return 1;
    case Fill::Draw::constant:
      return 0;
    case Fill::Draw::distinct:
      break;
  }
  check_failed("the values are drawn one by one", __FILE__, __LINE__);
}

std::vector<double> draw(const Fill& fill, DType dtype, std::int64_t count, Rng& rng) {
  std::vector<double> values;
  if (fill.draw != Fill::Draw::distinct) {
    for (std::int64_t i = 0; i < count; ++i) values.push_back(draw(fill, dtype, rng));
    return values;
  }
  const auto numbers = static_cast<std::uint64_t>(fill.b - fill.a), wanted = static_cast<std::uint64_t>(count);
  CHECK(wanted <= numbers);
  // Floyd's sampling algorithm (Bentley and Floyd, "A Sample of Brilliance", 1987), followed by a shuffle.
  std::unordered_set<std::uint64_t> taken;
  for (std::uint64_t last = numbers - wanted; last < numbers; ++last) {
    std::uint64_t one = rng.below(last + 1);
    if (!taken.insert(one).second) taken.insert(one = last);
    values.push_back(fill.a + static_cast<double>(one));
  }
  for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[rng.below(i)]);
  return values;
}

std::string fault(const Fill& fill, DType dtype, std::int64_t elements) {
  const bool one = fill.draw == Fill::Draw::constant, range = fill.draw == Fill::Draw::uniform;
  const auto fail = [&](std::string_view expected) {
    return fmt::format("expected {}, found {}", expected, print(fill));
  };
  const double max_value = dtype == DType::f64 ? std::numeric_limits<double>::max() : std::numeric_limits<float>::max();
  if (!(std::abs(fill.a) <= max_value) || !(one || std::abs(fill.b) <= max_value))
    return fail(fmt::format("numbers that {} holds", name(dtype == DType::f64 ? DType::f64 : DType::f32)));
  if (fill.draw == Fill::Draw::normal && fill.b < 0) return fail("a deviation of at least 0");
  const bool distinct = fill.draw == Fill::Draw::distinct;
  if ((range || distinct || fill.draw == Fill::Draw::integers) && fill.a >= fill.b)
    return fail("a range whose start is below its end");
  if (distinct && !is_integer(dtype)) return fail("integers for distinct numbers");
  if (distinct && fill.b - fill.a < static_cast<double>(elements))
    return fail(fmt::format("{} distinct numbers", elements));
  const bool whole = !is_float(dtype);
  if (!whole) return "";
  if (fill.draw == Fill::Draw::normal || range) return fail(fmt::format("randint or constant for {}", name(dtype)));
  const double last = one ? fill.a : fill.b - 1;
  // Numbers are drawn as doubles, which are exact up to 2^53. This limits 64-bit integers.
  const bool is_signed = is_integer(dtype) && !is_unsigned(dtype);
  const double end = std::ldexp(1, std::min(width(dtype) - (is_signed ? 1 : 0), 53));
  if (!is_whole(fill.a) || !is_whole(last) || fill.a < (is_signed ? -end : 0) ||
      last > (width(dtype) == 64 ? end : end - 1))
    return fail(fmt::format("whole numbers that {} holds", name(dtype)));
  return "";
}

std::string_view word(Fill::Draw draw) {
  constexpr std::array<std::string_view, 5> words = {"normal", "uniform", "randint", "constant", "distinct"};
  return words.at(static_cast<std::size_t>(draw));
}

std::string print(const Fill& fill) {
  if (fill.draw == Fill::Draw::constant) return fmt::format("{}({})", word(fill.draw), fill.a);
  return fmt::format("{}({}, {})", word(fill.draw), fill.a, fill.b);
}

}  // namespace deplo::ir
