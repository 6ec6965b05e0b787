// Groups of trials in a store whose times can be compared with each other.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "measure/device_info.h"
#include "measure/store/store.h"

namespace deplo::engine {

/// A kernel, a device and a protocol, with the ids that measure::Store::known_trials() takes.
struct StoreKey {
  std::int64_t kernel = 0, device = 0;
  std::string name, text, key;  // of the kernel
  std::string protocol;
  std::int64_t latest = 0;  // id of the latest trial
  std::string first_trail;  // trail of the first trial, with which tuning began
  measure::DeviceInfo info;
};

/// Returns all keys that have trials, in the order of their ids. Reduced-effort protocols, under which every valid time
/// is `stopped`, are left out. Throws Error, also if the file does not exist.
std::vector<StoreKey> store_keys(const std::string& store);

/// Returns the latest trial of each trail, if its time is valid.
std::vector<measure::KnownTrial> valid_trials(measure::Store&, const StoreKey&);

}  // namespace deplo::engine
