// Converts Kernel IR to source text. One tree walk serves both dialects, OpenCL C and CUDA C++.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/target.h"
#include "ir/program.h"

namespace deplo::ir {

/// Everything that a backend needs to build and launch a kernel. The arguments are the program's buffers, in order. The
/// launch is one-dimensional: `blocks` blocks of `threads` threads.
struct KernelSource {
  /// A CUtensorMap argument (CUDA driver API, cuTensorMapEncodeTiled), passed by value after the buffers. The
  /// dimensions are in the buffer's order; the driver expects the last dimension first. Strides and box are in
  /// elements.
  struct TensorMap {
    std::size_t buffer = 0;  // the buffer's number in the program
    std::vector<std::int64_t> shape, strides, box;
    int swizzle = 0;  // in bytes: 0, 32, 64 or 128
  };
  std::string entry;  // name of the kernel function
  std::string text;
  std::int64_t blocks = 1;
  std::int64_t threads = 1;
  std::int64_t shared_bytes = 0;  // total shared memory of a block
  bool dynamic_shared = false;    // CUDA, above 48 KiB: the launch must pass shared_bytes
  std::vector<TensorMap> tensor_maps = {};
  std::vector<std::size_t> zeroed = {};    // buffers that a separate launch zeroes before each launch (zeroed_buffers)
  std::vector<std::size_t> restored = {};  // buffers whose saved contents are restored before each launch
  // Number of blocks in a cluster. It divides `blocks`, and the source text declares it, too.
  std::int64_t cluster = 1;
  // True if a block may run on arbitrary data before the first launch, because it neither prints nor waits.
  bool dry_run = true;
  bool architecture_specific = false;  // CUDA: build for "sm_90a", not "sm_90" (wgmma, multicast, setmaxnreg)
};

/// Emits the source of `kernel`, which must be a verified Kernel IR program.
KernelSource emit(const Program& kernel, const Target&);

}  // namespace deplo::ir
