#include "measure/baselines/baselines.h"

#include <utility>

#include "core/error.h"
#include "measure/baselines/matmul_shape.h"
#include "measure/baselines/onednn.h"
#include "measure/cuda/cublas.h"

namespace deplo::measure {
std::vector<Baseline> cublas_matmuls(const std::shared_ptr<const Cublas>& cublas, const MatmulShape& s) {
  std::vector<Baseline> found;
  const auto add = [&](std::string_view precision, bool tf32) {
    auto gemm = cublas->gemm({s.m, s.n, s.k, s.batch, s.b_transposed, tf32, s.a, s.b, s.c, s.factors, s.result});
    if (!gemm.ok()) throw Error(gemm.failure().message, Exit::environment);
    found.push_back({"cuBLAS", cublas->version(), std::string(precision), 0, cublas, std::move(gemm.value())});
  };
  if (s.factors != ir::DType::f32) {
    add(name(s.factors), false);
  } else {
    add("fp32", false);
    add("tf32", true);
  }
  return found;
}

Baselines find_baselines(const ir::Program& loop, Device& device) {
  const auto shape = matmul_shape(loop);
  if (!shape) return {{}, "no library has this kernel"};
  const DeviceInfo& info = device.info();
  const bool cuda = info.backend == "cuda";
  const bool host = info.cpu && info.backend == "opencl" && shape->factors == ir::DType::f32;
  if (!cuda && !host) return {{}, "no library for this device"};
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
