// The sum of a matrix instruction's products, as tensor cores add them.
#pragma once
#include <cstddef>
#include <span>
#include <string_view>

namespace deplo::measure::ptx {

/// An element of a matrix and the exponent by which tensor cores align it: the exponent of its leading bit, or for a
/// subnormal number the exponent of the smallest normal number.
struct Aligned {
  double value = 0;
  int exponent = 0;  // not used if the value is 0
};

/// The truncated fused dot product of Xie et al., "MMA-Sim: Bit-Accurate Reference Model of Tensor Cores and Matrix
/// Cores" (arXiv 2511.10909). A few products and the sum so far are aligned to the greatest exponent among them,
/// truncated (not rounded) after `fraction_bits`, added exactly, and truncated to f32. An instruction with more
/// products than fit in `operand_bytes` repeats these steps.
struct TensorSum {
  int fraction_bits = 0;
  std::size_t operand_bytes = 0;  // bytes of each operand that are multiplied at a time

  /// Returns sum + a · b. `a` and `b` have the same number of elements, of `element_bytes` each. NaN and infinities
  /// give what IEEE 754 gives.
  float operator()(std::span<const Aligned> a, std::span<const Aligned> b, float sum, std::size_t element_bytes) const;
};

/// Returns the TensorSum of an architecture from sm_80 on, such as "sm_90a".
TensorSum tensor_sum_of(std::string_view architecture);

}  // namespace deplo::measure::ptx
