// Groups of times in a store that can be compared with each other.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "measure/device_info.h"

namespace deplo::engine {

/// A kernel, a device and a protocol, with the ids that measure::Store::known_trials() takes.
struct StoreKey {
  std::int64_t kernel = 0, device = 0;
  std::string name, text, key;  // the kernel's
  std::string protocol;
  std::int64_t latest = 0;   // the id of its latest trial
  std::string first_trail;   // of its first trial: what tuning began with
  measure::DeviceInfo info;  // of the device
};

/// All keys that have trials, in the order of their ids. Left out are protocols of less effort, under which every valid
/// time is `stopped`. Throws Error, also if there is no such file.
std::vector<StoreKey> store_keys(const std::string& store);

}  // namespace deplo::engine
