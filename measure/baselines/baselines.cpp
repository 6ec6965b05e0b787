#include "measure/baselines/baselines.h"

#include "core/error.h"
#include "measure/baselines/matmul_shape.h"
#include "measure/baselines/onednn.h"
#include "measure/cuda/cublas.h"

namespace deplo::measure {
namespace {

// In fp32 throughout: TF32 is beyond the tolerance of the check, which all contenders must pass.
Baseline cublas_matmul(const MatmulShape& s, Device& device) {
  auto cublas = std::make_shared<const Cublas>(device);
  auto gemm = cublas->gemm({s.m, s.n, s.k, s.batch, s.b_transposed, false, s.a, s.b, s.c});
  if (!gemm.ok()) throw Error(gemm.failure().message, Exit::environment);
  return {"cuBLAS", cublas->version(), "fp32", 0, cublas, std::move(gemm.value())};
}

}  // namespace

Baselines find_baselines(const ir::Program& loop, Device& device) {
  const auto shape = matmul_shape(loop);
  if (!shape) return {{}, "no library has this kernel"};
  const DeviceInfo& info = device.info();
  const bool cuda = info.backend == "cuda";
  if (!cuda && (!info.cpu || info.backend != "opencl")) return {{}, "no library for this device"};
  Baselines all;
  try {
    all.found.push_back(cuda ? cublas_matmul(*shape, device) : onednn_matmul(*shape));
  } catch (const Error& error) {
    all.none = error.what();
  }
  return all;
}

}  // namespace deplo::measure
