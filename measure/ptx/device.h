// The PTX machine as a device: the CUDA source of a candidate goes through NVRTC, and the machine executes the PTX.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "measure/device.h"

namespace deplo::measure {

/// "ptx:sm_90:7:truncated" in its parts.
struct PtxName {
  std::string architecture;
  std::uint64_t seed = 0;
  bool truncates = false;
};
/// Throws Error as open_ptx() does if the name has another form.
PtxName parse_ptx_name(std::string_view name);

/// `name`: "ptx:sm_90", "ptx:sm_90:7", in which 7 is the seed of the interleaving [0], or one of these with
/// ":truncated" behind it: matrix instructions then add as tensor cores do (LaunchOptions::truncates). A kernel that
/// needs architecture-specific features is built for "sm_90a". Throws Error(environment) in one line if there is no
/// NVRTC, or if it does not know the architecture.
std::unique_ptr<Device> open_ptx(std::string_view name);

/// Whether the device measures time, by its name or its DeviceInfo's backend. The PTX machine does not.
inline bool has_times(std::string_view device) { return !device.starts_with("ptx"); }

}  // namespace deplo::measure
