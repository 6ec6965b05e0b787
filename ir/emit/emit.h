// Kernel IR → source text. One tree walk, one dialect each for OpenCL C and CUDA C++.
#pragma once
#include <cstdint>
#include <string>

#include "core/target.h"
#include "ir/program.h"

namespace deplo::ir {

/// What a backend needs to build and launch. The arguments are the program's buffers, in order; the launch is
/// one-dimensional: `blocks` blocks of `threads` threads.
struct KernelSource {
  std::string entry;  // name of the kernel function
  std::string text;
  std::int64_t blocks = 1;
  std::int64_t threads = 1;
  std::int64_t shared_bytes = 0;
};

/// `kernel` is a verified Kernel IR program. Throws Error when an element type (f16, bf16) has no emitter yet.
KernelSource emit(const Program& kernel, const Target&);

}  // namespace deplo::ir
