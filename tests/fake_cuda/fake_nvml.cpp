// The functions of nvml.h that measure/cuda/nvml.cpp uses.
#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "fake_cuda/fake_call.h"

using namespace deplo::measure::cuda;

namespace {

constexpr int not_found = 6;  // NVML_ERROR_NOT_FOUND

}  // namespace

extern "C" {

int nvmlInit_v2() {
  BEGIN("nvmlInit");
  return 0;
}
const char* nvmlErrorString(int code) { return code == not_found ? "Not Found" : "Not Supported"; }
int nvmlDeviceGetHandleByPciBusId_v2(const char* bus, void** device) {
  BEGIN("nvmlDeviceGetHandleByPciBusId {}", bus);
  if (std::strcmp(bus, "0000:2a:00.0") != 0) return not_found;
  *device = &state;
  return 0;
}
// Power is constant. The counter has the energy up to its last step.
int nvmlDeviceGetTotalEnergyConsumption(void*, unsigned long long* millijoules) {
  BEGIN("nvmlDeviceGetTotalEnergyConsumption");
  const double step = std::floor(state.now_us / state.energy_step_us) * state.energy_step_us;
  *millijoules = static_cast<unsigned long long>(123'456'789 + state.watts * step * 1e-3);
  return 0;
}

}  // extern "C"
