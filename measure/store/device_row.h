// A device as the columns of its row.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "measure/device_info.h"
#include "measure/sqlite/sqlite.h"

namespace deplo::measure {

/// Of a device `d`, as read_device() reads them.
inline constexpr std::string_view device_columns =
    "d.backend, d.name, d.vendor, d.driver, d.platform, d.units, d.clock_mhz, d.shared_bytes, d.max_threads, d.cpu, "
    "d.architecture, d.l2_bytes, d.memory_bytes";
/// `first`: the place of the first of these columns.
DeviceInfo read_device(const Statement& row, int first);

/// The id of the device with the same backend, name, vendor, driver, platform and units.
std::optional<std::int64_t> find_device(Database&, const DeviceInfo&);

}  // namespace deplo::measure
