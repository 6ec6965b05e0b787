// cuBLAS, opened at run time. deplo's matmuls are compared with it.
#pragma once
#include <filesystem>
#include <memory>
#include <string>

#include "measure/device.h"

namespace deplo::measure {

/// A row-major product c[m, n] = a[m, k] b[k, n] for each element of the batch. The matrices of a batch are stored
/// densely one after another.
struct Gemm {
  std::int64_t m = 1, n = 1, k = 1, batch = 1;
  bool b_transposed = false;  // b is stored as [n, k]
  bool tf32 = false;          // f32 factors are rounded to 11 bits and multiplied on tensor cores; else fp32 throughout
  std::size_t a = 0, b = 1, c = 2;  // the buffers' indices in the arrays
  /// `factors`: type of a and b: f32, f16 or bf16. `result`: type of c: f32, or the 16-bit type of the factors. Sums
  /// are always f32.
  ir::DType factors = ir::DType::f32, result = ir::DType::f32;
};

/// A cuBLAS handle of one device. The device must outlive it, and it must outlive the executables. Not thread-safe.
class Cublas {
 public:
  /// `device`: a device of open_cuda(). Throws a one-line Error(environment) if there is no cuBLAS 12 or later.
  explicit Cublas(Device& device);
  Cublas(Device& device, const std::filesystem::path& library);
  ~Cublas();
  /// The version of cuBLAS, such as "13.0.2".
  const std::string& version() const;
  /// Returns an executable with a grid of one block. Launch it once before the first sample, because cuBLAS loads its
  /// kernels at that launch. Fails with Status::invalid if an extent exceeds cuBLAS's 32 bits.
  Result<std::unique_ptr<Executable>> gemm(const Gemm&) const;

 private:
  struct Handle;
  std::unique_ptr<Handle> handle_;
};

}  // namespace deplo::measure
