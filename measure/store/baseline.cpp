#include <fmt/format.h>

#include <array>

#include "measure/sqlite/sqlite.h"
#include "measure/store/rows/columns.h"
#include "measure/store/state.h"
#include "measure/store/store.h"
#include "measure/store/upkeep/report.h"

namespace deplo::measure {
namespace {

/// Returns a query for these columns of the latest baselines of kernel ?1 with which device ?2 may be compared, fastest
/// first.
std::string select_latest(std::string_view columns) {
  return fmt::format(
      "SELECT {}, max(b.id) FROM baseline b JOIN run r ON r.id = b.run JOIN device d ON d.id = r.device "
      "JOIN device ours ON ours.id = ?2 WHERE b.kernel = ?1 AND (d.id = ours.id OR (d.backend <> ours.backend "
      "AND d.name <> '' AND substr(ours.name, -length(d.name)) = d.name)) "
      "GROUP BY b.library, b.version, b.precision, b.threads ORDER BY b.median_us IS NULL, b.median_us",
      columns);
}

template <class Baseline, class Column>
void list_baseline(Baseline& baseline, Column& column) {
  column("run", baseline.run);
  column("kernel", baseline.kernel);
  column("library", baseline.library);
  column("version", baseline.version);
  column("precision", baseline.precision);
  column("threads", baseline.threads);
  column("status", baseline.status);
  column("message", baseline.message);
  column("median_us", baseline.median_us, baseline.status == Status::ok);
  column("samples", baseline.samples);
  column("warm_us", baseline.warm_us, baseline.warm_us > 0);
  column("protocol", baseline.protocol);
  column("batch", baseline.batch, baseline.batch > 0);
  column("sets", baseline.sets, baseline.sets > 0);
  column("created", baseline.created);
}

ColumnNames names(std::string_view table) {
  const BaselineRecord any;
  ColumnNames columns(table);
  list_baseline(any, columns);
  return columns;
}

std::int64_t insert_baseline(sqlite::Database& database, BaselineRecord baseline) {
  if (baseline.created.empty()) {
    sqlite::Statement now(database, "SELECT strftime('%Y-%m-%dT%H:%M:%fZ', 'now')");
    CHECK(now.step());
    baseline.created = now.text(0);
  }
  sqlite::Statement insert(database, names("").insert_into("baseline"));
  ColumnBinder values(insert);
  list_baseline(baseline, values);
  insert.step();
  return database.last_id();
}

}  // namespace

std::int64_t Store::append(const BaselineRecord& baseline) {
  return state_->add([&](sqlite::Database& database) { return insert_baseline(database, baseline); });
}

std::vector<BaselineRecord> Store::baselines(std::int64_t kernel, std::int64_t device) {
  sqlite::Statement row(*state_->database, select_latest(names("b").text()));
  row.bind(1, kernel).bind(2, device);
  std::vector<BaselineRecord> all;
  while (row.step()) {
    ColumnReader columns(row);
    list_baseline(all.emplace_back(), columns);
  }
  return all;
}

sqlite::Rows upkeep::library_times(sqlite::Database& database, std::int64_t kernel, std::int64_t device) {
  const std::array<sqlite::Cell, 2> of{kernel, device};
  return query(database, select_latest("b.id, b.library, b.status, b.median_us"), of);
}

void Store::add_ceilings(std::int64_t run, const rules::Ceilings& seen) {
  state_->add([&](sqlite::Database& database) {
    sqlite::Statement insert(database,
                             "INSERT INTO ceiling (run, copy_gb_s, read_gb_s, fp32_gflop_s) VALUES (?, ?, ?, ?)");
    insert.bind(1, run).bind(2, seen.copy_gb_s).bind(3, seen.read_gb_s).bind(4, seen.fp32_gflop_s).step();
    return database.last_id();
  });
}

rules::Ceilings Store::ceilings(std::int64_t device) {
  sqlite::Statement row(*state_->database,
                        "SELECT max(c.copy_gb_s), max(c.read_gb_s), max(c.fp32_gflop_s) FROM ceiling c "
                        "JOIN run r ON r.id = c.run WHERE r.device = ?");
  CHECK(row.bind(1, device).step());
  return {row.real(0), row.real(1), row.real(2)};  // if there are none, NULL reads as 0
}

}  // namespace deplo::measure
