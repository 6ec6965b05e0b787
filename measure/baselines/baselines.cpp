#include "measure/baselines/baselines.h"

#include "core/error.h"
#include "measure/baselines/matmul_shape.h"
#include "measure/baselines/onednn.h"

namespace deplo::measure {

Baselines find_baselines(const ir::Program& loop, Device& device) {
  const auto shape = matmul_shape(loop);
  if (!shape) return {{}, "no library has this kernel"};
  const DeviceInfo& info = device.info();
  if (!info.cpu || info.backend != "opencl") return {{}, "no library for this device"};
  Baselines all;
  try {
    all.found.push_back(onednn_matmul(*shape));
  } catch (const Error& error) {
    all.none = error.what();
  }
  return all;
}

}  // namespace deplo::measure
