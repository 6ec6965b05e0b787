#include "engine/learn/store_keys.h"

#include <fmt/format.h>

#include <filesystem>

#include "core/error.h"
#include "measure/store/file/open.h"
#include "measure/store/rows/device_row.h"

namespace deplo::engine {

std::vector<StoreKey> store_keys(const std::string& store) {
  if (!std::filesystem::exists(store)) throw Error(store + ": expected a store, found no such file");
  const auto database = measure::open_to_read(store);
  measure::sqlite::Statement rows(
      *database, fmt::format("SELECT t.kernel, r.device, k.name, k.text, t.protocol, k.key, max(t.id), min(t.id), {} "
                             "FROM trial t JOIN run r ON r.id = t.run JOIN kernel k ON k.id = t.kernel "
                             "JOIN device d ON d.id = r.device GROUP BY 1, 2, 5 "
                             "HAVING max(t.status = 'ok') = max(t.status = 'ok' AND NOT t.stopped) "
                             "ORDER BY 1, 2, 5",
                             measure::device_columns()));
  const auto trail_of = [&](std::int64_t id) {
    measure::sqlite::Statement trail(*database, "SELECT trail FROM trial WHERE id = ?");
    trail.bind(1, id);
    return trail.step() ? std::string(trail.text(0)) : "";
  };
  std::vector<StoreKey> keys;
  while (rows.step())
    keys.push_back({rows.integer(0), rows.integer(1), rows.text(2), rows.text(3), rows.text(5), rows.text(4),
                    rows.integer(6), trail_of(rows.integer(7)), measure::read_device(rows, 8)});
  return keys;
}

std::vector<measure::KnownTrial> valid_trials(measure::Store& store, const StoreKey& key) {
  std::vector<measure::KnownTrial> trials = store.known_trials(key.kernel, key.device, key.protocol);
  std::erase_if(trials, [](const measure::KnownTrial& known) {
    return known.trial.status != Status::ok || !(known.trial.timing.median_us > 0);
  });
  return trials;
}

}  // namespace deplo::engine
