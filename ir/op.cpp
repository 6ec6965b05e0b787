#include "ir/op.h"

#include <array>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "ir/types/float16.h"

namespace deplo::ir {
namespace {

struct Row {
  Op op;
  std::string_view name;
  int arity;
};

// In the order of the enumeration: row i describes Op(i), checked below.
constexpr std::array table{
    Row{Op::copy, "copy", 1},
    Row{Op::negative, "negative", 1},
    Row{Op::reciprocal, "reciprocal", 1},
    Row{Op::exp, "exp", 1},
    Row{Op::log, "log", 1},
    Row{Op::sqrt, "sqrt", 1},
    Row{Op::rsqrt, "rsqrt", 1},
    Row{Op::tanh, "tanh", 1},
    Row{Op::sigmoid, "sigmoid", 1},
    Row{Op::relu, "relu", 1},
    Row{Op::erf, "erf", 1},
    Row{Op::absolute, "absolute", 1},
    Row{Op::sin, "sin", 1},
    Row{Op::cos, "cos", 1},
    Row{Op::logical_not, "logical_not", 1},
    Row{Op::add, "add", 2},
    Row{Op::subtract, "subtract", 2},
    Row{Op::multiply, "multiply", 2},
    Row{Op::divide, "divide", 2},
    Row{Op::maximum, "maximum", 2},
    Row{Op::minimum, "minimum", 2},
    Row{Op::power, "power", 2},
    Row{Op::logical_and, "logical_and", 2},
    Row{Op::logical_or, "logical_or", 2},
    Row{Op::less, "less", 2},
    Row{Op::less_equal, "less_equal", 2},
    Row{Op::equal, "equal", 2},
    Row{Op::not_equal, "not_equal", 2},
    Row{Op::fma, "fma", 3},
    Row{Op::select, "select", 3},
    Row{Op::lanes_add, "lanes_add", 1},
    Row{Op::lanes_multiply, "lanes_multiply", 1},
    Row{Op::lanes_maximum, "lanes_maximum", 1},
    Row{Op::lanes_minimum, "lanes_minimum", 1},
    Row{Op::round_f16, "round_f16", 1},
    Row{Op::round_bf16, "round_bf16", 1},
    Row{Op::round_tf32, "round_tf32", 1},
    Row{Op::exp2, "exp2", 1},
    Row{Op::bit_and, "bit_and", 2},
    Row{Op::bit_or, "bit_or", 2},
    Row{Op::bit_xor, "bit_xor", 2},
    Row{Op::shift_left, "shift_left", 2},
    Row{Op::shift_right, "shift_right", 2},
};

static_assert([] {
  for (std::size_t i = 0; i < table.size(); ++i)
    if (static_cast<std::size_t>(table[i].op) != i) return false;
  return true;
}());

const Row& row(Op op) { return table[static_cast<std::size_t>(op)]; }

double unary(Op op, double a) {
  switch (op) {
    case Op::copy:
      return a;
    case Op::negative:
      return -a;
    case Op::reciprocal:
      return 1 / a;
    case Op::exp:
      return std::exp(a);
    case Op::exp2:
      return std::exp2(a);
    case Op::log:
      return std::log(a);
    case Op::sqrt:
      return std::sqrt(a);
    case Op::rsqrt:
      return 1 / std::sqrt(a);
    case Op::tanh:
      return std::tanh(a);
    case Op::sigmoid:
      return 1 / (1 + in_f32_range(std::exp(-a)));  // 0 for a below about -88.7, as in PyTorch and on devices
    case Op::relu:
      return a < 0 ? 0 : a;  // NaN stays NaN, as in PyTorch; so it does in maximum and minimum
    case Op::erf:
      return std::erf(a);
    case Op::absolute:
      return std::fabs(a);
    case Op::sin:
      return std::sin(a);
    case Op::cos:
      return std::cos(a);
    case Op::logical_not:
      return a == 0 ? 1 : 0;
    case Op::round_f16:
      return rounded(a, DType::f16);
    case Op::round_bf16:
      return rounded(a, DType::bf16);
    case Op::round_tf32:
      return rounded_tf32(a);
    default:
      check_failed("a scalar operation of one argument", __FILE__, __LINE__);
  }
}

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

double binary(Op op, double a, double b) {
  switch (op) {
    case Op::bit_and:
    case Op::bit_or:
    case Op::bit_xor:
    case Op::shift_left:
    case Op::shift_right:
      return of_bits(op, a, b);
    case Op::add:
      return a + b;
    case Op::subtract:
      return a - b;
    case Op::multiply:
      return a * b;
    case Op::divide:
      return a / b;
    case Op::maximum:
      return a >= b || std::isnan(a) ? a : b;
    case Op::minimum:
      return a <= b || std::isnan(a) ? a : b;
    case Op::power:
      return std::pow(a, b);
    case Op::logical_and:
      return a != 0 && b != 0 ? 1 : 0;
    case Op::logical_or:
      return a != 0 || b != 0 ? 1 : 0;
    case Op::less:
      return a < b ? 1 : 0;
    case Op::less_equal:
      return a <= b ? 1 : 0;
    case Op::equal:
      return a == b ? 1 : 0;
    case Op::not_equal:
      return a != b ? 1 : 0;
    default:
      check_failed("a scalar operation of two arguments", __FILE__, __LINE__);
  }
}

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
  if (op == Op::fma) return in_f32_range(args[0] * args[1] + args[2]);
  return in_f32_range(args.size() == 1 ? unary(op, args[0]) : binary(op, args[0], args[1]));
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
