// In double, element by element.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "core/error.h"
#include "ir/torch/evaluate/ops.h"

namespace deplo::ir::torch {
namespace {

struct Unary {
  std::string_view op;
  double (*apply)(double);
};
struct Binary {
  std::string_view op;
  double (*apply)(double, double);
};

// Either form is exact where the other would overflow.
double sigmoid(double x) { return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x)); }
// x Φ(x), with erfc so that no digits cancel at the left.
double gelu(double x) { return 0.5 * x * std::erfc(-x * std::numbers::sqrt2 / 2); }
double gelu_tanh(double x) {
  const double inner = std::sqrt(2 * std::numbers::inv_pi) * (x + 0.044715 * x * x * x);
  return 0.5 * x * (1 + std::tanh(inner));
}
// NaN wins, as in PyTorch.
double maximum(double a, double b) { return std::isnan(a) || a > b ? a : b; }
double minimum(double a, double b) { return std::isnan(a) || a < b ? a : b; }

constexpr std::array unary_table = std::to_array<Unary>({
    {"abs", [](double x) { return std::fabs(x); }},
    {"cos", [](double x) { return std::cos(x); }},
    {"erf", [](double x) { return std::erf(x); }},
    {"exp", [](double x) { return std::exp(x); }},
    {"gelu", gelu},
    {"log", [](double x) { return std::log(x); }},
    {"logical_not", [](double x) { return x == 0 ? 1.0 : 0.0; }},
    {"neg", [](double x) { return -x; }},
    {"reciprocal", [](double x) { return 1 / x; }},
    {"relu", [](double x) { return x < 0 ? 0.0 : x; }},
    {"rsqrt", [](double x) { return 1 / std::sqrt(x); }},
    {"sigmoid", sigmoid},
    {"silu", [](double x) { return x * sigmoid(x); }},
    {"sin", [](double x) { return std::sin(x); }},
    {"sqrt", [](double x) { return std::sqrt(x); }},
    {"tanh", [](double x) { return std::tanh(x); }},
});

constexpr std::array binary_table = std::to_array<Binary>({
    {"add", [](double a, double b) { return a + b; }},
    {"div", [](double a, double b) { return a / b; }},
    {"eq", [](double a, double b) { return a == b ? 1.0 : 0.0; }},
    {"ge", [](double a, double b) { return a >= b ? 1.0 : 0.0; }},
    {"gt", [](double a, double b) { return a > b ? 1.0 : 0.0; }},
    {"le", [](double a, double b) { return a <= b ? 1.0 : 0.0; }},
    {"logical_and", [](double a, double b) { return a != 0 && b != 0 ? 1.0 : 0.0; }},
    {"logical_or", [](double a, double b) { return a != 0 || b != 0 ? 1.0 : 0.0; }},
    {"lt", [](double a, double b) { return a < b ? 1.0 : 0.0; }},
    {"maximum", maximum},
    {"minimum", minimum},
    {"mul", [](double a, double b) { return a * b; }},
    {"ne", [](double a, double b) { return a != b ? 1.0 : 0.0; }},
    {"pow", [](double a, double b) { return std::pow(a, b); }},
    {"sub", [](double a, double b) { return a - b; }},
});

template <class Row, std::size_t N>
auto find(const std::array<Row, N>& table, std::string_view op) {
  const auto row = std::ranges::find(table, op, &Row::op);
  CHECK(row != table.end());
  return row->apply;
}

double truncate(double x) { return std::isnan(x) ? 0 : std::trunc(x); }
double truth(double x) { return x != 0 ? 1 : 0; }

// To the nearest number with so many significant bits, ties to even; below 2^least_exponent the spacing stays as it is.
double round_to(double x, int bits, int least_exponent, double largest) {
  if (!std::isfinite(x) || x == 0) return x;
  const double spacing = std::ldexp(1.0, std::max(std::ilogb(x), least_exponent) - (bits - 1));
  const double rounded = std::nearbyint(x / spacing) * spacing;
  return std::fabs(rounded) > largest ? std::copysign(std::numeric_limits<double>::infinity(), x) : rounded;
}

double to_f32(double x) { return static_cast<float>(x); }
double to_f16(double x) { return round_to(x, 11, -14, 65504); }
double to_bf16(double x) { return round_to(x, 8, -126, 0x1.FEp127); }

}  // namespace

Values evaluate_unary(const Operands& o) {
  const bool approximate = o.node.op == "gelu" && o.node.text("approximate") == "tanh";
  const auto apply = approximate ? gelu_tanh : find(unary_table, o.node.op);
  Values result(o.value(0).size());
  std::ranges::transform(o.value(0), result.begin(), apply);
  return result;
}

Values evaluate_binary(const Operands& o) {
  const auto apply = find(binary_table, o.node.op);
  const Values &a = o.value(0), &b = o.value(1);
  Values result;
  result.reserve(o.result_count());
  for_each_index(o.result(),
                 std::array{broadcast_strides(o.shape(0), o.result()), broadcast_strides(o.shape(1), o.result())},
                 [&](std::size_t i, std::size_t j) { result.push_back(apply(a[i], b[j])); });
  // The sum of two truth values is one; an integer to a negative power rounds towards zero.
  if (o.node.type.dtype == DType::boolean) std::ranges::transform(result, result.begin(), truth);
  if (o.node.type.dtype == DType::i32) std::ranges::transform(result, result.begin(), truncate);
  return result;
}

Values evaluate_where(const Operands& o) {
  Values result;
  result.reserve(o.result_count());
  const std::array strides = {broadcast_strides(o.shape(0), o.result()), broadcast_strides(o.shape(1), o.result()),
                              broadcast_strides(o.shape(2), o.result())};
  for_each_index(o.result(), strides, [&](std::size_t condition, std::size_t i, std::size_t j) {
    result.push_back(o.value(0)[condition] != 0 ? o.value(1)[i] : o.value(2)[j]);
  });
  return result;
}

Values evaluate_masked_fill(const Operands& o) {
  Values result;
  result.reserve(o.result_count());
  for_each_index(o.result(),
                 std::array{broadcast_strides(o.shape(0), o.result()), broadcast_strides(o.shape(1), o.result())},
                 [&](std::size_t i, std::size_t mask) {
                   result.push_back(o.value(1)[mask] != 0 ? o.value(2)[0] : o.value(0)[i]);
                 });
  return result;
}

Values evaluate_to(const Operands& o) {
  const DType from = o.args[0]->type.dtype, to = o.node.type.dtype;
  if (from == to) return o.value(0);
  constexpr std::array conversions = {to_f32, to_f16, to_bf16, truncate, truth};  // in the order of DType
  Values result(o.value(0).size());
  std::ranges::transform(o.value(0), result.begin(), conversions[static_cast<std::size_t>(to)]);
  return result;
}

}  // namespace deplo::ir::torch
