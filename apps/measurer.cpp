#include "apps/measurer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

#include "apps/kernel_space.h"
#include "core/hash.h"
#include "core/trail.h"
#include "ir/emit/emit.h"
#include "rules/lower.h"

namespace deplo::apps {
namespace {

// The same inputs in every run, so that the times in one store compare.
constexpr std::uint64_t input_seed = 0;

void fill(measure::TrialRecord& record, const Result<measure::Timing>& result) {
  if (!result.ok()) {
    record.status = result.failure().status;
    record.message = result.failure().message;
    return;
  }
  const measure::Timing& timing = result.value();
  record.status = Status::ok;
  record.median_us = timing.median_us;
  record.fidelity = timing.fidelity;
  record.samples = timing.samples;
  record.build_ms += timing.first_launch_ms;
}

Outcome outcome_of(const measure::TrialRecord& record) { return {record.status, record.median_us, record.message}; }

}  // namespace

Prepared prepare(const search::Candidate& candidate, const Target& target) {
  Prepared result{candidate, {}, {}};
  result.code.kernel = rules::materialize(KernelSpace::lowering(*candidate).program(), target);
  result.code.source = emit(result.code.kernel, target);
  result.digest = digest(result.code.source.text);
  return result;
}

search::Candidate stored_best(measure::Store& store, std::int64_t kernel, std::int64_t device,
                              const search::Space& space, const Target& target) {
  const auto best = store.best(kernel, device);
  if (!best) return nullptr;
  search::Candidate candidate = search::walk(space, parse_trail(best->trail));
  const bool same = candidate && !candidate->fork() && prepare(candidate, target).digest == best->digest;
  return same ? candidate : nullptr;
}

Target pick_target(const std::string& name, const measure::Device& device, std::string_view device_name,
                   std::string_view place) {
  if (name == "auto") return measure::target_of(device.info());
  Target target = load_target(name);
  if (target.dialect != device.dialect())
    throw Error(fmt::format("{}: expected a target in {} for the device {}, found {} ({})", place,
                            deplo::name(device.dialect()), device_name, target.name, deplo::name(target.dialect)));
  return target;
}

Measurer::Measurer(const KernelCase& kernel, Bench& bench)
    : bench_(bench), problem_(kernel.loop, bench.device, input_seed) {
  kernel_id_ = bench.store.add_kernel({kernel.name, print(kernel.loop)});
  for (const auto& trial : bench.store.known_trials(kernel_id_, bench.device_id, bench.protocol.text()))
    known_[trial.digest] = outcome_of(trial);
}

search::Measured Measurer::screen(const search::Candidate& candidate, double best_us) {
  Prepared prepared = prepare(candidate, bench_.target);
  if (const auto known = known_.find(prepared.digest); known != known_.end()) return {known->second, true};
  Contestant one = build(std::move(prepared), measure::Stage::screen);
  if (one.executable) {
    const auto grid = measure::grid_of(one.prepared.code.source, bench_.device.info());
    fill(one.record, measure::screen(*one.executable, grid, problem_, bench_.protocol, best_us));
  }
  append(one.record);
  return {known_[one.prepared.digest] = outcome_of(one.record), false};
}

std::vector<Measurer::Final> Measurer::confirm(const std::vector<search::Candidate>& candidates, double seconds,
                                               const std::function<bool()>& cancelled) {
  std::vector<Contestant> all;
  for (const search::Candidate& candidate : candidates) {
    Prepared prepared = prepare(candidate, bench_.target);
    const auto same = [&](const Contestant& other) { return other.prepared.digest == prepared.digest; };
    if (std::none_of(all.begin(), all.end(), same)) all.push_back(build(std::move(prepared), measure::Stage::confirm));
  }
  std::vector<measure::Contender> contenders;
  for (const Contestant& one : all)
    if (one.executable)
      contenders.push_back({one.executable.get(), measure::grid_of(one.prepared.code.source, bench_.device.info())});
  const auto results = measure::confirm(contenders, problem_, bench_.protocol, {0, seconds, cancelled});
  std::vector<Final> finals;
  auto result = results.begin();
  for (Contestant& one : all) {
    if (one.executable) fill(one.record, *result++);
    if (one.record.status != Status::ok && cancelled()) continue;  // it did not fail: its turn did not come
    append(one.record);
    finals.push_back({one.prepared.candidate, outcome_of(one.record)});
  }
  return finals;
}

Measurer::Contestant Measurer::build(Prepared prepared, measure::Stage stage) {
  Contestant one{std::move(prepared), {}, nullptr};
  one.record.run = bench_.run_id;
  one.record.kernel = kernel_id_;
  one.record.trail = print(one.prepared.candidate->trail());
  one.record.digest = one.prepared.digest;
  one.record.protocol = bench_.protocol.text();
  one.record.stage = stage;
  const auto start = std::chrono::steady_clock::now();
  auto built = bench_.device.build(one.prepared.code);
  one.record.build_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  if (built.ok())
    one.executable = std::move(built.value());
  else
    fill(one.record, built.failure());
  return one;
}

void Measurer::append(measure::TrialRecord& record) {
  record.ordinal = bench_.ordinal++;
  record.id = bench_.store.append(record);
}

}  // namespace deplo::apps
