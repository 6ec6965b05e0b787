#include "ir/op.h"

#include <array>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "ir/types/float16.h"

namespace deplo::ir {
namespace {

double truth(bool value) { return value ? 1 : 0; }

/// Computes bit operations and shifts of integers up to 2^53. Returns NaN if an operand is not a finite number, which
/// happens only in inactive lanes.
double of_bits(Op op, double a, double b) {
  if (!(std::abs(a) <= 0x1p63 && std::abs(b) <= 0x1p63)) return std::numeric_limits<double>::quiet_NaN();
  const auto x = static_cast<std::int64_t>(a), y = static_cast<std::int64_t>(b);
  switch (op) {
    case Op::bit_and:
      return static_cast<double>(x & y);
    case Op::bit_or:
      return static_cast<double>(x | y);
    case Op::bit_xor:
      return static_cast<double>(x ^ y);
    case Op::shift_left:
      return std::ldexp(a, static_cast<int>(y));
    default:
      return std::floor(std::ldexp(a, -static_cast<int>(y)));
  }
}

struct Row {
  Op op;
  std::string_view name;
  int arity;
  double (*value)(const double* args) = nullptr;  // nullptr: select, and operations on vectors
};

// In the order of the enumeration: row i describes Op(i), checked below.
constexpr std::array table{
    Row{Op::copy, "copy", 1, [](const double* a) { return a[0]; }},
    Row{Op::negative, "negative", 1, [](const double* a) { return -a[0]; }},
    Row{Op::reciprocal, "reciprocal", 1, [](const double* a) { return 1 / a[0]; }},
    Row{Op::exp, "exp", 1, [](const double* a) { return std::exp(a[0]); }},
    Row{Op::log, "log", 1, [](const double* a) { return std::log(a[0]); }},
    Row{Op::sqrt, "sqrt", 1, [](const double* a) { return std::sqrt(a[0]); }},
    Row{Op::rsqrt, "rsqrt", 1, [](const double* a) { return 1 / std::sqrt(a[0]); }},
    Row{Op::tanh, "tanh", 1, [](const double* a) { return std::tanh(a[0]); }},
    // The result is 0 for an argument below about -88.7, as in PyTorch and on devices.
    Row{Op::sigmoid, "sigmoid", 1, [](const double* a) { return 1 / (1 + in_f32_range(std::exp(-a[0]))); }},
    // NaN stays NaN, as in PyTorch; so it does in maximum and minimum.
    Row{Op::relu, "relu", 1, [](const double* a) { return a[0] < 0 ? 0 : a[0]; }},
    Row{Op::erf, "erf", 1, [](const double* a) { return std::erf(a[0]); }},
    Row{Op::absolute, "absolute", 1, [](const double* a) { return std::fabs(a[0]); }},
    Row{Op::sin, "sin", 1, [](const double* a) { return std::sin(a[0]); }},
    Row{Op::cos, "cos", 1, [](const double* a) { return std::cos(a[0]); }},
    Row{Op::logical_not, "logical_not", 1, [](const double* a) { return truth(a[0] == 0); }},
    Row{Op::add, "add", 2, [](const double* a) { return a[0] + a[1]; }},
    Row{Op::subtract, "subtract", 2, [](const double* a) { return a[0] - a[1]; }},
    Row{Op::multiply, "multiply", 2, [](const double* a) { return a[0] * a[1]; }},
    Row{Op::divide, "divide", 2, [](const double* a) { return a[0] / a[1]; }},
    Row{Op::maximum, "maximum", 2, [](const double* a) { return a[0] >= a[1] || std::isnan(a[0]) ? a[0] : a[1]; }},
    Row{Op::minimum, "minimum", 2, [](const double* a) { return a[0] <= a[1] || std::isnan(a[0]) ? a[0] : a[1]; }},
    Row{Op::power, "power", 2, [](const double* a) { return std::pow(a[0], a[1]); }},
    Row{Op::logical_and, "logical_and", 2, [](const double* a) { return truth(a[0] != 0 && a[1] != 0); }},
    Row{Op::logical_or, "logical_or", 2, [](const double* a) { return truth(a[0] != 0 || a[1] != 0); }},
    Row{Op::less, "less", 2, [](const double* a) { return truth(a[0] < a[1]); }},
    Row{Op::less_equal, "less_equal", 2, [](const double* a) { return truth(a[0] <= a[1]); }},
    Row{Op::equal, "equal", 2, [](const double* a) { return truth(a[0] == a[1]); }},
    Row{Op::not_equal, "not_equal", 2, [](const double* a) { return truth(a[0] != a[1]); }},
    Row{Op::fma, "fma", 3, [](const double* a) { return a[0] * a[1] + a[2]; }},
    Row{Op::select, "select", 3},
    Row{Op::lanes_add, "lanes_add", 1},
    Row{Op::lanes_multiply, "lanes_multiply", 1},
    Row{Op::lanes_maximum, "lanes_maximum", 1},
    Row{Op::lanes_minimum, "lanes_minimum", 1},
    Row{Op::round_f16, "round_f16", 1, [](const double* a) { return rounded(a[0], DType::f16); }},
    Row{Op::round_bf16, "round_bf16", 1, [](const double* a) { return rounded(a[0], DType::bf16); }},
    Row{Op::round_tf32, "round_tf32", 1, [](const double* a) { return rounded_tf32(a[0]); }},
    Row{Op::exp2, "exp2", 1, [](const double* a) { return std::exp2(a[0]); }},
    Row{Op::bit_and, "bit_and", 2, [](const double* a) { return of_bits(Op::bit_and, a[0], a[1]); }},
    Row{Op::bit_or, "bit_or", 2, [](const double* a) { return of_bits(Op::bit_or, a[0], a[1]); }},
    Row{Op::bit_xor, "bit_xor", 2, [](const double* a) { return of_bits(Op::bit_xor, a[0], a[1]); }},
    Row{Op::shift_left, "shift_left", 2, [](const double* a) { return of_bits(Op::shift_left, a[0], a[1]); }},
    Row{Op::shift_right, "shift_right", 2, [](const double* a) { return of_bits(Op::shift_right, a[0], a[1]); }},
};

static_assert([] {
  for (std::size_t i = 0; i < table.size(); ++i)
    if (static_cast<std::size_t>(table[i].op) != i) return false;
  return true;
}());

const Row& row(Op op) { return table[static_cast<std::size_t>(op)]; }

}  // namespace

std::string_view name(Op op) { return row(op).name; }

std::optional<Op> parse_op(std::string_view text) {
  for (const Row& r : table)
    if (r.name == text) return r.op;
  return std::nullopt;
}

int arity(Op op) { return row(op).arity; }

double apply(Op op, std::span<const double> args) {
  CHECK(args.size() == static_cast<std::size_t>(arity(op)));
  if (op == Op::select) return args[0] != 0 ? args[1] : args[2];
  CHECK(row(op).value != nullptr);
  return in_f32_range(row(op).value(args.data()));
}

bool gives_truth(Op op) {
  return op == Op::logical_not || op == Op::logical_and || op == Op::logical_or || op == Op::less ||
         op == Op::less_equal || op == Op::equal || op == Op::not_equal;
}

bool is_bitwise(Op op) { return op == Op::bit_and || op == Op::bit_or || op == Op::bit_xor; }

bool is_commutative(Op op) {
  return op == Op::add || op == Op::multiply || op == Op::maximum || op == Op::minimum || op == Op::logical_and ||
         op == Op::logical_or || op == Op::equal || op == Op::not_equal || is_bitwise(op);
}

std::optional<double> neutral(Op op) {
  switch (op) {
    case Op::add:
      return 0;
    case Op::multiply:
      return 1;
    case Op::maximum:
      return -std::numeric_limits<double>::infinity();
    case Op::minimum:
      return std::numeric_limits<double>::infinity();
    default:
      return std::nullopt;
  }
}

std::optional<Op> horizontal(Op op) {
  switch (op) {
    case Op::add:
      return Op::lanes_add;
    case Op::multiply:
      return Op::lanes_multiply;
    case Op::maximum:
      return Op::lanes_maximum;
    case Op::minimum:
      return Op::lanes_minimum;
    default:
      return std::nullopt;
  }
}

}  // namespace deplo::ir
