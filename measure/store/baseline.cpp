#include <fmt/format.h>

#include <array>
#include <utility>

#include "measure/sqlite/sqlite.h"
#include "measure/store/state.h"
#include "measure/store/store.h"
#include "measure/store/trial.h"
#include "measure/store/upkeep/report.h"

namespace deplo::measure {
namespace {

/// The columns of the latest baselines of kernel ?1 that device ?2 may be compared with, fastest first.
std::string select_latest(std::string_view columns) {
  return fmt::format(
      "SELECT {}, max(b.id) FROM baseline b JOIN run r ON r.id = b.run JOIN device d ON d.id = r.device "
      "JOIN device ours ON ours.id = ?2 WHERE b.kernel = ?1 AND (d.id = ours.id OR (d.backend <> ours.backend "
      "AND d.name <> '' AND substr(ours.name, -length(d.name)) = d.name)) "
      "GROUP BY b.library, b.version, b.precision, b.threads ORDER BY b.median_us IS NULL, b.median_us",
      columns);
}

std::int64_t insert_baseline(Database& database, const BaselineRecord& baseline) {
  const std::string samples = print_samples(baseline.samples);
  Statement insert(database,
                   "INSERT INTO baseline (run, kernel, library, version, precision, threads, status, message, "
                   "median_us, samples, warm_us, protocol, batch, sets, created) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
                   "?, ?, ?, ?, coalesce(?, strftime('%Y-%m-%dT%H:%M:%fZ', 'now')))");
  const auto bind_if = [&](bool known, int column, auto value) {
    known ? insert.bind(column, value) : insert.bind_null(column);
  };
  insert.bind(1, baseline.run).bind(2, baseline.kernel).bind(3, baseline.library).bind(4, baseline.version);
  insert.bind(5, baseline.precision).bind(6, baseline.threads).bind(7, status_name(baseline.status));
  insert.bind(8, baseline.message).bind(10, samples).bind(12, baseline.protocol);
  bind_if(baseline.status == Status::ok, 9, baseline.median_us);
  bind_if(baseline.warm_us > 0, 11, baseline.warm_us);
  bind_if(baseline.batch > 0, 13, baseline.batch);
  bind_if(baseline.sets > 0, 14, baseline.sets);
  bind_if(!baseline.created.empty(), 15, std::string_view(baseline.created));
  insert.step();
  return database.last_id();
}

std::int64_t insert_ceilings(Database& database, std::int64_t run, const rules::Ceilings& seen) {
  Statement insert(database, "INSERT INTO ceiling (run, copy_gb_s, read_gb_s, fp32_gflop_s) VALUES (?, ?, ?, ?)");
  insert.bind(1, run).bind(2, seen.copy_gb_s).bind(3, seen.read_gb_s).bind(4, seen.fp32_gflop_s).step();
  return database.last_id();
}

}  // namespace

std::int64_t Store::append(const BaselineRecord& baseline) {
  if (state_->own) insert_baseline(*state_->own->database, baseline);
  return state_->write([&](State& state) { return insert_baseline(*state.database, baseline); });
}

std::vector<BaselineRecord> Store::baselines(std::int64_t kernel, std::int64_t device) {
  Statement row(*state_->database,
                select_latest("b.run, b.kernel, b.library, b.version, b.precision, b.threads, b.status, b.message, "
                              "b.median_us, b.samples, b.warm_us, b.protocol, b.batch, b.sets, b.created"));
  row.bind(1, kernel).bind(2, device);
  std::vector<BaselineRecord> all;
  while (row.step()) {
    BaselineRecord& one = all.emplace_back();
    one.run = row.integer(0);
    one.kernel = row.integer(1);
    one.library = row.text(2);
    one.version = row.text(3);
    one.precision = row.text(4);
    one.threads = row.integer(5);
    one.status = parse_status(row.text(6));
    one.message = row.text(7);
    one.median_us = row.real(8);
    one.samples = parse_samples(row.text(9));
    one.warm_us = row.real(10);
    one.protocol = row.text(11);
    one.batch = row.integer(12);
    one.sets = row.integer(13);
    one.created = row.text(14);
  }
  return all;
}

Rows library_times(Database& database, std::int64_t kernel, std::int64_t device) {
  const std::array<Cell, 2> of{kernel, device};
  return query(database, select_latest("b.id, b.library, b.status, b.median_us"), of);
}

void Store::add_ceilings(std::int64_t run, const rules::Ceilings& seen) {
  if (state_->own) insert_ceilings(*state_->own->database, run, seen);
  state_->write([&](State& state) { return insert_ceilings(*state.database, run, seen); });
}

rules::Ceilings Store::ceilings(std::int64_t device) {
  Statement row(*state_->database,
                "SELECT max(c.copy_gb_s), max(c.read_gb_s), max(c.fp32_gflop_s) FROM ceiling c "
                "JOIN run r ON r.id = c.run WHERE r.device = ?");
  CHECK(row.bind(1, device).step());
  return {row.real(0), row.real(1), row.real(2)};  // NULL, where there are none, reads as 0
}

}  // namespace deplo::measure
