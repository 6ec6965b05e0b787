// For a kernel without a measured schedule: the nearest entry of the store, and why it does not fit.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/program.h"
#include "measure/device_info.h"
#include "measure/store/store.h"

namespace deplo::engine {

/// The kernels of a store with a valid time: one entry for each kernel and device.
class Entries {
 public:
  /// `device`: the device that schedules are wanted for. `id`: its id in the store; nullopt if nothing was measured on
  /// it.
  Entries(measure::Store&, measure::DeviceInfo device, std::optional<std::int64_t> id);

  /// "the nearest entry is NAME: its sizes are …, not …". It is the entry with the fewest differences from the kernel
  /// among device, dtypes, permission of tf32, and sizes. Of several, one of this device wins, then the nearest sizes.
  /// `kernel` must be verified Loop IR.
  std::string nearest(const ir::Program& kernel) const;

 private:
  struct Entry {
    measure::TimedKernel timed;
    ir::Program loop;
    std::string form;  // for comparisons: comparable_form() in the source file
  };
  std::vector<Entry> entries_;
  measure::DeviceInfo device_;
  std::optional<std::int64_t> id_;
};

}  // namespace deplo::engine
