// Elementwise operations on two tensors, or on a tensor and a number. Shapes broadcast.
//   add sub mul div pow maximum minimum eq ne lt le gt ge logical_and logical_or(T, T)
//   floor_divide remainder(T, divisor)   whole_quotient(T, T)
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>

#include "ir/simplify/simplify_impl.h"
#include "ir/torch/operations/given.h"
#include "ir/torch/operations/ops.h"
#include "ir/types/float16.h"
#include "ir/types/integers.h"

namespace deplo::ir::torch {
namespace {

// The result has the promoted dtype of the two arguments.
TensorType infer_arithmetic(const Inference& call) {
  return {promote(call.arg(0), call.arg(1)), broadcast(call.op(), call.shape(0), call.shape(1))};
}

TensorType infer_truth(const Inference& call) {
  return {DType::boolean, broadcast(call.op(), call.shape(0), call.shape(1))};
}

TensorType infer_sub(const Inference& call) {
  if (call.dtype(0) == DType::boolean || call.dtype(1) == DType::boolean) call.expected("numbers");
  return infer_arithmetic(call);
}

TensorType infer_div(const Inference& call) {
  TensorType type = infer_arithmetic(call);
  if (!is_float(type.dtype)) type.dtype = DType::f32;
  return type;
}

// The divisor is a constant, because PyTorch refuses to divide by 0, and a kernel cannot report the error.
constexpr AttributeSpec divisor_attributes[] = {{"divisor", Kind::integer, Required{}}};

TensorType infer_floor_divide(const Inference& call) {
  if (!is_integer(call.dtype(0))) call.expected("integers");
  const std::int64_t divisor = call.node().integer("divisor");
  const bool wide = call.dtype(0) == DType::i64 || call.arg(0).wide;
  if (divisor < 1 || divisor > (wide ? std::int64_t{1} << 53 : std::int64_t{std::numeric_limits<std::int32_t>::max()}))
    call.expected(wide ? "a divisor from 1 to 2^53" : "a divisor from 1 to 2^31 - 1", std::to_string(divisor));
  return call.type(0);
}

TensorType infer_pow(const Inference& call) {
  TensorType type = infer_arithmetic(call);
  if (type.dtype == DType::boolean) call.expected("numbers");
  const Node& exponent = call.arg(1);
  if (!is_float(type.dtype) && exponent.kind == Node::Kind::scalar && exponent.value < 0)
    call.expected("an exponent of at least 0 for integers", std::to_string(static_cast<std::int64_t>(exponent.value)));
  return type;
}

template <double (*apply)(double, double)>
Values evaluate_pairs(const Operands& o) {
  Values result = evaluate_broadcast(o, [](double a, double b) { return apply(a, b); });
  // The sum of two booleans is a boolean. Integer results are truncated towards zero.
  if (o.node.type.dtype == DType::boolean) std::ranges::transform(result, result.begin(), to_truth);
  if (is_integer(o.node.type.dtype))
    std::ranges::transform(result, result.begin(), [](double x) { return std::trunc(x); });
  return result;
}

template <class Operator>
double applied(double a, double b) {
  return Operator{}(a, b);
}
template <class Operator>
Values evaluate_by(const Operands& o) {
  return evaluate_pairs<applied<Operator>>(o);
}
// Returns the type to which == and != round an operand; nullopt if this does not change it. They read 16-bit floats as
// they are stored: otherwise a computed number would differ from the stored maximum of its row, and the index of the
// maximum would not be found. A Python number has the type of the other operand.
std::optional<DType> stored_type(const Node& arg, const Node& other) {
  const bool is_number = arg.kind == Node::Kind::scalar;
  const DType dtype = is_number ? promote(arg, other) : arg.type.dtype;
  if (!is_float16(dtype)) return std::nullopt;
  const bool rounds = is_number ? rounded(arg.value, dtype) != arg.value : arg.kind == Node::Kind::call;
  return rounds ? std::optional(dtype) : std::nullopt;
}

template <class Operator>
Values evaluate_equality(const Operands& o) {
  const auto as_stored = [&](std::size_t i) {
    Values values = o.value(i);
    if (const std::optional<DType> dtype = stored_type(*o.args[i], *o.args[1 - i]))
      for (double& x : values) x = rounded(x, *dtype);
    return values;
  };
  const Values a = as_stored(0), b = as_stored(1);
  return evaluate_by<Operator>({o.node, o.args, {&a, &b}, o.apart});
}

// NaN wins, as in PyTorch. Of 0 and -0, the first argument is returned: clamp(-0, min=0) is -0.
double maximum(double a, double b) { return std::isnan(a) || a >= b ? a : b; }
double minimum(double a, double b) { return std::isnan(a) || a <= b ? a : b; }

// As in PyTorch, an integer to a negative power is 0, unless the integer is 1 or -1.
double integer_power(double x, double n) {
  if (n >= 0) return std::pow(x, n);
  return x == 1 ? 1 : x == -1 ? std::pow(x, std::fmod(-n, 2)) : 0;
}

// PyTorch computes some constant powers by other operations, whose results differ for infinities, zeros and overflows.
Values evaluate_pow(const Operands& o) {
  const Node& exponent = *o.args[1];
  if (is_integer(o.node.type.dtype)) return evaluate_pairs<integer_power>(o);
  if (exponent.kind != Node::Kind::scalar) return evaluate_pairs<std::pow>(o);
  const auto each = [&](auto apply) {
    Values result = o.value(0);
    std::ranges::transform(result, result.begin(), apply);
    return result;
  };
  if (exponent.value == 0.5) return each([](double x) { return std::sqrt(x); });
  if (exponent.value == -0.5) return each([](double x) { return 1 / std::sqrt(x); });
  if (exponent.value == 2) return each([](double x) { return x * x; });
  if (exponent.value == 3) return each([](double x) { return in_f32_range(x * x) * x; });
  if (exponent.value == -2) return each([](double x) { return 1 / in_f32_range(x * x); });
  return evaluate_pairs<std::pow>(o);
}

// If 0 and -0 are compared, it depends on the element's position which of them PyTorch returns. With `apart`, the other
// zero is returned.
template <double (*apply)(double, double)>
double swapped(double a, double b) {
  return apply(b, a);
}
template <double (*apply)(double, double)>
Values evaluate_extremum(const Operands& o) {
  return o.apart ? evaluate_pairs<swapped<apply>>(o) : evaluate_pairs<apply>(o);
}

template <Op op>
int decompose_arithmetic(Emitter& e, const TensorCall& call) {
  const DType t = arithmetic_type(call.dtype());
  const int a = operand(e, call, 0, t), b = operand(e, call, 1, t);
  return e.convert(e.elementwise(op, {a, b}, "ew"), call.dtype());
}

template <bool remainder>
Values evaluate_floor_divide(const Operands& o) {
  const std::int64_t divisor = o.node.integer("divisor");
  Values result = o.value(0);
  for (double& x : result) {
    const auto whole = static_cast<std::int64_t>(x);
    x = static_cast<double>(remainder ? floor_mod(whole, divisor) : floor_div(whole, divisor));
  }
  return result;
}

// Products of int32 are exact before they are taken modulo 2^32.
double multiply_i32(double a, double b) { return apply_integer(Op::multiply, std::array{a, b}, DType::i32); }
Values evaluate_mul(const Operands& o) {
  return o.node.type.dtype == DType::i32 ? evaluate_pairs<multiply_i32>(o) : evaluate_by<std::multiplies<>>(o);
}

// whole_quotient: a quotient of integers, rounded towards 0. PyTorch refuses to divide by 0 on the CPU and leaves the
// result undefined on GPUs; here such a quotient is the dividend. A division instruction for integers could end the
// program instead.

TensorType infer_whole_quotient(const Inference& call) {
  if (!is_integer(call.dtype(0)) || !is_integer(call.dtype(1))) call.expected("integers");
  return infer_arithmetic(call);
}

// The least integer divided by -1 is itself, as a difference of 0 and it is.
double towards_zero(double a, double b) { return b == 0 ? a : std::trunc(a / b); }
Values evaluate_whole_quotient(const Operands& o) {
  Values result = evaluate_pairs<towards_zero>(o);
  if (o.node.type.dtype == DType::i32)
    for (double& x : result) x = to_integer(x, DType::i64, DType::i32);
  return result;
}

// Divides floats, and divides what remains by the divisor again, until the quotient is wrong by at most 1. An f32 has
// 24 bits, and a division may be wrong in the last two of them. The numbers are made negative, because the least
// integer has no positive counterpart.
int decompose_whole_quotient(Emitter& e, const TensorCall& call) {
  const DType t = call.dtype();
  const int steps = t == DType::i64 ? 4 : 2;
  const auto make = [&](Op op, std::vector<int> args) { return e.elementwise(op, std::move(args), "ew"); };
  const auto number = [&](double value) { return e.scalar(value, t, "number"); };
  const int a = filled_operand(e, call, 0, t), given = filled_operand(e, call, 1, t);
  const int b = make(Op::select, {make(Op::equal, {given, number(0)}), number(1), given});
  const int a_below = make(Op::less, {a, number(0)}), b_below = make(Op::less, {b, number(0)});
  const int dividend = make(Op::select, {a_below, a, make(Op::negative, {a})});
  const int divisor = make(Op::select, {b_below, b, make(Op::negative, {b})});
  const int real = e.convert(divisor, DType::f32);
  int sum = -1, rest = dividend;
  for (int step = 0; step < steps; ++step) {
    const int part = e.convert(make(Op::divide, {e.convert(rest, DType::f32), real}), t);
    sum = step == 0 ? part : make(Op::add, {sum, part});
    rest = make(Op::subtract, {rest, make(Op::multiply, {part, divisor})});
  }
  const int is_small = make(Op::less_equal, {rest, divisor}), is_large = make(Op::less, {number(0), rest});
  const int more = make(Op::select, {is_small, make(Op::add, {sum, number(1)}), sum});
  const int exact = make(Op::select, {is_large, make(Op::subtract, {sum, number(1)}), more});
  const int opposite = make(Op::negative, {exact});
  return make(Op::select,
              {a_below, make(Op::select, {b_below, exact, opposite}), make(Op::select, {b_below, opposite, exact})});
}

// Computed as an index expression, whose division rounds down.
template <ExprOp op>
int decompose_floor_divide(Emitter& e, const TensorCall& call) {
  return e.whole(Expr(op, var("g1"), call.node.integer("divisor")), {e.convert(call.args[0], call.dtype())}, "ew");
}

// Computes x^n by repeated squaring, for a constant n of at least 0.
int power_by_squares(Emitter& e, int x, std::int64_t n) {
  if (n == 0) return e.fill(e.scalar(1, e.dtype(x), "one"), e.shape(x), "ew");
  int result = -1;
  for (int square = x;; square = e.elementwise(Op::multiply, {square, square}, "square")) {
    if (n % 2 == 1) result = result < 0 ? square : e.elementwise(Op::multiply, {result, square}, "power");
    n /= 2;
    if (n == 0) return result;
  }
}

// A power of integers with a tensor of exponents: a product with one factor for each bit of the exponent. A square that
// no remaining bit needs is 1, so that no intermediate value is larger than the result. Of an exponent above 63 only
// the parity matters: the base is -1, 0 or 1, or the result exceeds 64 bits.
int integer_power(Emitter& e, const TensorCall& call) {
  constexpr int bits = 6;
  const auto compared = [&](Op op, int x, std::int64_t with) {
    return e.elementwise(op, {x, e.scalar(static_cast<double>(with), e.dtype(x), "number")}, "compared");
  };
  const DType of_exponent = is_integer(call.arg(1).type.dtype) ? call.arg(1).type.dtype : DType::i32;
  const int base = filled_operand(e, call, 0, call.dtype()), given = filled_operand(e, call, 1, of_exponent);
  const int one = e.scalar(1, call.dtype(), "one");
  const int negative = compared(Op::less, given, 0), small = compared(Op::less_equal, given, (1 << bits) - 1);
  const int low = e.convert(given, DType::i32);  // keeps the parity, and the whole value of a small exponent
  const int odd = e.whole(Expr(ExprOp::mod, var("g1"), 2), {low}, "odd");
  const int beyond = e.elementwise(Op::add, {odd, e.scalar((1 << bits) - 2, DType::i32, "even")}, "beyond");
  const int n =
      e.elementwise(Op::select, {negative, odd, e.elementwise(Op::select, {small, low, beyond}, "most")}, "n");
  int result = -1;
  int square = base;
  for (int k = 0; k < bits; ++k) {
    const int bit = e.whole(Expr(ExprOp::mod, Expr(ExprOp::div, var("g1"), 1 << k), 2), {n}, "bit");
    const int factor = e.elementwise(Op::select, {compared(Op::equal, bit, 1), square, one}, "factor");
    result = result < 0 ? factor : e.elementwise(Op::multiply, {result, factor}, "power");
    if (k + 1 == bits) break;
    const int root = e.elementwise(Op::select, {compared(Op::less_equal, n, (2 << k) - 1), one, square}, "root");
    square = e.elementwise(Op::multiply, {root, root}, "square");
  }
  const int unit = e.elementwise(Op::logical_or, {compared(Op::equal, base, 1), compared(Op::equal, base, -1)}, "unit");
  const int not_unit = e.elementwise(Op::logical_not, {unit}, "not_unit");
  const int vanishes = e.elementwise(Op::logical_and, {negative, not_unit}, "vanishes");
  return e.elementwise(Op::select, {vanishes, e.scalar(0, call.dtype(), "zero"), result}, "ew");
}

// Some constant exponents become simpler operations: x^2 = x * x, and so on.
int decompose_pow(Emitter& e, const TensorCall& call) {
  if (is_integer(call.dtype())) {
    const auto* n = e.as_scalar(call.args[1]);
    const int x = operand(e, call, 0, call.dtype());
    return n != nullptr && e.as_scalar(x) == nullptr ? power_by_squares(e, x, static_cast<std::int64_t>(n->value))
                                                     : integer_power(e, call);
  }
  const DType t = arithmetic_type(call.dtype());
  const int x = operand(e, call, 0, t);
  const auto* exponent = e.as_scalar(call.args[1]);
  const double n = exponent != nullptr ? exponent->value : 0;
  if (n == 1) return e.elementwise(Op::copy, {x}, "ew");
  if (n == 2) return e.elementwise(Op::multiply, {x, x}, "ew");
  if (n == 3) return e.elementwise(Op::multiply, {e.elementwise(Op::multiply, {x, x}, "square"), x}, "ew");
  if (n == 0.5) return e.elementwise(Op::sqrt, {x}, "ew");
  if (n == -0.5) return e.elementwise(Op::rsqrt, {x}, "ew");
  if (n == -1) return e.elementwise(Op::reciprocal, {x}, "ew");
  return e.convert(e.elementwise(Op::power, {x, operand(e, call, 1, t)}, "ew"), call.dtype());
}

enum class Order : bool { kept, swapped };  // swapped: a > b is computed as b < a

/// Returns an operand of a comparison (see stored_type).
int compared_operand(Emitter& e, const TensorCall& call, std::size_t i, DType dtype, Op op) {
  const bool is_equality = op == Op::equal || op == Op::not_equal;
  const std::optional<DType> stored = is_equality ? stored_type(call.arg(i), call.arg(1 - i)) : std::nullopt;
  const int x = stored ? e.round(e.convert(call.args[i], DType::f32), *stored) : call.args[i];
  return e.broadcast(e.convert(x, dtype), call.shape());
}

template <Op op, Order order>
int decompose_comparison(Emitter& e, const TensorCall& call) {
  DType t = arithmetic_type(promote(call.arg(0), call.arg(1)));
  // If a number may exceed 32 bits, the comparison is in 64 bits.
  if (is_integer(t) && (call.arg(0).type.dtype == DType::i64 || call.arg(1).type.dtype == DType::i64)) t = DType::i64;
  const int a = compared_operand(e, call, 0, t, op), b = compared_operand(e, call, 1, t, op);
  return e.elementwise(op, order == Order::swapped ? std::vector{b, a} : std::vector{a, b}, "ew");
}

template <Op op>
int decompose_logical(Emitter& e, const TensorCall& call) {
  const int a = operand(e, call, 0, DType::boolean), b = operand(e, call, 1, DType::boolean);
  return e.elementwise(op, {a, b}, "ew");
}

// In expressions

// In a commutative operation, a number becomes the second argument, as in FX graphs.
python::Value call_commuting(const python::Call& c) {
  const bool swap = !is_tensor(c.value("left"));
  const Id first = c.operand(swap ? "right" : "left", 0);
  return c.node({first, c.operand(swap ? "left" : "right", 1)});
}

/// Whether |x| < |divisor|. Then the remainder of a division towards 0 is x. An infinite divisor times a quotient of 0
/// would be NaN.
Id is_below(const Caller& c, Id x, Id divisor) {
  const auto size = [&](Id id) {
    const Node& node = c.node(id);
    if (node.kind == Node::Kind::scalar) return c.scalar(std::fabs(node.value), node.type.dtype);
    return node.type.dtype == DType::boolean ? id : c.call("abs", {id});
  };
  const Id left = size(x);
  return c.call("lt", {left, size(divisor)});
}

/// Whether one number is negative and the other one is positive.
Id are_opposite(const Caller& c, Id a, Id b) {
  const Id zero = c.scalar(0);
  const auto are = [&](std::string_view of_a, std::string_view of_b) {
    return c.call("logical_and", {c.call(of_a, {a, zero}), c.call(of_b, {b, zero})});
  };
  return c.call("logical_or", {are("lt", "gt"), are("gt", "lt")});
}

/// Whether the divisor is a number that needs no test for infinity.
bool is_finite_number(const Caller& c, Id divisor) {
  const Node& node = c.node(divisor);
  return node.kind == Node::Kind::scalar && std::isfinite(node.value);
}

/// Returns the quotient, or NaN if x is infinite, as in PyTorch. Only a division by 0 keeps its infinity.
Id without_infinite_x(const Caller& c, Id x, Id divisor, Id quotient) {
  if (c.node(x).kind == Node::Kind::scalar || !is_float(c.dtype(x))) return quotient;
  const Node by = c.node(divisor);
  const Id result = c.call("add", {quotient, c.call("sub", {x, x})});
  if (by.kind == Node::Kind::scalar) return by.value == 0 ? quotient : result;
  return c.call("where", {c.call("eq", {divisor, c.scalar(0)}), quotient, result});
}

/// Divides floats of 16 bits as f32, as PyTorch does, because few whole quotients are numbers of 16 bits. Returns
/// nullopt for other floats.
template <class Divide>
std::optional<Id> divided_as_f32(const Caller& c, Id x, Id divisor, const Divide& divide) {
  const DType common = promote(c.node(x), c.node(divisor));
  if (common != DType::f16 && common != DType::bf16) return {};
  const auto wide = [&](Id id) {
    return c.node(id).kind == Node::Kind::scalar ? id : c.call("to", {id}, {{"dtype", DType::f32}});
  };
  return c.call("to", {divide(wide(x), wide(divisor))}, {{"dtype", common}});
}

/// Returns `//` or `%` of floats: floor(x / divisor), or x minus this multiple of the divisor. A remainder has the
/// divisor's sign.
Id divided_down(const Caller& c, Id x, Id divisor, bool remainder) {
  if (const auto result = divided_as_f32(c, x, divisor, [&](Id a, Id b) { return divided_down(c, a, b, remainder); }))
    return *result;
  const Id quotient = floor_of(c, c.call("div", {x, divisor}));
  const Id result =
      remainder ? c.call("sub", {x, c.call("mul", {quotient, divisor})}) : without_infinite_x(c, x, divisor, quotient);
  if (is_finite_number(c, divisor)) return result;
  const Id below = is_below(c, x, divisor);
  const Id near = c.call("where", {below, remainder ? x : c.scalar(0), result});
  const Id next = remainder ? c.call("add", {x, divisor}) : c.scalar(-1);
  return c.call("where", {c.call("logical_and", {below, are_opposite(c, x, divisor)}), next, near});
}

bool by_floats(const Caller& c, Id x, Id divisor) { return is_float(c.dtype(x)) || is_float(c.dtype(divisor)); }

/// Returns `//` or `%`.
Id floor_divided(const Caller& c, Id x, Id divisor, bool remainder) {
  if (by_floats(c, x, divisor)) return divided_down(c, x, divisor, remainder);
  return remainder ? whole_remainder(c, x, divisor, true) : whole_quotient(c, x, divisor, true);
}

Id floor_divide(const Given& g) {
  const Id x = g.operand("input", 0);
  return floor_divided(g, x, g.operand("other"), g.op() == "remainder");
}

Id rounded_quotient(const Caller& c, Id x, Id divisor, bool down) {
  if (!by_floats(c, x, divisor)) return whole_quotient(c, x, divisor, down);
  return down ? divided_down(c, x, divisor, false) : trunc_of(c, c.call("div", {x, divisor}));
}

// div: the quotient is rounded to a whole number if a rounding_mode is given.
python::Value call_divide(const python::Call& c) {
  const Id input = c.tensor("input");
  if (!c.given("rounding_mode")) return c.node({input, c.operand("other", 1)});
  if (c.text("rounding_mode") != "floor" && c.text("rounding_mode") != "trunc")
    c.fail("rounding_mode", "None, 'floor' or 'trunc'");
  return results_of(rounded_quotient(caller_of(c), input, c.operand("other", 1), c.text("rounding_mode") == "floor"));
}

/// Returns an integer tensor in the common type of both tensors, in which PyTorch multiplies it by alpha.
Id in_common_type(const Caller& c, Id x, Id other) {
  const DType common = promote(c.node(x), c.node(other));
  const bool is_same = c.dtype(x) == common || c.node(x).kind == Node::Kind::scalar;
  return is_same || !is_integer(common) ? x : c.call("to", {x}, {{"dtype", common}});
}

// input ± alpha * other
python::Value call_scaled(const python::Call& c) {
  const Id input = c.tensor("input");
  const python::Value& alpha = c.value("alpha");
  if (const auto* one = alpha.as<std::int64_t>(); one && *one == 1) return c.node({input, c.operand("other", 1)});
  if (!to_number(alpha)) c.fail("alpha", "a number");
  const Caller caller = caller_of(c);
  const Id other = in_common_type(caller, c.operand("other", 1), input);
  return c.node({input, c.session.call("mul", {other, c.session.operand(alpha, "mul", 1)})});
}

python::Value call_pow(const python::Call& c) {
  if (!is_tensor(c.value("input")) && !is_tensor(c.value("exponent"))) c.fail("exponent", "a tensor");
  const Id base = c.operand("input", 0);
  return c.node({base, c.operand("exponent", 1)});
}

Id square(const Given& g) {
  const Id x = g.tensor("input");
  return g.call("mul", {x, x});
}

// (n,) × (m,) → (n, m)
Id outer(const Given& g) {
  const Id a = g.tensor("input"), b = g.tensor("vec2");
  if (g.rank(a) != 1 || g.rank(b) != 1)
    throw Error(fmt::format("outer: expected two vectors, found {} and {}", print(g.type(a)), print(g.type(b))));
  return g.apply("mul", g.unsqueeze(a, 1), b);
}

// In `.pt2` files

std::vector<Id> read_divide(pt2::Call& call) {
  const Id self = call.operand("self");
  if (!call.has("rounding_mode")) return call.node({self, call.operand("other")});
  const std::string mode = call.text("rounding_mode", "");
  if (mode != "floor" && mode != "trunc") call.fail("rounding_mode", "None, 'floor' or 'trunc'");
  return {rounded_quotient(caller_of(call), self, call.operand("other"), mode == "floor")};
}

// self ± alpha * other
std::vector<Id> read_scaled(pt2::Call& call) {
  const Id self = call.operand("self");
  Id other = call.operand("other");
  if (call.number("alpha", 1) != 1)
    other = call.add("mul", {in_common_type(caller_of(call), other, self), call.operand("alpha")});
  return call.node({self, other});
}

std::vector<Id> read_pow(pt2::Call& call) {
  const Id self = call.operand("self");
  return call.node({self, call.operand("exponent")});
}

constexpr std::string_view quotient = "input, other, *, rounding_mode=None";
constexpr std::string_view scaled = "input, other, *, alpha=1";

/// Returns the divisor if it is a number.
std::optional<std::int64_t> number_of(const Caller& c, Id divisor) {
  const Node& node = c.node(divisor);
  return node.kind == Node::Kind::scalar ? std::optional(static_cast<std::int64_t>(node.value)) : std::nullopt;
}

/// Divides integers by a number. No step leaves the range of the type, not even for the least integer, which has no
/// absolute value.
Id quotient_by_number(const Caller& c, Id x, std::int64_t divisor, bool down) {
  if (divisor == 0) throw Error("expected a divisor other than 0, found 0");
  const Attributes by = {{"divisor", divisor < 0 ? -divisor : divisor}};
  const Id floor = c.call("floor_divide", {x}, by);
  if (down && divisor > 0) return floor;
  const Id zero = c.scalar(0, DType::i32);
  Id rest = c.call("ne", {c.call("remainder", {x}, by), zero});
  if (!down) rest = c.call("logical_and", {rest, c.call("lt", {x, zero})});
  const Id one = c.call("to", {rest}, {{"dtype", c.dtype(floor)}});
  if (down) return c.call("sub", {c.call("neg", {floor}), one});
  const Id towards_zero = c.call("add", {floor, one});
  return divisor < 0 ? c.call("neg", {towards_zero}) : towards_zero;
}

/// A quotient rounded towards 0, its remainder, and whether the quotient rounded down is less by 1.
struct Division {
  Id quotient, remainder, less;

