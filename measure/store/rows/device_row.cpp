#include "measure/store/rows/device_row.h"

#include "measure/fields.h"
#include "measure/store/rows/columns.h"

namespace deplo::measure {
namespace {

ColumnNames device_names(std::string_view table) {
  const DeviceInfo any;
  ColumnNames columns(table);
  list_fields(any, columns);
  return columns;
}

}  // namespace

std::string device_columns() { return device_names("d").text(); }

DeviceInfo read_device(const sqlite::Statement& row, int first) {
  DeviceInfo info;
  ColumnReader columns(row, first);
  list_fields(info, columns);
  return info;
}

// If an earlier version stored the device without an architecture, adds it now, because schedules may depend on it.
void insert_device(sqlite::Database& database, const DeviceInfo& info) {
  sqlite::Statement insert(database, device_names("").insert_into("device") +
                                         " ON CONFLICT (backend, name, vendor, driver, platform, units) DO UPDATE SET "
                                         "architecture = excluded.architecture WHERE architecture = ''");
  ColumnBinder values(insert);
  list_fields(info, values);
  insert.step();
}

std::optional<std::int64_t> find_device(sqlite::Database& database, const DeviceInfo& info) {
  sqlite::Statement select(database,
                           "SELECT id FROM device WHERE backend = ? AND name = ? AND vendor = ? AND driver = ? AND "
                           "platform = ? AND units = ?");
  select.bind(1, info.backend).bind(2, info.name).bind(3, info.vendor).bind(4, info.driver).bind(5, info.platform);
  if (!select.bind(6, info.units).step()) return std::nullopt;
  return select.integer(0);
}

}  // namespace deplo::measure
