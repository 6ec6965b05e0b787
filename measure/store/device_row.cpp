#include "measure/store/device_row.h"

namespace deplo::measure {

DeviceInfo read_device(const Statement& row, int first) {
  int column = first;
  DeviceInfo info;
  info.backend = row.text(column++);
  info.name = row.text(column++);
  info.vendor = row.text(column++);
  info.driver = row.text(column++);
  info.platform = row.text(column++);
  info.units = row.integer(column++);
  info.clock_mhz = row.integer(column++);
  info.shared_bytes = row.integer(column++);
  info.max_threads = row.integer(column++);
  info.cpu = row.integer(column++) != 0;
  info.architecture = row.text(column++);
  info.l2_bytes = row.integer(column++);
  info.memory_bytes = row.integer(column);
  return info;
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
