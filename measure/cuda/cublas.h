// cuBLAS, opened at run time. deplo's matmuls are compared with it.
#pragma once
#include <filesystem>
#include <memory>
#include <string>

#include "measure/device.h"

namespace deplo::measure {

struct MatmulShape;

/// A cuBLAS handle of one device. The device must outlive it, and it must outlive the executables. Not thread-safe.
class Cublas {
 public:
  /// `device`: a device of open_cuda(). Throws a one-line Error(environment) if there is no cuBLAS 12 or later.
  /// `library`: opens exactly this file; "": any.
  explicit Cublas(Device& device, const std::filesystem::path& library = {});
  ~Cublas();
  /// The version of cuBLAS, such as "13.0.2".
  const std::string& version() const;
  /// Returns an executable with a grid of one block. Launch it once before the first sample, because cuBLAS loads its
  /// kernels at that launch. Sums are always f32. `tf32`: f32 factors are rounded to 11 bits and multiplied on tensor
  /// cores; else fp32 throughout. Fails with Status::invalid if an extent exceeds cuBLAS's 32 bits.
  Result<std::unique_ptr<Executable>> gemm(const MatmulShape&, bool tf32 = false) const;

 private:
  struct Handle;
  std::unique_ptr<Handle> handle_;
};

}  // namespace deplo::measure
