#include "measure/baselines/baselines.h"

#include <utility>

#include "core/error.h"
#include "measure/baselines/onednn.h"
#include "measure/baselines/tile_baseline.h"
#include "measure/cuda/cublas.h"
#include "measure/matmul_shape.h"

namespace deplo::measure {
std::vector<Baseline> cublas_matmuls(const std::shared_ptr<const Cublas>& cublas, const MatmulShape& s) {
  std::vector<Baseline> found;
  const auto add = [&](std::string_view precision, bool tf32) {
    auto gemm = cublas->gemm(s, tf32);
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

Baselines find_baselines(const ir::Program& loop, Device& device, const std::optional<TileCall>& tile) {
  const auto shape = matmul_shape(loop);
  const DeviceInfo& info = device.info();
  const bool cuda = info.backend == "cuda";
  const bool host = info.cpu && info.backend == "opencl" && shape && shape->factors == ir::DType::f32;
  Baselines all;
  const auto attempt = [&](auto add) {
    try {
      add();
    } catch (const Error& error) {
      all.none += all.none.empty() ? error.what() : std::string("; ") + error.what();
    }
  };
  if (cuda && shape) attempt([&] { all.found = cublas_matmuls(std::make_shared<const Cublas>(device), *shape); });
  if (host) attempt([&] { all.found.push_back(onednn_matmul(*shape)); });
  if (cuda && tile)
    attempt([&] { all.found.push_back(tile_baseline(*tile, loop.buffers, zeroed_buffers(loop), device)); });
  if (all.found.empty() && all.none.empty())
    all.none = shape ? "no library for this device" : "no library has this kernel";
  return all;
}

}  // namespace deplo::measure
