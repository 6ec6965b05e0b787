// Reads and writes the columns of a device's row.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "measure/device_info.h"
#include "measure/sqlite/sqlite.h"

namespace deplo::measure {

/// The columns of a device `d`, in the order of read_device().
std::string device_columns();
/// `first`: the index of the first of these columns.
DeviceInfo read_device(const sqlite::Statement& row, int first);

/// Inserts the device unless the store has it.
void insert_device(sqlite::Database&, const DeviceInfo&);
/// The id of the device with the same backend, name, vendor, driver, platform and units.
std::optional<std::int64_t> find_device(sqlite::Database&, const DeviceInfo&);

}  // namespace deplo::measure
