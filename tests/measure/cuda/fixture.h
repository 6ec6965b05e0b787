// Shared by the tests of the CUDA compiler.
#pragma once
#include <gtest/gtest.h>

#include <string>

#include "core/target.h"
#include "measure/cuda/compiler/compile.h"
#include "measure/cuda/compiler/nvrtc.h"

namespace deplo::measure::cuda {

/// Skips the test if NVRTC is missing or does not know the architecture.
#define DEPLO_NEED_NVRTC(architecture)                                                           \
  do {                                                                                           \
    using ::deplo::measure::cuda::Nvrtc;                                                         \
    if (!Nvrtc::available()) GTEST_SKIP() << "no NVRTC: CUDA kernels are not compiled";          \
    if (!Nvrtc::get().supports(architecture))                                                    \
      GTEST_SKIP() << "NVRTC " << Nvrtc::get().version() << " does not know " << (architecture); \
  } while (false)

/// Returns a handwritten CUDA kernel with the entry `k`.
inline ir::KernelSource source_of(std::string text, std::int64_t threads = 128) {
  return {.entry = "k", .text = std::move(text), .threads = threads};
}

/// Returns a kernel that uses 300 floats of static shared memory and some registers.
inline ir::KernelSource small_source() {
  return source_of(R"(extern "C" __global__ void __launch_bounds__(128) k(float* x, const int n) {
  __shared__ float s[300];
  s[threadIdx.x] = x[n * threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = s[threadIdx.x ^ 1] + expf(x[3]);
})");
}

}  // namespace deplo::measure::cuda
