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

// Below ln 2^-126 the result is no normal number, above ln (2^128 - 2^104) no finite one.
constexpr const char* exp_text = R"(float{0} simd_exp{0}(const float{0} x) {{
{1}  float{0} y = as_float{0}(as_int{0}(p + 1.0f) + (as_int{0}(t) << 23));
  y = x < -87.336544f ? (float{0})(0.0f) : y;
  return x > 88.722839f ? (float{0})(INFINITY) : y;
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

std::string suffix(int lanes) { return lanes == 1 ? "" : std::to_string(lanes); }

}  // namespace

bool has_simd(Op op) { return op == Op::exp || op == Op::tanh || op == Op::sigmoid; }

std::string simd_call(Op op, std::string_view x, int lanes) {
  if (op == Op::sigmoid) return fmt::format("1.0f / (1.0f + simd_exp{}(-{}))", suffix(lanes), x);
  CHECK(op == Op::exp || op == Op::tanh);
  return fmt::format("simd_{}{}({})", op == Op::exp ? "exp" : "tanh", suffix(lanes), x);
}

std::string simd_definition(Op op, int lanes) {
  CHECK(op == Op::exp || op == Op::tanh);
  const bool exp = op == Op::exp;
  const std::string middle = fmt::format(fmt::runtime(reduce_and_approximate), suffix(lanes), exp ? "x" : "a");
  return fmt::format(fmt::runtime(exp ? exp_text : tanh_text), suffix(lanes), middle);
}

}  // namespace deplo::ir
