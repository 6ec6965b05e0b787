// Names that have another meaning in the emitted source.
#pragma once
#include <string_view>

namespace deplo::ir {

/// True if OpenCL C, CUDA C++ or the emitter's own lines use the word. A buffer, an axis or a value of that name would
/// not compile, or would hide a function that the kernel calls.
bool is_reserved(std::string_view name);

}  // namespace deplo::ir
