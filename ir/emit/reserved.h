// Names that mean something else in the emitted source.
#pragma once
#include <string_view>

namespace deplo::ir {

/// Whether OpenCL C, CUDA C++ or the emitter's own lines use the word: a buffer, an axis or a value of that name would
/// not compile, or hide a function that the kernel calls.
bool is_reserved(std::string_view name);

}  // namespace deplo::ir
