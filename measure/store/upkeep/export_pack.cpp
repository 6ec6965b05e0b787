#include "measure/store/upkeep/export_pack.h"

#include <fmt/format.h>

#include <map>
#include <string>

#include "measure/store/rows/device_row.h"
#include "measure/store/rows/trial.h"
#include "measure/store/upkeep/choice.h"

namespace deplo::measure::upkeep {
namespace {

constexpr std::string_view by_device = "d.backend, d.name, d.vendor, d.driver, d.platform, d.units";

class PackMaker {
 public:
  PackMaker(sqlite::Database& database, const Filter& filter)
      : database_(database),
        kernels_(chosen_ids(database, "kernel", filter.kernel)),
        devices_(chosen_ids(database, "device", filter.device)) {}

  Pack make(bool with_graphs) {
    add_schedules();
    if (with_graphs) add_graphs();
    add_families();
    return std::move(pack_);
  }

 private:
  void add_schedules() {
    sqlite::Statement rows(
        database_,
        fmt::format("{}SELECT {}, d.id, r.revision, r.pipeline, k.name, k.text FROM ranked t JOIN kernel k ON "
                    "k.id = t.kernel JOIN device d ON d.id = t.device JOIN run r ON r.id = t.run WHERE "
                    "t.place = 1 AND t.protocol NOT LIKE 'recorded%' AND {}ORDER BY {}, k.name, k.key",
                    ranked(), trial_columns(), is_chosen, by_device));
    rows.bind(1, kernels_).bind(2, devices_);
    const int first = rows.columns() - 5;
    while (rows.step()) {
      Pack::Schedule& schedule = pack_.schedules.emplace_back();
      schedule.trial = read_trial(rows);
      schedule.origin = {number_of(rows.integer(first)), rows.text(first + 1), rows.text(first + 2)};
      schedule.kernel = {rows.text(first + 3), rows.text(first + 4)};
    }
  }

  void add_graphs() {
    sqlite::Statement rows(
        database_,
        fmt::format(
            "SELECT d.id, r.revision, r.pipeline, g.key, g.name, g.trail, g.digest, g.heuristic_us, g.median_us, "
            "g.created FROM graph g JOIN run r ON r.id = g.run JOIN device d ON d.id = r.device WHERE d.id IN "
            "(SELECT value FROM json_each(?1)) AND g.id IN (SELECT max(h.id) FROM graph h JOIN run s ON s.id = "
            "h.run GROUP BY h.key, s.device) ORDER BY {}, g.name, g.key",
            by_device));
    rows.bind(1, devices_);
    while (rows.step())
      pack_.graphs.push_back({{number_of(rows.integer(0)), rows.text(1), rows.text(2)},
                              {.key = rows.text(3),
                               .name = rows.text(4),
                               .trail = rows.text(5),
                               .digest = rows.text(6),
                               .heuristic_us = rows.real(7),
                               .median_us = rows.real(8),
                               .created = rows.text(9)}});
  }

  void add_families() {
    sqlite::Statement rows(
        database_,
        fmt::format(
            "SELECT d.id, r.revision, r.pipeline, k.name, k.text, f.key, f.name, f.rule, f.goal, f.loss, "
            "f.created FROM family f JOIN run r ON r.id = f.run JOIN device d ON d.id = r.device JOIN kernel k ON "
            "k.id = f.kernel WHERE {}AND f.id IN (SELECT max(h.id) FROM family h JOIN run s ON s.id = h.run "
            "GROUP BY h.key, s.device) ORDER BY {}, f.name, f.key",
            is_chosen, by_device));
    rows.bind(1, kernels_).bind(2, devices_);
    while (rows.step())
      pack_.families.push_back({{number_of(rows.integer(0)), rows.text(1), rows.text(2)},
                                {.kernel = {rows.text(3), rows.text(4)},
                                 .key = rows.text(5),
                                 .name = rows.text(6),
                                 .rule = rows.text(7),
                                 .goal = rows.text(8),
                                 .loss = rows.real(9),
                                 .created = rows.text(10)}});
  }

  /// Returns the index of a device in the pack. The first call for a device adds it to the pack.
  std::size_t number_of(std::int64_t id) {
    const auto [found, fresh] = numbers_.emplace(id, pack_.devices.size());
    if (fresh) {
      sqlite::Statement row(database_, fmt::format("SELECT {} FROM device d WHERE d.id = ?", device_columns()));
      CHECK(row.bind(1, id).step());
      pack_.devices.push_back(read_device(row, 0));
    }
    return found->second;
  }

  sqlite::Database& database_;
  const std::string kernels_, devices_;  // chosen ids
  std::map<std::int64_t, std::size_t> numbers_;
  Pack pack_;
};

}  // namespace

Pack pack_of(sqlite::Database& database, const Filter& filter) {
  return PackMaker(database, filter).make(filter.kernel.empty());
}

}  // namespace deplo::measure::upkeep
