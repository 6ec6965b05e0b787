// The PTX machine as a device: NVRTC compiles the CUDA source of a candidate, and the machine executes the PTX.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "measure/device.h"

namespace deplo::measure {

/// The parts of a name such as "ptx:sm_90:7:truncated".
struct PtxName {
  std::string architecture;
  std::uint64_t seed = 0;
  bool truncates = false;
};
/// Splits a name. Throws Error if the name has another form.
PtxName parse_ptx_name(std::string_view name);

/// Opens the PTX machine as a device. `name`: "ptx:sm_90", or "ptx:sm_90:7", in which 7 is the seed of the interleaving
/// (default 0). If ":truncated" follows, matrix instructions add as tensor cores do (LaunchOptions::truncates). A
/// kernel that needs architecture-specific features is built for "sm_90a". Throws a one-line Error(environment) if
/// there is no NVRTC, or if NVRTC does not know the architecture.
std::unique_ptr<Device> open_ptx(std::string_view name);

/// True if the device can measure time. `device`: its name or the backend of its DeviceInfo. The PTX machine has no
/// clock.
inline bool has_times(std::string_view device) { return !device.starts_with("ptx"); }

}  // namespace deplo::measure
