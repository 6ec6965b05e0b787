#include "ir/emit/simd.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "core/error.h"

namespace deplo::ir {
namespace {

// a = 2 n ln 2 + r, |r| <= ln 2, exp(a) = s^2 (1 + p), s = 2^n. The polynomial r + r^2 (1/2 + …) minimizes the relative
// error of exp(r), which is 1.4e-8. It was found by reweighted least squares (C. L. Lawson). 2 ln 2 is split into two
// parts (W. J. Cody, W. Waite). Adding 1.5 * 2^23 + 127 rounds to an integer and leaves n + 127 in the low bits (H. S.
// Warren, Hacker's Delight, 17-3), which a shift turns into the exponent of s. {0}: lanes, empty for a scalar.
constexpr const char* reduce_and_approximate =
    R"(  const float{0} t = fma(a, (float{0})(0.72134752f), (float{0})(12583039.0f));
  const float{0} n = t - 12583039.0f;
  const float{0} r = fma(n, (float{0})(4.2438888e-4f), fma(n, (float{0})(-1.38671875f), a));
  float{0} p = fma((float{0})(1.96115989e-4f), r, (float{0})(1.41044699e-3f));
  p = fma(p, r, (float{0})(8.33610317e-3f));
  p = fma(p, r, (float{0})(4.16612684e-2f));
  p = fma(p, r, (float{0})(1.66666141e-1f));
  p = fma(p, r, (float{0})(5.00000346e-1f));
  p = fma(p, r * r, r);
  const float{0} s = as_float{0}(as_int{0}(t) << 23);
)";

// The result is subnormal for n <= -63 and infinite for n = 64; s is neither. For x <= -176, n is -127 and s is 0,
// because results that the hardware itself rounds to 0 are slow. Both comparisons keep a NaN.
constexpr const char* exp_text = R"(float{0} simd_exp{0}(const float{0} x) {{
  const float{0} least = -176.0f > x ? (float{0})(-176.0f) : x;
  const float{0} a = 89.0f < least ? (float{0})(89.0f) : least;
{1}  return fma(p, s, s) * s;
}}
)";

// m / (m + 2) with m = exp(2|x|) - 1, which loses no precision for small x. From 9.02 on the result is 1 in f32. The
// comparison keeps a NaN.
constexpr const char* tanh_text = R"(float{0} simd_tanh{0}(const float{0} x) {{
  const float{0} a = fabs(x) > 10.0f ? (float{0})(20.0f) : 2.0f * fabs(x);
{1}  const float{0} m = fma(s * s, p, s * s - 1.0f);
  return copysign(m / (m + 2.0f), x);
}}
)";

// For |x| < 1, a polynomial of x^2, whose error is relative to x. Otherwise 1 - exp(q) with a polynomial q of |x|,
// whose error is reduced by the factor 1 - erf(|x|). Both polynomials minimize the relative error of erf (1.2e-9 and
// 1.1e-9) and were found like that of exp. From 3.92 on erf is 1 in f32. The comparisons keep a NaN.
constexpr const char* erf_text = R"(float{0} simd_erf{0}(const float{0} x) {{
  const float{0} y = fabs(x) > 4.0f ? (float{0})(4.0f) : fabs(x), y2 = y * y;
  float{0} small = fma((float{0})(7.85388474e-5f), y2, (float{0})(-8.01020127e-4f));
  small = fma(small, y2, (float{0})(5.18832868e-3f));
  small = fma(small, y2, (float{0})(-2.68538129e-2f));
  small = fma(small, y2, (float{0})(1.12835854e-1f));
  small = fma(small, y2, (float{0})(-3.7612626e-1f));
  small = fma(small, y2, (float{0})(1.28379107e-1f));
  float{0} a = fma((float{0})(1.86379184e-4f), y, (float{0})(-2.94765830e-3f));
  a = fma(a, y, (float{0})(2.18380634e-2f));
  a = fma(a, y, (float{0})(-1.03106752e-1f));
  a = fma(a, y, (float{0})(-6.38144851e-1f));
  a = fma(a, y, (float{0})(-1.12708914f));
  a = fma(a, y, (float{0})(-3.4152309e-4f));
{1}  return y < 1.0f ? fma(small, x, x) : copysign(1.0f - fma(p, s, s) * s, x);
}}
)";

