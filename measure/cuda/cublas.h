// cuBLAS, opened at run time: what a matmul of ours is compared with.
#pragma once
#include <filesystem>
#include <memory>
#include <string>

#include "measure/device.h"

namespace deplo::measure {

/// Row-major c[m, n] = a[m, k] b[k, n], for each of the batch, where the buffers lie densely one behind the other.
struct Gemm {
  std::int64_t m = 1, n = 1, k = 1, batch = 1;
  bool b_transposed = false;        // b is [n, k]
  bool tf32 = false;                // f32 factors rounded to 11 bits, on tensor cores; else fp32 throughout
  std::size_t a = 0, b = 1, c = 2;  // the buffers' numbers in the arrays
  /// Of a and b: f32, f16 or bf16. Of c: f32, or with 16 bits the same. The sums are f32 throughout.
  ir::DType factors = ir::DType::f32, result = ir::DType::f32;
};

/// One device's handle. The device must outlive it, and it the executables. Not thread-safe.
class Cublas {
 public:
  /// `device`: of open_cuda(). Throws Error(environment) in one line where there is no cuBLAS 12 or later.
  explicit Cublas(Device& device);
  Cublas(Device& device, const std::filesystem::path& library);
  ~Cublas();
  /// "13.0.2"
  const std::string& version() const;
  /// Timed as every executable is: launch it once before the first sample, because cuBLAS loads its kernels then. A
  /// grid of 1 block. Fails with invalid where an extent is beyond cuBLAS's 32 bits.
  Result<std::unique_ptr<Executable>> gemm(const Gemm&) const;

 private:
  struct Handle;
  std::unique_ptr<Handle> handle_;
};

}  // namespace deplo::measure