  Division(const Caller& c, Id x, Id divisor) {
    const auto call = [&](std::string_view op, Id a, Id b) { return c.call(op, {a, b}); };
    quotient = call("whole_quotient", x, divisor);
    remainder = call("sub", x, call("mul", quotient, divisor));
    const Id zero = c.scalar(0, DType::i32);
    const Id apart = call("ne", call("lt", remainder, zero), call("lt", divisor, zero));
    less = call("logical_and", call("ne", remainder, zero), apart);
  }
};

}  // namespace

python::Value call_binary(const python::Call& c) { return c.node({c.tensor("input"), c.operand("other", 1)}); }

python::Value call_infix(const python::Call& c) {
  const Id left = c.operand("left", 0);
  return c.node({left, c.operand("right", 1)});
}

std::vector<Id> read_binary(pt2::Call& call) {
  const Id self = call.operand("self");
  return call.node({self, call.operand("other")});
}

Id remainder_towards_zero(const Caller& c, Id x, Id divisor) {
  if (const auto result = divided_as_f32(c, x, divisor, [&](Id a, Id b) { return remainder_towards_zero(c, a, b); }))
    return *result;
  const Id multiple = c.call("mul", {trunc_of(c, c.call("div", {x, divisor})), divisor});
  const Id rest = c.call("sub", {x, multiple});
  return is_finite_number(c, divisor) ? rest : c.call("where", {is_below(c, x, divisor), x, rest});
}

namespace {

// Divides narrow integers as i32, because -128 / -1, and the steps of a division, may be outside of the narrow type.
// Returns nullopt if the common type of the arguments is not narrow.
std::optional<Id> divided_as_words(const Caller& c, Id x, Id divisor, Id (*divide)(const Caller&, Id, Id, bool),
                                   bool down) {
  const DType common = promote(c.node(x), c.node(divisor));
  if (!is_narrow_integer(common)) return {};
  const auto to = [&](Id id, DType dtype) { return c.call("to", {id}, {{"dtype", dtype}}); };
  const auto word = [&](Id id) {
    const Node& node = c.node(id);
    if (node.kind == Node::Kind::scalar) return c.scalar(to_integer(node.value, DType::i64, common), DType::i64);
    return to(node.type.dtype == common ? id : to(id, common), DType::i32);
  };
  return to(divide(c, word(x), word(divisor), down), common);
}

}  // namespace

Id whole_quotient(const Caller& c, Id x, Id divisor, bool down) {
  if (const auto result = divided_as_words(c, x, divisor, whole_quotient, down)) return *result;
  if (const auto number = number_of(c, divisor)) return quotient_by_number(c, x, *number, down);
  if (!down) return c.call("whole_quotient", {x, divisor});
  const Division both(c, x, divisor);
  const Attributes type = {{"dtype", c.dtype(both.quotient)}};
  return c.call("sub", {both.quotient, c.call("to", {both.less}, type)});
}

Id whole_remainder(const Caller& c, Id x, Id divisor, bool down) {
  if (const auto result = divided_as_words(c, x, divisor, whole_remainder, down)) return *result;
  if (const auto number = number_of(c, divisor)) {
    if (down && *number > 0) return c.call("remainder", {x}, {{"divisor", *number}});
    const Id whole = quotient_by_number(c, x, *number, down);
    return c.call("sub", {x, c.call("mul", {whole, divisor})});
  }
  const Division both(c, x, divisor);
  if (!down) return both.remainder;
  return c.call("where", {both.less, c.call("add", {both.remainder, divisor}), both.remainder});
}

// clang-format off
std::vector<Operation> binary_operations() {
  return {
      {"add", 2, 2, {}, infer_arithmetic, evaluate_by<std::plus<>>, decompose_arithmetic<Op::add>,
       {{"add", either, scaled, call_scaled}, {"+", as_infix, infix, call_commuting}},
       {{"aten.add", read_scaled}}},
      {"div", 2, 2, {}, infer_div, evaluate_by<std::divides<>>, decompose_arithmetic<Op::divide>,
       {{"div", either, quotient, call_divide}, {"divide", either, quotient, call_divide},
        {"true_divide", either, two_tensors, call_binary}, {"/", as_infix, infix, call_infix}},
       {{"aten.div", read_divide}, {"aten.true_divide", read_binary}}},
      {"eq", 2, 2, {}, infer_truth, evaluate_equality<std::equal_to<>>,
       decompose_comparison<Op::equal, Order::kept>,
       {{"eq", either, two_tensors, call_binary}, {"==", as_infix, infix, call_commuting}},
       {{"aten.eq", read_binary}}},
      {"floor_divide", 1, 1, divisor_attributes, infer_floor_divide, evaluate_floor_divide<false>,
       decompose_floor_divide<ExprOp::div>,
       {{"floor_divide", either, two_tensors, call_made<floor_divide>},
        {"//", as_infix, two_tensors, call_made<floor_divide>}},
       {{"aten.floor_divide", read_made<floor_divide>}}},
      {"ge", 2, 2, {}, infer_truth, evaluate_by<std::greater_equal<>>,
       decompose_comparison<Op::less_equal, Order::swapped>,
       {{"ge", either, two_tensors, call_binary}, {">=", as_infix, infix, call_infix}},
       {{"aten.ge", read_binary}}},
      {"gt", 2, 2, {}, infer_truth, evaluate_by<std::greater<>>, decompose_comparison<Op::less, Order::swapped>,
       {{"gt", either, two_tensors, call_binary}, {">", as_infix, infix, call_infix}},
       {{"aten.gt", read_binary}}},
      {"le", 2, 2, {}, infer_truth, evaluate_by<std::less_equal<>>, decompose_comparison<Op::less_equal, Order::kept>,
       {{"le", either, two_tensors, call_binary}, {"<=", as_infix, infix, call_infix}},
       {{"aten.le", read_binary}}},
      {"logical_and", 2, 2, {}, infer_truth, evaluate_by<std::logical_and<>>, decompose_logical<Op::logical_and>,
       {{"logical_and", either, two_tensors, call_binary}},
       {{"aten.logical_and", read_binary}}},
      {"logical_or", 2, 2, {}, infer_truth, evaluate_by<std::logical_or<>>, decompose_logical<Op::logical_or>,
       {{"logical_or", either, two_tensors, call_binary}},
       {{"aten.logical_or", read_binary}}},
      {"lt", 2, 2, {}, infer_truth, evaluate_by<std::less<>>, decompose_comparison<Op::less, Order::kept>,
       {{"lt", either, two_tensors, call_binary}, {"<", as_infix, infix, call_infix}},
       {{"aten.lt", read_binary}}},
      {"maximum", 2, 2, {}, infer_arithmetic, evaluate_extremum<maximum>, decompose_arithmetic<Op::maximum>,
       {{"maximum", either, two_tensors, call_binary}},
       {{"aten.maximum", read_binary}}},
      {"minimum", 2, 2, {}, infer_arithmetic, evaluate_extremum<minimum>, decompose_arithmetic<Op::minimum>,
       {{"minimum", either, two_tensors, call_binary}},
       {{"aten.minimum", read_binary}}},
      {"mul", 2, 2, {}, infer_arithmetic, evaluate_mul, decompose_arithmetic<Op::multiply>,
       {{"mul", either, two_tensors, call_binary}, {"multiply", either, two_tensors, call_binary},
        {"*", as_infix, infix, call_commuting}, {"square", either, "input", call_made<square>},
        {"outer", either, "input, vec2", call_made<outer>}},
       {{"aten.mul", read_binary}, {"aten.outer", read_made<outer>}, {"aten.square", read_made<square>}}},
      {"ne", 2, 2, {}, infer_truth, evaluate_equality<std::not_equal_to<>>,
       decompose_comparison<Op::not_equal, Order::kept>,
       {{"ne", either, two_tensors, call_binary}, {"!=", as_infix, infix, call_commuting}},
       {{"aten.ne", read_binary}}},
      {"pow", 2, 2, {}, infer_pow, evaluate_pow, decompose_pow,
       {{"pow", either, "input, exponent", call_pow}, {"**", as_infix, infix, call_infix}},
       {{"aten.pow", read_pow}}},
      {"remainder", 1, 1, divisor_attributes, infer_floor_divide, evaluate_floor_divide<true>,
       decompose_floor_divide<ExprOp::mod>,
       {{"remainder", either, two_tensors, call_made<floor_divide>},
        {"%", as_infix, two_tensors, call_made<floor_divide>}},
       {{"aten.remainder", read_made<floor_divide>}}},
      {"sub", 2, 2, {}, infer_sub, evaluate_by<std::minus<>>, decompose_arithmetic<Op::subtract>,
       {{"sub", either, scaled, call_scaled}, {"subtract", either, scaled, call_scaled},
        {"-", as_infix, infix, call_infix}},
       {{"aten.sub", read_scaled}}},
      {"whole_quotient", 2, 2, {}, infer_whole_quotient, evaluate_whole_quotient, decompose_whole_quotient, {}, {}},
  };
}
// clang-format on

}  // namespace deplo::ir::torch
