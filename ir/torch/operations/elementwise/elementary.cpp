// Elementary functions and rounding, composed of several elementwise operations: floor, sign, log2, …
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "ir/torch/operations/given.h"

namespace deplo::ir::torch {
namespace elementary {
namespace {

Id choose(const Given& g, Id condition, double a, Id b) { return g.call("where", {condition, g.scalar(a), b}); }

/// Returns the input as floats.
Id float_input(const Given& g) {
  const Id x = g.tensor("input");
  return is_float(g.dtype(x)) ? x : g.to(x, DType::f32);
}

// Rounding converts to 32-bit integers. An f32 with a magnitude of at least 2^23 has no fraction.
constexpr double without_fraction = 0x1p23;

using Rounding = Id (*)(const Caller&, Id x, Id truncated);

Id rounded_by(const Caller& c, Id x, Rounding rounding) {
  const DType dtype = c.dtype(x);
  if (!is_float(dtype)) return x;
  const Id small = c.call("lt", {c.call("abs", {x}), c.scalar(without_fraction)});
  const Id safe = c.call("where", {small, x, c.scalar(0)});
  const Id integers = c.call("to", {safe}, {{"dtype", DType::i32}});
  const Id rounded = rounding(c, safe, c.call("to", {integers}, {{"dtype", dtype}}));
  const Id zero = c.call("mul", {safe, c.scalar(0)});  // with the sign of x, because integers have no -0
  const Id whole = c.call("where", {c.call("eq", {rounded, c.scalar(0)}), zero, rounded});
  return c.call("where", {small, whole, x});
}

Id truncated(const Caller&, Id, Id t) { return t; }
Id down(const Caller& c, Id x, Id t) {
  return c.call("where", {c.call("gt", {t, x}), c.call("sub", {t, c.scalar(1)}), t});
}
Id up(const Caller& c, Id x, Id t) {
  return c.call("where", {c.call("lt", {t, x}), c.call("add", {t, c.scalar(1)}), t});
}

template <Rounding rounding>
Id rounded(const Given& g) {
  return rounded_by(g, g.tensor("input"), rounding);
}

// sign(NaN) is 0, as in PyTorch.
Id sign_of(const Given& g, Id x) {
  const Id positive = g.to(g.apply("gt", x, 0.0), DType::i32), negative = g.to(g.apply("lt", x, 0.0), DType::i32);
  return g.to(g.apply("sub", positive, negative), g.dtype(x));
}

// Rounds halves to even numbers.
Id nearest(const Caller& c, Id x, Id t) {
  const auto call = [&](std::string_view op, Id a, Id b) { return c.call(op, {a, b}); };
  const DType dtype = c.dtype(x);
  const Id rest = call("sub", x, t), size = c.call("abs", {rest});
  const Id half = trunc_of(c, call("mul", t, c.scalar(0.5)));
  const Id odd = call("ne", call("mul", half, c.scalar(2)), t);
  const Id tie = call("logical_and", call("eq", size, c.scalar(0.5)), odd);
  const Id away = call("logical_or", call("gt", size, c.scalar(0.5)), tie);
  const auto count = [&](std::string_view op) {
    return c.call("to", {call("logical_and", away, call(op, rest, c.scalar(0)))}, {{"dtype", dtype}});
  };
  return call("sub", call("add", t, count("gt")), count("lt"));
}

Id round(const Given& g) {
  const std::int64_t decimals = g.integer("decimals", 0);
  if (decimals == 0) return rounded<nearest>(g);
  const double scale = std::pow(10.0, static_cast<double>(std::clamp<std::int64_t>(decimals, -30, 30)));
  return g.apply("div", rounded_by(g, g.apply("mul", g.tensor("input"), scale), nearest), scale);
}

Id frac(const Given& g) { return g.apply("sub", g.tensor("input"), rounded<truncated>(g)); }
Id sign(const Given& g) { return sign_of(g, g.tensor("input")); }

// Logarithms and exponentials

Id scaled_log(const Given& g, double scale) { return g.apply("mul", g.apply("log", float_input(g)), scale); }
Id log2(const Given& g) { return scaled_log(g, std::numbers::log2e); }
Id log10(const Given& g) { return scaled_log(g, std::numbers::log10e); }
Id log1p(const Given& g) { return log_of_1_plus(g, float_input(g)); }
Id exp2(const Given& g) { return g.apply("exp", g.apply("mul", float_input(g), std::numbers::ln2)); }
Id expm1(const Given& g) { return exp_minus_1(g, float_input(g)); }
Id logit(const Given& g) {
  Id x = float_input(g);
  if (g.has("eps")) x = g.apply("minimum", g.apply("maximum", x, g.number("eps", 0)), 1 - g.number("eps", 0));
  return g.apply("log", g.apply("div", x, g.apply("sub", 1.0, x)));
}
/// log(e^a + e^b), computed without overflow. The difference of equal infinities would be NaN.
Id logaddexp(const Given& g) {
  const Id a = g.tensor("input"), b = g.tensor("other"), maximum = g.apply("maximum", a, b);
  const Id apart = g.apply("neg", g.apply("abs", g.apply("sub", a, b)));
  const Id more = g.apply("log", g.apply("add", g.apply("exp", apart), 1.0));
  return g.where(g.apply("eq", a, b), g.apply("add", a, std::numbers::ln2), g.apply("add", maximum, more));
}

// Angles

Id tan(const Given& g) { return g.apply("div", g.apply("sin", float_input(g)), g.apply("cos", float_input(g))); }
/// √((1 - x)(1 + x))
Id other_side(const Given& g, Id x) {
  return g.apply("sqrt", g.apply("mul", g.apply("sub", 1.0, x), g.apply("add", x, 1.0)));
}
Id asin(const Given& g) {
  const Id x = float_input(g);
  return g.apply("atan", g.apply("div", x, other_side(g, x)));
}
/// 2 atan √((1 - x) / (1 + x)), which loses no digits near 1.
Id acos(const Given& g) {
  const Id x = float_input(g);
  const Id ratio = g.apply("div", g.apply("sub", 1.0, x), g.apply("add", x, 1.0));
  return g.apply("mul", g.apply("atan", g.apply("sqrt", ratio)), 2.0);
}
Id angle(const Given& g, Id y, Id x) {
  const Id height = g.apply("abs", y), width = g.apply("abs", x);
  const Id none = g.apply("eq", g.apply("maximum", height, width), 0.0);
  const Id endless = g.apply("eq", g.apply("minimum", height, width), infinity);
  const Id tangent = choose(g, none, 0, choose(g, endless, 1, g.apply("div", height, width)));
  const Id angle = g.apply("atan", tangent);
  const Id wide = g.where(is_negative(g, x), g.apply("sub", std::numbers::pi, angle), angle);
  return g.where(is_negative(g, y), g.apply("neg", wide), wide);
}
Id atan2(const Given& g) {
  const Id y = g.tensor("input"), x = g.tensor("other");
  const DType common = promote(g.node(y), g.node(x)), floats = is_float(common) ? common : DType::f32;
  return angle(g, g.to(y, floats), g.to(x, floats));
}
/// `size` with the sign of x. x itself if it is 0, because -0 has a sign.
Id with_sign(const Given& g, Id x, Id size) {
  return g.where(g.apply("lt", x, 0.0), g.apply("neg", size), g.where(g.apply("eq", x, 0.0), x, size));
}
constexpr double large = 1e8;  // from here on √(x² ± 1) is |x| in f32
/// ±log(1 + |x| + x² / (1 + √(x² + 1))). The square of a large number would be infinite.
Id asinh(const Given& g) {
  const Id x = float_input(g), size = g.apply("abs", x), square = g.apply("mul", size, size);
  const Id root = g.apply("sqrt", g.apply("add", square, 1.0));
  const Id rest = g.apply("div", square, g.apply("add", root, 1.0));
  const Id log = g.where(g.apply("gt", size, large), g.apply("add", g.apply("log", size), std::numbers::ln2),
                         log_of_1_plus(g, g.apply("add", size, rest)));
  return with_sign(g, x, log);
}
/// log(1 + y + √y √(y + 2)) for y = x - 1. The sum of large numbers would be infinite.
Id acosh(const Given& g) {
  const Id x = float_input(g), y = g.apply("sub", x, 1.0);
  const Id root = g.apply("mul", g.apply("sqrt", y), g.apply("sqrt", g.apply("add", y, 2.0)));
  return g.where(g.apply("gt", x, large), g.apply("add", g.apply("log", x), std::numbers::ln2),
                 log_of_1_plus(g, g.apply("add", y, root)));
}
/// ±log(1 + 2|x| / (1 - |x|)) / 2
Id atanh(const Given& g) {
  const Id x = float_input(g), size = g.apply("abs", x);
  const Id ratio = g.apply("div", g.apply("mul", size, 2.0), g.apply("sub", 1.0, size));
  return with_sign(g, x, g.apply("mul", log_of_1_plus(g, ratio), 0.5));
}
Id cosh_of(const Given& g, Id x) {
  return g.apply("mul", g.apply("add", g.apply("exp", x), g.apply("exp", g.apply("neg", x))), 0.5);
}
Id cosh(const Given& g) { return cosh_of(g, float_input(g)); }
/// tanh(x) cosh(x): the difference of e^x and e^-x would lose digits near 0.
Id sinh(const Given& g) {
  const Id x = float_input(g);
  return g.apply("mul", g.apply("tanh", x), cosh_of(g, x));
}

/// c₀ xⁿ + c₁ xⁿ⁻¹ + …
Id polynomial(const Given& g, Id x, const std::vector<double>& coefficients) {
  Id sum = g.scalar(coefficients[0]);
  for (std::size_t i = 1; i < coefficients.size(); ++i) sum = g.apply("add", g.apply("mul", sum, x), coefficients[i]);
  return sum;
}

/// 1 - erf(x) below 0.5, where it loses no digits. Above, t e^(P(t) - x²) with t = 1 / (1 + x / 2), after Chebyshev
/// fitting by Press et al., Numerical Recipes, 6.2. P is the Chebyshev fit of degree 17 of log(erfc(x) e^x² / t) for t
/// from 0.06 to 0.8, computed with 60 digits; its error is 7e-14.
Id erfc(const Given& g) {
  const Id x = float_input(g);
  const Id safe = g.apply("maximum", x, 0.0);  // t has a pole at -2
  const Id t = g.apply("reciprocal", g.apply("add", g.apply("mul", safe, 0.5), 1.0));
  const Id power =
      polynomial(g, t,
                 {0.45710618675403736, -3.204791466074315, 9.860961663048853, -17.23452201003592, 18.42150253201228,
                  -12.039616738904723, 4.628302908575967, -1.0746090038035108, 0.05518300081417086, 0.2746420446005132,
                  -0.02709951769383626, -0.0782166611150667, -0.14595475104234368, -0.08568949776841778,
                  0.08331431811007729, 0.37500094506599574, 0.9999999726748692, -1.2655121231373483});
  const Id tail = g.apply("mul", t, g.apply("exp", g.apply("sub", power, g.apply("mul", safe, safe))));
  return g.where(g.apply("gt", x, 0.5), tail, g.apply("sub", 1.0, g.apply("erf", x)));
}

/// Ratios of polynomials, as PyTorch has them (calc_erfinv), of x² near 0 and of √(-log((1 - |x|) / 2)) elsewhere; two
/// steps of Newton's method improve them.
Id erfinv(const Given& g) {
  const Id x = float_input(g), size = g.apply("abs", x), square = g.apply("mul", x, x);
  const Id near = g.apply("mul", x,
                          g.apply("div", polynomial(g, square, {-0.140543331, 0.914624893, -1.645349621, 0.886226899}),
                                  polynomial(g, square, {0.012229801, -0.329097515, 1.442710462, -2.118377725, 1.0})));
  const Id half_rest = g.apply("mul", g.apply("sub", 1.0, size), 0.5);
  const Id z = g.apply("sqrt", g.apply("neg", g.apply("log", half_rest)));
  const Id ratio = g.apply("div", polynomial(g, z, {1.641345311, 3.429567803, -1.62490649, -1.970840454}),
                           polynomial(g, z, {1.637067800, 3.543889200, 1.0}));
  const Id far = g.where(g.apply("lt", x, 0.0), g.apply("neg", ratio), ratio);
  Id result = g.where(g.apply("le", size, 0.7), near, far);
  for (int step = 0; step < 2; ++step) {
    const Id apart = g.apply("sub", g.apply("erf", result), x);
    const Id slope =
        g.apply("mul", g.apply("exp", g.apply("neg", g.apply("mul", result, result))), 2 * std::numbers::inv_sqrtpi);
    result = g.apply("sub", result, g.apply("div", apart, slope));
  }
  const Id end = g.where(g.apply("lt", x, 0.0), g.scalar(-infinity), g.scalar(infinity));
  return g.where(g.apply("eq", size, 1.0), end, result);
}

// Classification of numbers

Id isnan(const Given& g) { return g.apply("ne", g.tensor("input"), g.tensor("input")); }
Id isinf(const Given& g) { return g.apply("eq", g.apply("abs", float_input(g)), infinity); }
Id isfinite(const Given& g) { return g.apply("lt", g.apply("abs", float_input(g)), infinity); }
Id nan_to_num(const Given& g) {
  const Id x = g.tensor("input");
  if (!is_float(g.dtype(x))) return x;
  const double max_value = g.dtype(x) == DType::f16    ? 65504
                           : g.dtype(x) == DType::bf16 ? 0x1.fep127
                                                       : static_cast<double>(std::numeric_limits<float>::max());
  const Id finite = choose(g, g.apply("eq", x, infinity), g.number("posinf", max_value),
                           choose(g, g.apply("eq", x, -infinity), g.number("neginf", -max_value), x));
  return choose(g, g.apply("ne", x, x), g.number("nan", 0), finite);
}

// Functions of several tensors

Id scaled(const Given& g, std::string_view op) {
  const Id x = g.tensor("input"), product = g.apply(op, g.tensor("tensor1"), g.tensor("tensor2"));
  const double value = g.number("value", 1);
  return g.apply("add", x, value == 1 ? product : g.apply("mul", product, value));
}
Id addcmul(const Given& g) { return scaled(g, "mul"); }
Id addcdiv(const Given& g) { return scaled(g, "div"); }
Id lerp(const Given& g) {
  const Id x = g.tensor("input"), end = g.tensor("end");
  return g.apply("add", x, g.apply("mul", g.apply("sub", end, x), g.operand("weight")));
}
/// a √(1 + (b / a)²) for the larger side a, because squares overflow and underflow. An infinite side wins over a NaN.
Id hypot(const Given& g) {
  const Id a = g.apply("abs", g.tensor("input")), b = g.apply("abs", g.tensor("other"));
  const Id high = g.apply("maximum", a, b), low = g.apply("minimum", a, b);
  const Id ratio = choose(g, g.apply("eq", low, high), 1, g.apply("div", low, high));  // also of zeros and infinities
  const Id size = g.apply("mul", high, g.apply("sqrt", g.apply("add", g.apply("mul", ratio, ratio), 1.0)));
  const Id endless = g.apply("logical_or", g.apply("eq", a, infinity), g.apply("eq", b, infinity));
  return choose(g, endless, infinity, size);
}
Id dot(const Given& g) {
  const Id a = g.tensor("input"), b = g.tensor(g.has("tensor") ? "tensor" : "other");
  if (g.rank(a) != 1 || g.rank(b) != 1) g.refuse("two vectors", a);
  return g.apply("matmul", a, b);
}
Id mv(const Given& g) { return g.apply("matmul", g.tensor("input"), g.tensor("vec")); }
Id logical_xor(const Given& g) {
  const Id zero = g.scalar(0);
  return g.apply("ne", g.apply("ne", g.tensor("input"), zero), g.apply("ne", g.tensor("other"), zero));
}

constexpr std::string_view one = "input";

}  // namespace
}  // namespace elementary

Id is_negative(const Given& g, Id x) {
  return g.apply("logical_or", g.apply("lt", x, 0.0), g.apply("lt", g.apply("reciprocal", x), 0.0));
}
Id angle_of(const Given& g, Id y, Id x) { return elementary::angle(g, y, x); }
Id floor_of(const Caller& c, Id x) { return elementary::rounded_by(c, x, elementary::down); }
Id round_of(const Caller& c, Id x) { return elementary::rounded_by(c, x, elementary::nearest); }
Id trunc_of(const Caller& c, Id x) { return elementary::rounded_by(c, x, elementary::truncated); }

// clang-format off
Composites elementary_functions() {
  using namespace elementary;
  return composites_of(
      {made<acos>("aten.acos", either, one), made<acosh>("aten.acosh", either, one),
       made<addcdiv>("aten.addcdiv", either, "input, tensor1, tensor2, *, value=1"),
       made<addcmul>("aten.addcmul", either, "input, tensor1, tensor2, *, value=1"),
       {{"arccos", either, one, call_made<acos>}}, {{"arccosh", either, one, call_made<acosh>}},
       {{"arcsin", either, one, call_made<asin>}}, {{"arcsinh", either, one, call_made<asinh>}},
       {{"arctan2", either, "input, other", call_made<atan2>}}, {{"arctanh", either, one, call_made<atanh>}},
       made<asin>("aten.asin", either, one), made<asinh>("aten.asinh", either, one),
       made<atan2>("aten.atan2", either, "input, other"), made<atanh>("aten.atanh", either, one),
       made<rounded<up>>("aten.ceil", either, one), made<cosh>("aten.cosh", either, one),
       made<dot>("aten.dot", either, "input, tensor"), made<erfc>("aten.erfc", either, one),
       made<erfinv>("aten.erfinv", either, one),
       made<exp2>("aten.exp2", either, one), made<expm1>("aten.expm1", either, one),
       {{"fix", either, one, call_made<rounded<truncated>>}}, made<rounded<down>>("aten.floor", either, one),
       made<frac>("aten.frac", either, one), made<hypot>("aten.hypot", either, "input, other"),
       made<isfinite>("aten.isfinite", either, one), made<isinf>("aten.isinf", either, one),
       made<isnan>("aten.isnan", either, one), made<lerp>("aten.lerp", either, "input, end, weight"),
       made<log10>("aten.log10", either, one), made<log1p>("aten.log1p", either, one),
       made<log2>("aten.log2", either, one), made<logaddexp>("aten.logaddexp", either, "input, other"),
       made<logical_xor>("aten.logical_xor", either, "input, other"),
       made<logit>("aten.logit", either, "input, eps=None"), {{"mv", either, "input, vec", call_made<mv>}},
       made<nan_to_num>("aten.nan_to_num", either, "input, nan=None, posinf=None, neginf=None"),
       made<round>("aten.round", either, "input, *, decimals=0"), made<sign>("aten.sgn", either, one),
       made<sign>("aten.sign", either, one), made<sinh>("aten.sinh", either, one),
       made<tan>("aten.tan", either, one), made<rounded<truncated>>("aten.trunc", either, one)},
      {});
}
// clang-format on

}  // namespace deplo::ir::torch
