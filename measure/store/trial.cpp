#include "measure/store/trial.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <iterator>

#include "core/error.h"

namespace deplo::measure {
namespace {

/// Binds in order; what is not known becomes NULL.
class Binder {
 public:
  explicit Binder(Statement& statement) : statement_(statement) {}
  template <class T>
  Binder& add(const T& value) {
    statement_.bind(++column_, value);
    return *this;
  }
  template <class T>
  Binder& add_if(bool known, const T& value) {
    if (known) return add(value);
    statement_.bind_null(++column_);
    return *this;
  }

 private:
  Statement& statement_;
  int column_ = 0;
};

/// Reads in order.
class Reader {
 public:
  explicit Reader(const Statement& row) : row_(row) {}
  std::int64_t integer(std::int64_t unknown = 0) {
    return take([&](int i) { return row_.integer(i); }, unknown);
  }
  double real(double unknown = 0) {
    return take([&](int i) { return row_.real(i); }, unknown);
  }
  std::string text() {
    return take([&](int i) { return row_.text(i); }, std::string());
  }

 private:
  template <class F, class T>
  T take(F value, T unknown) {
    const int column = column_++;
    return row_.is_null(column) ? unknown : value(column);
  }
  const Statement& row_;
  int column_ = 0;
};

}  // namespace

std::string print_samples(const std::vector<double>& samples) {
  std::string text = "[";
  for (const double sample : samples) {
    if (text.size() > 1) text += ',';
    if (std::isfinite(sample))
      fmt::format_to(std::back_inserter(text), "{}", sample);  // the shortest text that reads back exactly
    else
      text += "null";
  }
  return text + "]";
}

std::vector<double> parse_samples(std::string_view text) {
  std::vector<double> samples;
  const char* at = text.data();
  for (const char* end = at + text.size(); at < end; ++at) {
    double value = std::nan("");
    if (*at == 'n') {
      at += 3;
    } else if (const auto [next, error] = std::from_chars(at, end, value); error == std::errc()) {
      at = next - 1;
    } else {
      continue;  // brackets, commas, spaces
    }
    samples.push_back(value);
  }
  return samples;
}

void run_insert(Statement& insert, const TrialRecord& trial) {
  const std::string samples = print_samples(trial.samples), rejected = print_samples(trial.rejected);
  const bool ok = trial.status == Status::ok, ran = !trial.samples.empty();
  CHECK(!ok || std::isfinite(trial.median_us));
  Binder row(insert);
  row.add(trial.run).add(trial.ordinal).add(trial.kernel).add(std::string_view(trial.trail));
  row.add(std::string_view(trial.digest)).add(status_name(trial.status)).add(std::string_view(trial.message));
  row.add(trial.build_ms).add_if(ok, trial.median_us).add(trial.fidelity).add(std::string_view(samples));
  row.add(std::string_view(trial.protocol)).add(name(trial.stage));
  row.add_if(ran, trial.batch).add_if(ran, trial.sets).add(std::string_view(rejected));
  row.add_if(trial.warm_us > 0, trial.warm_us).add_if(trial.clock_mhz > 0, trial.clock_mhz);
  row.add(std::int64_t{trial.stopped});
  const Resources& used = trial.resources;
  for (const std::int64_t value :
       {used.registers, used.spill_bytes, used.stack_bytes, used.static_shared_bytes, used.dynamic_shared_bytes})
    row.add_if(value >= 0, value);
  row.add_if(used.occupancy >= 0, used.occupancy).add(std::string_view(used.limiter));
  row.add(std::string_view(used.binary_digest));
  insert.step();
}

std::string trial_columns() {
  return "t.run, t.ordinal, t.kernel, t.trail, t.digest, t.status, t.message, t.build_ms, t.median_us, t.fidelity, "
         "t.samples, t.protocol, t.stage, t.batch, t.sets, t.rejected, t.warm_us, t.clock_mhz, t.stopped, "
         "t.registers, t.spill_bytes, t.stack_bytes, t.static_shared_bytes, t.dynamic_shared_bytes, t.occupancy, "
         "t.limiter, t.binary_digest, t.created, t.id";
}

TrialRecord read_trial(const Statement& statement) {
  Reader row(statement);
  TrialRecord trial;
  trial.run = row.integer();
  trial.ordinal = row.integer();
  trial.kernel = row.integer();
  trial.trail = row.text();
  trial.digest = row.text();
  trial.status = parse_status(row.text());
  trial.message = row.text();
  trial.build_ms = row.real();
  trial.median_us = row.real();
  trial.fidelity = row.real();
  trial.samples = parse_samples(row.text());
  trial.protocol = row.text();
  trial.stage = row.text() == name(Stage::confirm) ? Stage::confirm : Stage::screen;
  trial.batch = row.integer(1);
  trial.sets = row.integer(1);
  trial.rejected = parse_samples(row.text());
  trial.warm_us = row.real();
  trial.clock_mhz = row.real();
  trial.stopped = row.integer() != 0;
  Resources& used = trial.resources;
  for (std::int64_t* value :
       {&used.registers, &used.spill_bytes, &used.stack_bytes, &used.static_shared_bytes, &used.dynamic_shared_bytes})
    *value = row.integer(-1);
  used.occupancy = row.real(-1);
  used.limiter = row.text();
  used.binary_digest = row.text();
  trial.created = row.text();
  trial.id = row.integer();
  return trial;
}

}  // namespace deplo::measure
