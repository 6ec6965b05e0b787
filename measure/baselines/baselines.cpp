#include "measure/baselines/baselines.h"

#include <utility>

#include "core/error.h"
#include "measure/baselines/matmul_shape.h"
#include "measure/baselines/onednn.h"
#include "measure/cuda/cublas.h"

namespace deplo::measure {
std::vector<Baseline> cublas_matmuls(const std::shared_ptr<const Cublas>& cublas, const MatmulShape& s) {
  std::vector<Baseline> both;
  for (const bool tf32 : {false, true}) {
    auto gemm = cublas->gemm({s.m, s.n, s.k, s.batch, s.b_transposed, tf32, s.a, s.b, s.c});
    if (!gemm.ok()) throw Error(gemm.failure().message, Exit::environment);
    both.push_back({"cuBLAS", cublas->version(), tf32 ? "tf32" : "fp32", 0, cublas, std::move(gemm.value())});
  }
  return both;
}

Baselines find_baselines(const ir::Program& loop, Device& device) {
  const auto shape = matmul_shape(loop);
  if (!shape) return {{}, "no library has this kernel"};
  const DeviceInfo& info = device.info();
  const bool cuda = info.backend == "cuda";
  if (!cuda && (!info.cpu || info.backend != "opencl")) return {{}, "no library for this device"};
  Baselines all;
  try {
    if (cuda)
      all.found = cublas_matmuls(std::make_shared<const Cublas>(device), *shape);
    else
      all.found.push_back(onednn_matmul(*shape));
  } catch (const Error& error) {
    all.none = error.what();
  }
  return all;
}

}  // namespace deplo::measure
