// What a store has in place of a kernel's measured schedule: the entry that is nearest to the kernel, and why it does
// not fit.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/program.h"
#include "measure/device_info.h"
#include "measure/store/store.h"

namespace deplo::engine {

/// The kernels of a store that have a valid time, each on each device.
class Entries {
 public:
  /// `device`: where schedules are wanted; `id`: its number in the store, nullopt if nothing was measured on it.
  Entries(measure::Store&, measure::DeviceInfo device, std::optional<std::int64_t> id);

  /// "the nearest entry is NAME: its sizes are …, not …": the entry with the fewest differences from the kernel, of
  /// device, dtypes, permission of tf32 and sizes; of several such, one of this device, then the nearest sizes.
  /// `kernel` is verified Loop IR.
  std::string nearest(const ir::Program& kernel) const;

 private:
  struct Entry {
    measure::TimedKernel timed;
    ir::Program loop;
    std::string form;  // what is compared: comparable_form() in the source file
  };
  std::vector<Entry> entries_;
  measure::DeviceInfo device_;
  std::optional<std::int64_t> id_;
};

}  // namespace deplo::engine
