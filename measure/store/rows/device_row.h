// Reads and writes the columns of a device's row.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "measure/device_info.h"
#include "measure/sqlite/sqlite.h"

namespace deplo::measure {

/// Returns the columns of a device `d` as SQL, in the order of read_device().
std::string device_columns();
/// Reads a device from the columns of device_columns(). `first`: the index of the first of these columns.
DeviceInfo read_device(const sqlite::Statement& row, int first);

/// Inserts the device unless the store has it.
void insert_device(sqlite::Database&, const DeviceInfo&);
/// Returns the id of the device with the same backend, name, vendor, driver, platform and units, if there is one.
std::optional<std::int64_t> find_device(sqlite::Database&, const DeviceInfo&);

}  // namespace deplo::measure
