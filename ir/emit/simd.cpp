#include "ir/emit/simd.h"

#include <fmt/format.h>

#include "core/error.h"

namespace deplo::ir {
namespace {

// x = n ln 2 + r, |r| <= ln 2 / 2, exp(x) = 2^n (1 + p). The polynomial is that of expf in Cephes (S. L. Moshier,
// netlib.org/cephes/single), as is ln 2 in two parts. Adding 1.5 * 2^23 rounds to an integer and leaves it in the low
// bits (H. S. Warren, Hacker's Delight, 17-3), from where a shift makes it an exponent. {0}: lanes, none of a
// scalar, {1}: what is reduced.
constexpr const char* reduce_and_approximate =
    R"(  const float{0} t = fma({1}, (float{0})(1.44269504f), (float{0})(12582912.0f));
  const float{0} n = t - 12582912.0f;
  const float{0} r = fma(n, (float{0})(2.12194440e-4f), fma(n, (float{0})(-0.693359375f), {1}));
  float{0} p = fma((float{0})(1.9875691500e-4f), r, (float{0})(1.3981999507e-3f));
  p = fma(p, r, (float{0})(8.3334519073e-3f));
  p = fma(p, r, (float{0})(4.1665795894e-2f));
  p = fma(p, r, (float{0})(1.6666665459e-1f));
  p = fma(p, r, (float{0})(5.0000001201e-1f));
  p = fma(p, r * r, r);
)";

// Below ln 2^-126 the result is subnormal: it is made 2^32 times as large, and multiplied by 2^-32. Below ln 2^-150 it
// is 0, above ln (2^128 - 2^104) infinite. The last product keeps a NaN, which y may lose: the sum of bits changes the
// exponent of one that has bits set at its end.
constexpr const char* exp_text = R"(float{0} simd_exp{0}(const float{0} x) {{
{1}  const int{0} small = x < -87.336544f ? (int{0})(32) : (int{0})(0);
  float{0} y = as_float{0}(as_int{0}(p + 1.0f) + ((as_int{0}(t) + small) << 23));
  y *= x < -87.336544f ? (float{0})(0x1p-32f) : (float{0})(1.0f);
  y = x < -103.97208f ? (float{0})(0.0f) : y;
  return x <= 88.722839f ? y : x * (float{0})(INFINITY);
}}
)";

// m / (m + 2) with m = exp(2|x|) - 1, which loses nothing where x is small; from 9.02 on it is 1 in f32. The comparison
// keeps a NaN.
constexpr const char* tanh_text = R"(float{0} simd_tanh{0}(const float{0} x) {{
  const float{0} a = fabs(x) > 10.0f ? (float{0})(20.0f) : 2.0f * fabs(x);
{1}  const float{0} s = as_float{0}((as_int{0}(t) << 23) + 0x3f800000);
  const float{0} m = fma(s, p, s - 1.0f);
  return copysign(m / (m + 2.0f), x);
}}
)";

// x86 has one instruction for `b > a ? b : a`, which gives a if one of them is NaN (Intel SDM, MAXPS). That is right if b is
// a constant. If not, `b == b` chooses b first: a second instruction with AVX-512, which masks the first one. `b != b ? b`
// would take four, because LLVM 15 joins two choices of b. A reduction's a is what it has so far, so the test of b is not
// on the path from one step to the next.
std::string choose(Op op, std::string_view a, std::string_view b) {
  return fmt::format("{1} {2} {0} ? {1} : {0}", a, b, op == Op::maximum ? '>' : '<');
}
std::string extremum(Op op, std::string_view a, std::string_view b) {
  return fmt::format("{0} == {0} ? ({1}) : {0}", b, choose(op, a, b));
}

// PoCL's vstore16 writes four parts.
constexpr const char* lanes_text = "typedef float{0} __attribute__((aligned(4))) simd_lanes{0};\n";

std::string suffix(int lanes) { return lanes == 1 ? "" : std::to_string(lanes); }

std::string fold(Op op, std::string_view low, std::string_view high) {
  switch (op) {
    case Op::lanes_add:
      return fmt::format("{} + {}", low, high);
    case Op::lanes_multiply:
      return fmt::format("{} * {}", low, high);
    case Op::lanes_maximum:
      return extremum(Op::maximum, low, high);
    case Op::lanes_minimum:
      return extremum(Op::minimum, low, high);
    default:
      check_failed("a horizontal operation", __FILE__, __LINE__);
  }
}

// Halves against halves, as a tree: fewer dependent operations than lane by lane.
std::string fold_definition(Op op, int lanes) {
  std::string text = fmt::format("float simd_{}{}(const float{} x) {{\n", name(op), lanes, lanes), whole = "x";
  for (int half = lanes / 2; half > 1; half /= 2) {
    const std::string part = fmt::format("x{}", half);
    text += fmt::format("  const float{} {} = {};\n", half, part, fold(op, whole + ".lo", whole + ".hi"));
    whole = part;
  }
  return text + fmt::format("  return {};\n}}\n", fold(op, whole + ".lo", whole + ".hi"));
}

}  // namespace

bool is_extremum(Op op) {
  return op == Op::maximum || op == Op::minimum || op == Op::relu || op == Op::lanes_maximum || op == Op::lanes_minimum;
}

bool has_simd(Op op) { return simd_function(op) || is_extremum(op); }

std::optional<Op> simd_function(Op op) {
  if (op == Op::sigmoid) return Op::exp;
  if (op == Op::exp || op == Op::tanh || is_horizontal(op)) return op;
  return std::nullopt;
}

std::string simd_call(Op op, std::span<const std::string_view> args, int lanes, std::optional<std::size_t> constant) {
  CHECK(has_simd(op));
  switch (op) {
    case Op::maximum:
    case Op::minimum:
      return constant ? choose(op, args[1 - *constant], args[*constant]) : extremum(op, args[0], args[1]);
    case Op::relu:
      return choose(Op::maximum, args[0], fmt::format("(float{})(0.0f)", suffix(lanes)));
    case Op::sigmoid:
      return fmt::format("1.0f / (1.0f + simd_exp{}(-{}))", suffix(lanes), args[0]);
    default:
      return fmt::format("simd_{}{}({})", name(op), suffix(lanes), args[0]);
  }
}

std::string simd_definition(Op op, int lanes) {
  if (is_horizontal(op)) return fold_definition(op, lanes);
  CHECK(op == Op::exp || op == Op::tanh);
  const bool exp = op == Op::exp;
  const std::string middle = fmt::format(fmt::runtime(reduce_and_approximate), suffix(lanes), exp ? "x" : "a");
  return fmt::format(fmt::runtime(exp ? exp_text : tanh_text), suffix(lanes), middle);
}

std::string simd_store(std::string_view place, std::string_view space, std::string_view value, int lanes) {
  return fmt::format("*({}{}simd_lanes{}*)&{} = {};", space, space.empty() ? "" : " ", lanes, place, value);
}

std::string simd_lanes_definition(int lanes) { return fmt::format(fmt::runtime(lanes_text), lanes); }

}  // namespace deplo::ir
