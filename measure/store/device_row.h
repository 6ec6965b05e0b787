// A device as the columns of its row.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "measure/device_info.h"
#include "measure/sqlite/sqlite.h"

namespace deplo::measure {

/// Of a device `d`, as read_device() reads them.
std::string device_columns();
/// `first`: the place of the first of these columns.
DeviceInfo read_device(const sqlite::Statement& row, int first);

/// Unless it is there.
void insert_device(sqlite::Database&, const DeviceInfo&);
/// The id of the device with the same backend, name, vendor, driver, platform and units.
std::optional<std::int64_t> find_device(sqlite::Database&, const DeviceInfo&);

}  // namespace deplo::measure
