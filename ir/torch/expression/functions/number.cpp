// Functions of plain numbers.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "ir/torch/expression/functions/library.h"
#include "ir/torch/expression/operators.h"
#include "ir/torch/expression/sequence.h"

namespace deplo::ir::torch::python {
namespace {

Value checked(const Call& c, double result) {
  if (std::isnan(result))
    throw Error(
        fmt::format("{}: expected an argument for which it is defined, found {}", c.name, describe(c.all()[0].second)));
  return {result};
}

// Returns a number, or the element of a tensor of one element, which Python converts by its `__float__`.
double real(const Call& c, std::string_view parameter) {
  const Value& value = c.value(parameter);
  if (!is_tensor(value)) return c.number(parameter);
  const torch::Values values = known_values(c.session, value);
  if (values.size() != 1) c.fail(parameter, "a number or a tensor of one element");
  return values[0];
}

template <double (*function)(double)>
Value of_number(const Call& c) {
  return checked(c, function(real(c, "x")));
}

double number_or_nan(const Call& c) {
  const std::optional<double> d = to_number(c.value("x"));
  if (!d) c.fail("x", "a number");
  return *d;
}

template <double (*function)(double, double)>
Value of_two(const Call& c) {
  return checked(c, function(real(c, "x"), real(c, "y")));
}
double arc_tangent(double x, double y) { return std::atan2(y, x); }

template <double factor>
Value scaled(const Call& c) {
  return {real(c, "x") * factor};
}

Value logarithm(const Call& c) {
  const double divisor = c.given("base") ? std::log(c.number("base")) : 1;
  if (divisor == 0) c.fail("base", "a base other than 1");
  return checked(c, std::log(real(c, "x")) / divisor);
}

Value known(const Call& c) {
  const torch::Values values = known_values(c.session, c.value("x"));
  if (values.size() != 1) c.fail("x", "a tensor of one element");
  return {values[0]};
}

template <double (*function)(double)>
Value rounded(const Call& c) {
  const double d = function(real(c, "x"));
  if (!(std::abs(d) < 0x1p63)) c.fail("x", "a number that fits in 64 bits");
  return {static_cast<std::int64_t>(d)};
}

Value to_int(const Call& c) {
  if (is_tensor(c.value("x"))) return {static_cast<std::int64_t>(std::get<double>(known(c).is))};
  if (const auto* s = c.value("x").as<std::string_view>()) {
    std::int64_t i = 0;
    const auto [end, error] = std::from_chars(s->data(), s->data() + s->size(), i);
    if (error != std::errc() || end != s->data() + s->size()) c.fail("x", "an integer");
    return {i};
  }
  if (const auto i = to_integer(c.value("x"))) return {*i};
  return rounded<std::trunc>(c);
}

// Evaluates calls such as float(3) and float('-inf').
Value to_float(const Call& c) {
  if (is_tensor(c.value("x"))) return known(c);
  const auto* s = c.value("x").as<std::string_view>();
  if (!s) return {c.number("x")};
  constexpr double inf = std::numeric_limits<double>::infinity();
  std::string name(*s);
  std::ranges::transform(name, name.begin(), [](unsigned char one) { return static_cast<char>(std::tolower(one)); });
  const bool negative = name.starts_with('-');
  if (negative || name.starts_with('+')) name.erase(0, 1);
  if (name == "inf" || name == "infinity") return {negative ? -inf : inf};
  if (name == "nan") return {std::numeric_limits<double>::quiet_NaN()};
  double d = 0;
  const auto [end, error] = std::from_chars(s->data(), s->data() + s->size(), d);
  if (error != std::errc() || end != s->data() + s->size() || !std::isfinite(d))
    c.fail("x", "a number, 'inf', '-inf' or 'nan'");
  return {d};
}

Value to_bool(const Call& c) { return {is_true(c.session, c.value("x"))}; }

Value length(const Call& c) {
  const Value& x = c.value("x");
  if (const List* list = x.as<List>()) return {static_cast<std::int64_t>(list->items->size())};
  if (const auto* s = x.as<std::string_view>()) return {static_cast<std::int64_t>(s->size())};
  if (auto* const* dict = x.as<Dict*>()) return {static_cast<std::int64_t>((*dict)->items.size())};
  if (auto* const* type = x.as<Class*>(); type && (*type)->is_enum)
    return {static_cast<std::int64_t>((*type)->members.size())};
  if (const std::optional<Value> own = call_own(c.session, x, "__len__", {})) {
    const std::optional<std::int64_t> count = to_integer(*own);
    if (!count || *count < 0) c.fail("x", "an object whose `__len__` returns an integer of at least 0");
    return {*count};
  }
  if (auto* const* object = x.as<Object*>(); object && holds_others(**object))
    return {static_cast<std::int64_t>((*object)->items.size())};
  if (!is_tensor(x) || c.type(c.tensor("x")).shape.empty()) c.fail("x", "a tuple, a list or a tensor");
  return {c.type(c.tensor("x")).shape[0]};
}

Value absolute(const Call& c) {
  if (is_tensor(c.value("x"))) return c.node({c.tensor("x")});
  const auto i = to_integer(c.value("x"));
  if (!i) return {std::abs(c.number("x"))};
  if (*i == std::numeric_limits<std::int64_t>::min()) c.fail("x", "an integer whose absolute value fits in 64 bits");
  return {std::abs(*i)};
}

// Returns the largest or smallest of several values, or of a sequence of values: numbers, or what `key` makes numbers
// of.
template <bool largest>
Value extreme(const Call& c) {
  Values all = *c.value("values").as<List>()->items;
  if (all.size() == 1 && !to_number(all[0])) all = items_of(c.session, all[0]);
  if (all.empty() && c.given("default")) return c.value("default");
  if (all.empty()) c.fail("values", "numbers");
  const Value* best = nullptr;
  double best_number = 0;
  for (const Value& v : all) {
    const Value result = c.given("key") ? c.session.invoke(c.value("key"), {{v}, {}}) : v;
    const std::optional<double> number = to_number(result);
    if (!number) throw Error(fmt::format("{}: expected numbers, found {}", c.name, describe(result)));
    if (best && (largest ? *number <= best_number : *number >= best_number)) continue;
    best = &v;
    best_number = *number;
  }
  return *best;
}

Value gcd(const Call& c) {
  std::int64_t result = 0;
  for (const Value& item : *c.value("integers").as<List>()->items) {
    const std::optional<std::int64_t> integer = to_integer(item);
    if (!integer || *integer == std::numeric_limits<std::int64_t>::min())
      c.fail("integers", "integers whose absolute values fit in 64 bits");
    result = std::gcd(result, *integer);
  }
  return {result};
}

Value product(const Call& c) {
  Value result = c.value("start");
  for (const Value& item : items_of(c.session, c.value("iterable"))) {
    if (!to_number(item)) throw Error(fmt::format("prod: expected numbers, found {}", describe(item)));
    result = apply_binary(c.session, "*", result, item);
  }
  return result;
}

// clang-format off
constexpr std::array number_rows = {
    Function{"sqrt", in_math, "x", of_number<std::sqrt>},
    Function{"log2", in_math, "x", of_number<std::log2>},
    Function{"log10", in_math, "x", of_number<std::log10>},
    Function{"log1p", in_math, "x", of_number<std::log1p>},
    Function{"tan", in_math, "x", of_number<std::tan>},
    Function{"atan", in_math, "x", of_number<std::atan>},
    Function{"erf", in_math, "x", of_number<std::erf>},
    Function{"fabs", in_math, "x", of_number<std::fabs>},
    Function{"acos", in_math, "x", of_number<std::acos>},
    Function{"acosh", in_math, "x", of_number<std::acosh>},
    Function{"asin", in_math, "x", of_number<std::asin>},
    Function{"asinh", in_math, "x", of_number<std::asinh>},
    Function{"atanh", in_math, "x", of_number<std::atanh>},
    Function{"cbrt", in_math, "x", of_number<std::cbrt>},
    Function{"cosh", in_math, "x", of_number<std::cosh>},
    Function{"erfc", in_math, "x", of_number<std::erfc>},
    Function{"exp2", in_math, "x", of_number<std::exp2>},
    Function{"expm1", in_math, "x", of_number<std::expm1>},
    Function{"lgamma", in_math, "x", of_number<std::lgamma>},
    Function{"sinh", in_math, "x", of_number<std::sinh>},
    Function{"atan2", in_math, "y, x", of_two<arc_tangent>},
    Function{"copysign", in_math, "x, y", of_two<std::copysign>},
    Function{"fmod", in_math, "x, y", of_two<std::fmod>},
    Function{"degrees", in_math, "x", scaled<180 / std::numbers::pi>},
    Function{"radians", in_math, "x", scaled<std::numbers::pi / 180>},
    Function{"trunc", in_math, "x", rounded<std::trunc>},
    Function{"gcd", in_math, "*integers", gcd},
    Function{"prod", in_math, "iterable, *, start=1", product},
    Function{"array", in_math, "object", [](const Call& c) { return c.value("object"); }},
    Function{"isnan", in_math, "x", [](const Call& c) { return Value{std::isnan(number_or_nan(c))}; }},
    Function{"isfinite", in_math, "x", [](const Call& c) { return Value{std::isfinite(number_or_nan(c))}; }},
    Function{"isinf", in_math, "x", [](const Call& c) { return Value{std::isinf(number_or_nan(c))}; }},
    Function{"exp", in_math, "x", of_number<std::exp>},
    Function{"log", in_math, "x, base=None", logarithm},
    Function{"sin", in_math, "x", of_number<std::sin>},
    Function{"cos", in_math, "x", of_number<std::cos>},
    Function{"tanh", in_math, "x", of_number<std::tanh>},
    Function{"pow", in_math, "x, y", of_two<std::pow>},
    Function{"floor", in_math, "x", rounded<std::floor>},
    Function{"ceil", in_math, "x", rounded<std::ceil>},
    Function{"int", in_python, "x=0", to_int},
    Function{"float", in_python, "x=0.0", to_float},
    Function{"bool", in_python, "x=False", to_bool},
    Function{"len", in_python, "x", length},
    Function{"abs", in_python, "x", absolute},
    Function{"max", in_python, "*values, key=None, default=None", extreme<true>},
    Function{"min", in_python, "*values, key=None, default=None", extreme<false>},
};
// clang-format on

}  // namespace

std::span<const Function> number_functions() { return number_rows; }

}  // namespace deplo::ir::torch::python
