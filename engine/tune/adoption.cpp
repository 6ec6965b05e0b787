#include "engine/tune/adoption.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "core/error.h"
#include "core/interrupt.h"
#include "core/text/text.h"
#include "engine/revision.h"
#include "engine/tune/measurer.h"
#include "engine/tune/open_runner.h"
#include "measure/store/process_name.h"
#include "measure/store/retry.h"
#include "rules/rule.h"

namespace deplo::engine {
namespace {

constexpr double seconds_of_timing = 2;  // time for confirming one kernel's schedules

/// Returns a text such as "14.1 µs", or the status if there is no time.
std::string time_text(const measure::TrialRecord& trial) {
  if (trial.status == Status::ok) return significant(trial.timing.median_us) + " µs";
  return fmt::format("{}", status_name(trial.status));
}

}  // namespace

struct Adoption::Times {
  measure::TrialRecord foreign, heuristic;
};

Adoption::Adoption(Options options) : options_(std::move(options)), store_(default_store()) {}
Adoption::~Adoption() = default;

Schedule Adoption::decide(const ir::Program& kernel, const Schedule& foreign) {
  Schedule heuristic = heuristic_schedule(kernel, options_.target);
  const auto untuned = [&](std::string note) {
    heuristic.note = std::move(note);
    return std::move(heuristic);
  };
  const Schedule theirs = heuristic_schedule(foreign.loop, options_.target);  // with the measured kernel's names
  if (theirs.compiled.digest == foreign.compiled.digest) {
    Schedule same = foreign;
    same.note = fmt::format("measured on {}; it is the same as the heuristic's", foreign.device);
    return same;
  }
  const KernelCase one{.name = kernel.name, .place = "", .loop = foreign.loop};
  try {
    std::optional<Times> times = recall(one, foreign, theirs);
    if (!times) {
      if (options_.on_timing) options_.on_timing(kernel.name);
      time(one, foreign, theirs);
      times = recall(one, foreign, theirs);
    }
    if (times) return choose(kernel, foreign, *times);
  } catch (const Error& error) {
    return untuned(fmt::format("the schedule measured on {} cannot be timed here: {}", foreign.device, error.what()));
  }
  return untuned(fmt::format("the schedule measured on {} was not timed here", foreign.device));
}

std::optional<Adoption::Times> Adoption::recall(const KernelCase& kernel, const Schedule& foreign,
                                                const Schedule& heuristic) const {
  std::error_code error;
  if (std::filesystem::file_size(store_, error) == 0 || error) return std::nullopt;
  measure::Store store = measure::Store::open_to_read(store_);
  const auto id = store.find_kernel(stored_text(kernel));
  const auto device = store.find_device(options_.info);
  if (!id || !device) return std::nullopt;
  measure::Protocol protocol;
  protocol.tolerance = options_.tolerance;
  protocol.inputs = describe_inputs(kernel);
  std::optional<measure::TrialRecord> first, second;
  for (measure::KnownTrial& known : store.known_trials(*id, *device, protocol.text())) {
    measure::TrialRecord& trial = known.trial;
    if (!measure::conclusive(trial.status) || trial.timing.stopped) continue;
    if (trial.digest == foreign.compiled.digest) first = trial;
    if (trial.digest == heuristic.compiled.digest) second = std::move(trial);
  }
  if (!first || !second) return std::nullopt;
  return Times{std::move(*first), std::move(*second)};
}

void Adoption::time(const KernelCase& kernel, const Schedule& foreign, const Schedule& heuristic) {
  make_default_folder(store_);
  measure::Store store = measure::Store::open(store_);
  const auto cancelled = [] { return interrupted() != 0; };
  if (!runner_) runner_ = open_runner(options_.device, false, cancelled, {});
  Session session{*runner_, store, options_.target, {}};
  session.protocol.tolerance = options_.tolerance;
  session.host = measure::host_name();
  session.device_id = store.add_device(runner_->info());
  session.known = store.ceilings(session.device_id);
  session.run_id = store.add_run({session.device_id, std::string(revision()),
                                  fmt::format("# a schedule measured on {}\n", foreign.device), "adoption", 0,
                                  session.host, measure::this_process(), rules::version_of(rules::pipeline())});
  Measurer measurer(kernel, session);
  std::vector<search::Candidate> candidates;
  for (const Schedule* schedule : {&heuristic, &foreign})
    if (search::Candidate candidate = measurer.space().find(schedule->compiled.trail))
      candidates.push_back(std::move(candidate));
  measurer.confirm(candidates, seconds_of_timing);
}

Schedule Adoption::choose(const ir::Program& kernel, const Schedule& foreign, const Times& times) const {
  TunedCache own(store_, options_.info, options_.target, false, options_.tolerance);
  Schedule schedule = own.find(kernel);
  const bool kept = schedule.compiled.digest == foreign.compiled.digest;
  const std::string other =
      times.heuristic.digest == schedule.compiled.digest ? "the heuristic's" : "another schedule of this device";
  schedule.note = fmt::format("measured on {} ({} µs): {} here, the heuristic's {}; kept {} (remembered in {})",
                              foreign.device, significant(foreign.measured_us), time_text(times.foreign),
                              time_text(times.heuristic), kept ? "it" : other, store_);
  return schedule;
}

}  // namespace deplo::engine
