// Kernel IR → source text. One tree walk, one dialect each for OpenCL C and CUDA C++.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/target.h"
#include "ir/program.h"

namespace deplo::ir {

/// What a backend needs to build and launch. The arguments are the program's buffers, in order; the launch is
/// one-dimensional: `blocks` blocks of `threads` threads.
struct KernelSource {
  /// A CUtensorMap argument (CUDA driver API, cuTensorMapEncodeTiled), passed by value behind the buffers. Dimensions
  /// in the order of the buffer: the driver wants the last one first. Strides and box in elements.
  struct TensorMap {
    std::size_t buffer = 0;  // number in the program
    std::vector<std::int64_t> shape, strides, box;
    int swizzle = 0;  // bytes: 0, 32, 64, 128
  };
  std::string entry;  // name of the kernel function
  std::string text;
  std::int64_t blocks = 1;
  std::int64_t threads = 1;
  std::int64_t shared_bytes = 0;  // all of it
  bool dynamic_shared = false;    // CUDA, above 48 KiB: the launch passes shared_bytes
  std::vector<TensorMap> tensor_maps = {};
  std::vector<std::size_t> zeroed = {};  // buffers that a launch of its own fills with 0 before each launch (+= writes)
  std::int64_t cluster = 1;  // neighbouring blocks that run at the same time: so many divide `blocks`; the text says it
  bool dry_run =
      true;  // a block may be run on arrays of any contents before the first launch: it neither prints nor waits
  bool architecture_specific = false;  // CUDA: of one architecture, built for "sm_90a", not "sm_90" (wgmma, multicast)
};

/// `kernel` is a verified Kernel IR program.
KernelSource emit(const Program& kernel, const Target&);

}  // namespace deplo::ir