// x = 2^e (1 + f), sqrt(1/2) <= 1 + f < sqrt(2): log(x) = e ln 2 + f - f^2 / 2 + f^3 p(f). The polynomial minimizes the
// relative error of log(1 + f), which is 7.5e-10, and was found like that of exp. ln 2 is split into two parts. A
// subnormal x is multiplied by 2^23 first. Results that are not finite are selected last.
constexpr const char* log_text = R"(float{0} simd_log{0}(const float{0} x) {{
  const float{0} normal = x < 0x1p-126f ? x * 0x1p23f : x;
  const int{0} bits = as_int{0}(normal) - 0x3f3504f3;
  const float{0} e = convert_float{0}(bits >> 23) - (x < 0x1p-126f ? (float{0})(23.0f) : (float{0})(0.0f));
  const float{0} f = as_float{0}((bits & 0x007fffff) + 0x3f3504f3) - 1.0f, f2 = f * f;
  float{0} p = fma((float{0})(6.7466408e-2f), f, (float{0})(-1.16756515e-1f));
  p = fma(p, f, (float{0})(1.1888162e-1f));
  p = fma(p, f, (float{0})(-1.24055892e-1f));
  p = fma(p, f, (float{0})(1.42195523e-1f));
  p = fma(p, f, (float{0})(-1.66679963e-1f));
  p = fma(p, f, (float{0})(2.00021192e-1f));
  p = fma(p, f, (float{0})(-2.50000089e-1f));
  p = fma(p, f, (float{0})(3.33333135e-1f));
  const float{0} low = fma(e, (float{0})(-2.12194440e-4f), p * f * f2);
  const float{0} y = fma(e, (float{0})(0.693359375f), fma((float{0})(-0.5f), f2, low) + f);
  const float{0} finite = x < INFINITY ? y : x;
  return x > 0.0f ? finite : x == 0.0f ? (float{0})(-INFINITY) : x < 0.0f ? (float{0})(NAN) : x;
}}
)";

// 2^(y log2|x|) in double. |x| = 2^e m as in log, and log2(m) = t p(t^2) with t = (m - 1) / (m + 1). 2^f for |f| <= 1/2
// is a polynomial, too. The errors are 2.7e-14 and 1.9e-9. Adding 1.5 * 2^52 (`even`) rounds to an integer; adding 1023
// as well leaves the bits of the exponent in the low bits. From 300 on the result is infinite, from -300 down it is 0.
// The selections at the end are those of C11, F.10.4.4.
constexpr const char* power_text = R"(float{0} simd_power{0}(const float{0} x, const float{0} y) {{
  const float{0} a = fabs(x), normal = a < 0x1p-126f ? a * 0x1p23f : a;
  const int{0} bits = as_int{0}(normal) - 0x3f3504f3;
  const float{0} e = convert_float{0}(bits >> 23) - (a < 0x1p-126f ? (float{0})(23.0f) : (float{0})(0.0f));
  const double{0} m = convert_double{0}(as_float{0}((bits & 0x007fffff) + 0x3f3504f3));
  const double{0} t = (m - 1.0) / (m + 1.0), t2 = t * t, even = 6755399441055744.0;
  const double{0} base = convert_double{0}(x), exponent = convert_double{0}(y), w = fabs(base);
  double{0} p = fma((double{0})(0.28290394262435015), t2, (double{0})(0.31990547226361038));
  p = fma(p, t2, (double{0})(0.41220925657679292));
  p = fma(p, t2, (double{0})(0.57707794234140786));
  p = fma(p, t2, (double{0})(0.96179669411331659));
  p = fma(p, t2, (double{0})(2.8853900817778499));
  double{0} l = fma(p, t, convert_double{0}(e));
  l = w == 0.0 ? (double{0})(-INFINITY) : w < INFINITY ? l : w;
  l *= exponent;
  l = l > 300.0 ? (double{0})(300.0) : l;
  l = -300.0 > l ? (double{0})(-300.0) : l;
  const double{0} n = l + (even + 1023.0), f = l - (n - (even + 1023.0));
  p = fma((double{0})(1.5345811334198725e-4), f, (double{0})(1.3399931212637085e-3));
  p = fma(p, f, (double{0})(9.6184889595607587e-3));
  p = fma(p, f, (double{0})(5.5503287769845241e-2));
  p = fma(p, f, (double{0})(0.24022646890611854));
  p = fma(p, f, (double{0})(0.69314720573725608));
  p = fma(p, f, (double{0})(1.0000000005541672));
  double{0} z = p * as_double{0}(as_long{0}(n) << 52);
  const double{0} pairs = 0.5 * exponent, whole = (exponent + even) - even;
  z = as_long{0}(base) < 0 && whole == exponent && (pairs + even) - even != pairs ? -z : z;
  z = base < 0.0 && w < INFINITY && whole != exponent ? (double{0})(NAN) : z;
  z = w == 1.0 && (base > 0.0 || fabs(exponent) == INFINITY) ? (double{0})(1.0) : z;
  return convert_float{0}(exponent == 0.0 ? (double{0})(1.0) : z);
}}
)";

// One reciprocal serves all lanes. The reciprocal of a subnormal number may be infinite: 0 / 1e-45 would be 0 *
// infinity.
constexpr const char* divide_text = R"(float{0} simd_divide{0}(const float{0} x, const float y) {{
  return fabs(y) < 0x1p-126f ? x / (float{0})(y) : x * (float{0})(1.0f / y);
}}
)";

// x86 has one instruction for `b > a ? b : a`, which returns a if one of them is NaN (Intel SDM, MAXPS). That is right
// if b is a constant. Otherwise `b == b` tests b first, which takes a second instruction with AVX-512, a mask for the
// first. `b != b ? b` would take four, because LLVM 15 joins the two selections of b. In a reduction, a is the
// accumulated value, so the test of b is not on the critical path between steps.
std::string choose(Op op, std::string_view a, std::string_view b) {
  return fmt::format("{1} {2} {0} ? {1} : {0}", a, b, op == Op::maximum ? '>' : '<');
}
std::string extremum(Op op, std::string_view a, std::string_view b) {
  return fmt::format("{0} == {0} ? ({1}) : {0}", b, choose(op, a, b));
}

