// Kernels of Loop IR with shapes that no file of configs/kernels has. Extents are symbols, so that tests choose them.
#pragma once
#include <span>

namespace deplo::rules {

struct InlineKernel {
  const char* name;
  const char* text;
};
std::span<const InlineKernel> inline_kernels();

}  // namespace deplo::rules
