#include "apps/run/bench_store.h"

#include <algorithm>
#include <utility>

#include "engine/revision.h"
#include "engine/tune/measurer.h"
#include "measure/store/process_name.h"
#include "rules/rule.h"

namespace deplo::apps {
namespace {

BenchBaseline baseline_of(const measure::BaselineRecord& record) {
  BenchBaseline baseline{record.library, record.version, record.precision, record.threads, {}, 0, {}, record.created};
  BenchTime& time = baseline.time;
  time.median_us = record.median_us;
  time.warm_us = record.warm_us;
  time.batch = static_cast<int>(record.batch);
  time.sets = static_cast<int>(record.sets);
  time.samples = record.samples;
  if (record.status != Status::ok) time.failure = std::string(status_name(record.status)) + ": " + record.message;
  return baseline;
}

}  // namespace

BenchStore::BenchStore(const std::string& file, const measure::DeviceInfo& device, const BenchOptions& options)
    : store_(measure::Store::open(file)), device_(store_.add_device(device)) {
  run_ = store_.add_run({device_, std::string(engine::revision()), options.config.value_or(""), "bench", options.seed,
                         measure::host_name(), measure::this_process(), rules::version_of(rules::pipeline())});
}

void BenchStore::enter(const std::string& name, const std::string& text, std::string protocol) {
  protocol_ = std::move(protocol);
  kernel_ = store_.add_kernel({name, text});
}

void BenchStore::add(const engine::Compiled& compiled, std::int64_t changes, const measure::worker::Reply& reply) {
  measure::TrialRecord trial;
  trial.run = run_;
  trial.ordinal = ordinal_++;
  trial.kernel = kernel_;
  trial.trail = print(compiled.trail);
  trial.digest = compiled.digest;
  trial.protocol = protocol_;
  trial.stage = measure::Stage::confirm;
  trial.changes = changes;
  engine::fill(trial, reply);
  store_.append(trial);
}

void BenchStore::add(const BenchBaseline& baseline, const Result<measure::Timing>& result) {
  measure::BaselineRecord record;
  record.run = run_;
  record.kernel = kernel_;
  record.library = baseline.library;
  record.version = baseline.version;
  record.precision = baseline.precision;
  record.threads = baseline.threads;
  record.protocol = protocol_;
  if (result.ok()) {
    const measure::Timing& timing = result.value();
    record.median_us = timing.median_us;
    record.samples = timing.samples;
    record.warm_us = timing.warm_us;
    record.batch = timing.batch;
    record.sets = timing.sets;
  } else {
    record.status = result.failure().status;
    record.message = result.failure().message;
  }
  store_.append(record);
}

std::vector<BenchBaseline> BenchStore::earlier(const std::vector<BenchBaseline>& now) {
  std::vector<BenchBaseline> found;
  for (const measure::BaselineRecord& record : store_.baselines(kernel_, device_)) {
    BenchBaseline one = baseline_of(record);
    const auto same = [&](const BenchBaseline& b) { return b.library == one.library && b.precision == one.precision; };
    if (std::ranges::none_of(now, same)) found.push_back(std::move(one));
  }
  return found;
}

}  // namespace deplo::apps