// The type of vector stores at any float's address. PoCL's vstore16 would split the store into four parts.
constexpr const char* lanes_text = "typedef float{0} __attribute__((aligned(4))) simd_lanes{0};\n";

// Uses Clang's builtin. A CPU streams only to multiples of a vector's size (Intel 64 and IA-32 Architectures Software
// Developer's Manual, "MOVNTPS"), but OpenCL only guarantees the alignment of a float.
constexpr const char* stream_text = R"(inline void simd_stream{0}(__global float* to, float{0} value) {{
  if (((ulong)to & (sizeof(value) - 1)) == 0)
    __builtin_nontemporal_store(value, (__global float{0}*)to);
  else
    *(__global simd_lanes{0}*)to = value;
}}
)";

std::string suffix(int lanes) { return lanes == 1 ? "" : std::to_string(lanes); }

std::string fold(Op op, std::string_view low, std::string_view high) {
  switch (op) {
    case Op::lanes_add:
      return fmt::format("{} + {}", low, high);
    case Op::lanes_multiply:
      return fmt::format("{} * {}", low, high);
    case Op::lanes_maximum:
      return choose(Op::maximum, low, high);
    case Op::lanes_minimum:
      return choose(Op::minimum, low, high);
    default:
      check_failed("a horizontal operation", __FILE__, __LINE__);
  }
}

// PoCL's `any` tests lane after lane; the builtin of the underlying compiler is one instruction.
constexpr const char* any_lane_text = R"(#ifdef __has_builtin
#if __has_builtin(__builtin_reduce_or)
#define any_lane __builtin_reduce_or
#endif
#endif
#ifndef any_lane
#define any_lane any
#endif

)";

// Combines halves as a tree, which has fewer dependent operations than combining lane by lane. A selection may lose a
// NaN, so all lanes are tested for NaN at once.
std::string fold_definition(Op op, int lanes) {
  std::string text = is_extremum(op) ? any_lane_text : "", whole = "x";
  text += fmt::format("float simd_{}{}(const float{} x) {{\n", name(op), lanes, lanes);
  for (int half = lanes / 2; half > 0; half /= 2) {
    const std::string part = fmt::format("x{}", half);
    text += fmt::format("  const float{} {} = {};\n", suffix(half), part, fold(op, whole + ".lo", whole + ".hi"));
    whole = part;
  }
  return text + fmt::format("  return {}{};\n}}\n", is_extremum(op) ? "any_lane(x != x) ? NAN : " : "", whole);
}

struct Function {
  Op op;
  const char* text;
};
constexpr std::array own_functions = {Function{Op::exp, exp_text}, Function{Op::tanh, tanh_text},
                                      Function{Op::erf, erf_text}, Function{Op::log, log_text},
                                      Function{Op::power, power_text}};
const Function* find_function(Op op) {
  const auto found = std::ranges::find(own_functions, op, &Function::op);
  return found == own_functions.end() ? nullptr : &*found;
}

}  // namespace

bool is_extremum(Op op) {
  return op == Op::maximum || op == Op::minimum || op == Op::relu || op == Op::lanes_maximum || op == Op::lanes_minimum;
}

bool has_simd(Op op) { return simd_function(op) || is_extremum(op); }

std::optional<Op> simd_function(Op op) {
  if (op == Op::sigmoid) return Op::exp;
  if (find_function(op) != nullptr || is_horizontal(op)) return op;
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
      return fmt::format("simd_{}{}({})", name(op), suffix(lanes), fmt::join(args, ", "));
  }
}

std::string simd_divide(std::string_view x, std::string_view y, int lanes) {
  return fmt::format("simd_divide{}({}, {})", lanes, x, y);
}

std::string simd_definition(Op op, int lanes) {
  if (is_horizontal(op)) return fold_definition(op, lanes);
  if (op == Op::divide) return fmt::format(fmt::runtime(divide_text), lanes);
  const Function* function = find_function(op);
  CHECK(function != nullptr);
  const std::string of_exp = fmt::format(fmt::runtime(reduce_and_approximate), suffix(lanes));
  return fmt::format(fmt::runtime(function->text), suffix(lanes), of_exp);
}

std::string simd_store(std::string_view place, std::string_view space, std::string_view value, int lanes) {
  return fmt::format("*({}{}simd_lanes{}*)&{} = {};", space, space.empty() ? "" : " ", lanes, place, value);
}

std::string simd_lanes_definition(int lanes) { return fmt::format(fmt::runtime(lanes_text), lanes); }

std::string simd_stream(std::string_view place, std::string_view value, int lanes) {
  return fmt::format("simd_stream{}(&{}, {});", lanes, place, value);
}

std::string simd_stream_definition(int lanes) { return fmt::format(fmt::runtime(stream_text), lanes); }

}  // namespace deplo::ir
