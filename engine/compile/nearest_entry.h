// For a kernel without a measured schedule, finds the nearest entry of the store and says why it does not fit.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/program.h"
#include "measure/device_info.h"
#include "measure/store/store.h"

namespace deplo::engine {

/// The kernels of a store that have a valid time: one entry per kernel and device.
class Entries {
 public:
  /// `device`: the device that needs schedules. `id`: its id in the store, or nullopt if nothing was measured on it.
  Entries(measure::Store&, measure::DeviceInfo device, std::optional<std::int64_t> id);

  /// Returns "the nearest entry is NAME: its sizes are …, not …". The nearest entry has the fewest differences from the
  /// kernel, counting device, dtypes, permission of tf32, and sizes. Ties go to an entry of this device, then to the
  /// nearest sizes. `kernel` must be verified Loop IR.
  std::string nearest(const ir::Program& kernel) const;

 private:
  struct Entry {
    measure::TimedKernel timed;
    ir::Program loop;
    std::string form;  // comparable_form() of the loop (in the source file)
  };
  std::vector<Entry> entries_;
  measure::DeviceInfo device_;
  std::optional<std::int64_t> id_;
};

}  // namespace deplo::engine
