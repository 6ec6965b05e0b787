#include "measure/ptx/instructions/tensor_sum.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/target.h"

namespace deplo::measure::ptx {
namespace {

constexpr int least_exponent = std::numeric_limits<float>::min_exponent - 1;  // of the smallest normal f32

/// Truncates `x` to an f32 (rounds it towards 0).
float cut_off(double x) {
  if (std::abs(x) >= 0x1p128) return static_cast<float>(std::copysign(std::numeric_limits<double>::infinity(), x));
  const auto rounded = static_cast<float>(x);
  return std::abs(static_cast<double>(rounded)) > std::abs(x) ? std::nextafter(rounded, 0.0F) : rounded;
}

float fused(std::span<const Aligned> a, std::span<const Aligned> b, float sum, int fraction_bits) {
  double plain = sum;
  for (std::size_t k = 0; k < a.size(); ++k) plain += a[k].value * b[k].value;
  if (!std::isfinite(plain)) return static_cast<float>(plain);
  int greatest = sum == 0 ? least_exponent : std::max(std::ilogb(sum), least_exponent);
  for (std::size_t k = 0; k < a.size(); ++k)
    if (a[k].value != 0 && b[k].value != 0) greatest = std::max(greatest, a[k].exponent + b[k].exponent);
  const int scale = fraction_bits - greatest;
  double total = std::trunc(std::ldexp(static_cast<double>(sum), scale));
  for (std::size_t k = 0; k < a.size(); ++k) total += std::trunc(std::ldexp(a[k].value * b[k].value, scale));
  return cut_off(std::ldexp(total, -scale));
}

}  // namespace

float TensorSum::operator()(std::span<const Aligned> a, std::span<const Aligned> b, float sum,
                            std::size_t element_bytes) const {
  const std::size_t terms = operand_bytes / element_bytes;
  for (std::size_t k = 0; k < a.size(); k += terms) {
    const std::size_t count = std::min(terms, a.size() - k);
    sum = fused(a.subspan(k, count), b.subspan(k, count), sum, fraction_bits);
  }
  return sum;
}

// MMA-Sim, the table of NVIDIA's architectures: Ampere and Ada have the first values, Hopper and both Blackwells the
// second.
TensorSum tensor_sum_of(std::string_view architecture) {
  return compute_capability(architecture) < 90 ? TensorSum{.fraction_bits = 24, .operand_bytes = 16}
                                               : TensorSum{.fraction_bits = 25, .operand_bytes = 32};
}

}  // namespace deplo::measure::ptx
