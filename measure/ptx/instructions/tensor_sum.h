// How tensor cores add the products of a matrix instruction.
#pragma once
#include <cstddef>
#include <span>
#include <string_view>

namespace deplo::measure::ptx {

/// A number of a matrix and the exponent by which tensor cores align it: that of its leading bit, but of a subnormal
/// number that of the least normal one.
struct Aligned {
  double value = 0;
  int exponent = 0;  // not used if the value is 0
};

/// The truncated fused dot product of Xie et al., "MMA-Sim: Bit-Accurate Reference Model of Tensor Cores and Matrix
/// Cores" (arXiv 2511.10909): a few products and the sum so far are aligned to the greatest exponent among them, cut
/// off (not rounded) behind `fraction_bits`, added exactly, and cut off to f32. An instruction with more products than
/// fit `operand_bytes` repeats that.
struct TensorSum {
  int fraction_bits = 0;
  std::size_t operand_bytes = 0;  // of the elements of an operand that are multiplied at a time

  /// `a` and `b` have as many elements, each of `element_bytes`. NaN and infinities give what IEEE 754 gives.
  float operator()(std::span<const Aligned> a, std::span<const Aligned> b, float sum, std::size_t element_bytes) const;
};

/// That of an architecture from sm_80 on, such as "sm_90a".
TensorSum tensor_sum_of(std::string_view architecture);

}  // namespace deplo::measure::ptx
