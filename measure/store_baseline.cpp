#include <utility>

#include "measure/sqlite.h"
#include "measure/store.h"
#include "measure/store_state.h"
#include "measure/store_trial.h"

namespace deplo::measure {

std::int64_t Store::append(const BaselineRecord& baseline) {
  const std::string samples = print_samples(baseline.samples);
  Statement insert(*state_->database,
                   "INSERT INTO baseline (run, kernel, library, version, precision, threads, status, message, "
                   "median_us, samples, warm_us, protocol) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  insert.bind(1, baseline.run).bind(2, baseline.kernel).bind(3, baseline.library).bind(4, baseline.version);
  insert.bind(5, baseline.precision).bind(6, baseline.threads).bind(7, status_name(baseline.status));
  insert.bind(8, baseline.message).bind(10, samples).bind(12, baseline.protocol);
  baseline.status == Status::ok ? insert.bind(9, baseline.median_us) : insert.bind_null(9);
  baseline.warm_us > 0 ? insert.bind(11, baseline.warm_us) : insert.bind_null(11);
  insert.step();
  return state_->database->last_id();
}

std::vector<BaselineRecord> Store::baselines(std::int64_t kernel, std::int64_t device) {
  Statement row(*state_->database,
                "SELECT b.run, b.kernel, b.library, b.version, b.precision, b.threads, b.status, b.message, "
                "b.median_us, b.samples, b.warm_us, b.protocol, max(b.id) FROM baseline b JOIN run r ON r.id = b.run "
                "WHERE b.kernel = ? AND r.device = ? GROUP BY b.library, b.version, b.precision, b.threads "
                "ORDER BY b.median_us IS NULL, b.median_us");
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
  }
  return all;
}

}  // namespace deplo::measure
