// Private to the interpreter.
#pragma once
#include <cstdint>

namespace deplo::ir {

/// out[i] = f(i) for n elements.
template <class F>
void each(std::int64_t n, double* out, F f) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = f(i);
}

}  // namespace deplo::ir
