// Functions of floats, which instructions on f32, f64 and the 16-bit floats compute.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

namespace deplo::measure::ptx {

template <class F>
struct Saturated {
  template <class... T>
  auto operator()(T... x) const {
    const auto value = F{}(x...);
    using V = std::remove_const_t<decltype(value)>;
    return value > V{0} ? std::min(value, V{1}) : V{0};  // PTX ISA, ".sat": NaN becomes +0
  }
};
using FloatAdd = decltype([](auto a, auto b) { return a + b; });
using FloatSubtract = decltype([](auto a, auto b) { return a - b; });
using FloatMultiply = decltype([](auto a, auto b) { return a * b; });
using FloatDivide = decltype([](auto a, auto b) { return a / b; });
template <bool keeps_nan>
struct FloatLeast {
  template <class T>
  T operator()(T a, T b) const {
    if (std::isnan(a) || std::isnan(b))
      return keeps_nan || (std::isnan(a) && std::isnan(b)) ? std::numeric_limits<T>::quiet_NaN()
             : std::isnan(a)                               ? b
                                                           : a;
    return a == b ? (std::signbit(a) ? a : b) : std::min(a, b);
  }
};
template <bool keeps_nan>
struct FloatMost {
  template <class T>
  T operator()(T a, T b) const {
    return -FloatLeast<keeps_nan>{}(-a, -b);
  }
};
using FloatAbsolute = decltype([](auto a) { return std::fabs(a); });
using FloatNegative = decltype([](auto a) { return -a; });
// PTX ISA, "copysign": the sign of a, the magnitude of b
using CopySign = decltype([](auto a, auto b) { return std::copysign(b, a); });
// computed in double, so that the results are rounded once
using Exp2 = decltype([](float a) { return static_cast<float>(std::exp2(static_cast<double>(a))); });
using Tanh = decltype([](float a) { return static_cast<float>(std::tanh(static_cast<double>(a))); });

}  // namespace deplo::measure::ptx
