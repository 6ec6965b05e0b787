// What a store has times of that can be compared with each other.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "measure/device_info.h"

namespace deplo::engine {

/// A kernel, a device and a protocol, with the numbers that measure::Store::known_trials() takes.
struct StoreKey {
  std::int64_t kernel = 0, device = 0;
  std::string name, text;  // the kernel's
  std::string protocol;
  measure::DeviceInfo info;  // of the device
};

/// All that have trials, in the order of their numbers. Left out are the guesses of less effort, which have protocols
/// of their own: every valid time under one of those is `stopped`. Throws Error; also where there is no such file.
std::vector<StoreKey> store_keys(const std::string& store);

}  // namespace deplo::engine
