#include "measure/store/device_row.h"

#include "measure/store/columns.h"

namespace deplo::measure {

namespace {

template <class Info, class Column>
void list_device(Info& info, Column& column) {
  column("backend", info.backend);
  column("name", info.name);
  column("vendor", info.vendor);
  column("driver", info.driver);
  column("platform", info.platform);
  column("units", info.units);
  column("clock_mhz", info.clock_mhz);
  column("shared_bytes", info.shared_bytes);
  column("max_threads", info.max_threads);
  column("cpu", info.cpu);
  column("architecture", info.architecture);
  column("l2_bytes", info.l2_bytes);
  column("memory_bytes", info.memory_bytes);
}

ColumnNames names(std::string_view table) {
  const DeviceInfo any;
  ColumnNames columns(table);
  list_device(any, columns);
  return columns;
}

}  // namespace

std::string device_columns() { return names("d").text(); }

DeviceInfo read_device(const Statement& row, int first) {
  DeviceInfo info;
  ColumnReader columns(row, first);
  list_device(info, columns);
  return info;
}

void insert_device(Database& database, const DeviceInfo& info) {
  Statement insert(database, names("").insert_into("device") + " ON CONFLICT DO NOTHING");
  ColumnBinder values(insert);
  list_device(info, values);
  insert.step();
}

std::optional<std::int64_t> find_device(Database& database, const DeviceInfo& info) {
  Statement select(database,
                   "SELECT id FROM device WHERE backend = ? AND name = ? AND vendor = ? AND driver = ? AND "
                   "platform = ? AND units = ?");
  select.bind(1, info.backend).bind(2, info.name).bind(3, info.vendor).bind(4, info.driver).bind(5, info.platform);
  if (!select.bind(6, info.units).step()) return std::nullopt;
  return select.integer(0);
}

}  // namespace deplo::measure
