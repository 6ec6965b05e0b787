#include "engine/tune/measurer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>

#include "core/trail.h"
#include "engine/compile/target.h"
#include "engine/foreign/opaque_kernel.h"
#include "engine/tune/proved_winner.h"
#include "measure/check/inputs.h"
#include "measure/check/prove.h"
#include "measure/store/pareto_front.h"
#include "measure/store/retry.h"

namespace deplo::engine {
namespace {

// All runs use the same inputs, so that the times in a store can be compared.
constexpr std::uint64_t input_seed = 0;

Outcome outcome_of(const measure::TrialRecord& record, double seconds = 0) {
  return {record.status, record.timing.median_us, record.message, seconds};
}

/// Returns true if a valid trial lacks the value of an objective. The trial may be older than a column of the store, or
/// may come from a run with other objectives.
bool lacks_values(const measure::TrialRecord& record, const measure::Objectives& objectives) {
  return record.status == Status::ok && !measure::values_of(record, objectives);
}

/// The value of BitsWish::same_as for the store's fastest schedule, which is known only after the store is opened.
constexpr std::string_view of_store = "stored";

/// Returns the schedule whose bits are required: the heuristic's, or that of a trail.
search::Candidate schedule_with_bits(const CandidateSpace& space, const std::string& same_as,
                                     const std::string& kernel) {
  const bool heuristic = same_as == "heuristic", is_trail = same_as.find('=') != std::string::npos;
  search::Candidate candidate;
  if (heuristic || is_trail) candidate = space.find(heuristic ? space.untuned() : parse_trail(same_as));
  if (!candidate)
    throw Error(fmt::format("--same-bits-as: expected heuristic, stored or a trail of {}, found {}", kernel,
                            heuristic ? "a kernel whose heuristic schedule is restricted" : "'" + same_as + "'"));
  return candidate;
}

}  // namespace

void check_runs(const KernelCase& kernel, measure::worker::Runner& runner, const BitsWish& wish) {
  if (kernel.opaque) check_language(*kernel.opaque, runner.info(), kernel.place);
  measure::check_reported(kernel.objectives, runner.info(), kernel.place);
  if (measure::need_energy(kernel.objectives))
    if (const std::string why = runner.why_no_energy(); !why.empty())
      throw Error(fmt::format("{}: the objective energy: {}", kernel.place, why), Exit::environment);
  if (kernel.opaque && !wish.is_any())
    throw Error(fmt::format("{}: expected a kernel of Loop IR, whose order of additions is known, found{}",
                            kernel.loop.name, describe(wish)));
}

void check_any_runs(const std::vector<KernelCase>& kernels, measure::worker::Runner& runner, const BitsWish& wish,
                    const Target& target, const Restrictions& restrictions) {
  check_bits(wish);
  std::optional<Error> first;
  bool any = false;
  for (const KernelCase& kernel : kernels) {
    try {
      check_runs(kernel, runner, wish);
    } catch (const Error& error) {
      if (!first) first = error;
      continue;
    }
    any = true;
    if (!wish.same_as.empty() && wish.same_as != of_store)
      schedule_with_bits(*candidate_space(kernel, target, restrictions), wish.same_as, kernel.loop.name);
  }
  if (first && !any) throw *first;
}

std::string describe_inputs(const KernelCase& kernel) {
  std::string text = measure::describe_inputs(measure::with_index_ranges(kernel.loop), kernel.files);
  if (!kernel.opaque) return text;
  return text + (text.empty() ? "" : ", ") + "reference: " + kernel.opaque->reference();
}

void fill(measure::TrialRecord& record, const measure::worker::Reply& reply) {
  record.resources = reply.resources;
  record.build_ms = reply.build_ms;
  if (!reply.timing.ok()) {
    record.status = reply.timing.failure().status;
    record.message = reply.timing.failure().message;
    return;
  }
  record.status = Status::ok;
  record.timing = reply.timing.value();
  record.build_ms += record.timing.first_launch_ms;
}

Measurer::Measurer(const KernelCase& kernel, Session& session)
    : session_(session),
      space_(candidate_space(kernel, session.target, session.restrictions)),
      objectives_(kernel.objectives),
      place_(kernel.place),
      opaque_(kernel.opaque),
      task_{measure::with_index_ranges(kernel.loop), input_seed, session.protocol, session.known, kernel.files},
      heuristic_(space_->untuned()) {
  task_.protocol.inputs = describe_inputs(kernel);
  task_.energy = measure::need_energy(objectives_);
  try {
    check_runs(kernel, session.runner, session.bits);
  } catch (const Error& error) {
    throw measure::worker::Untunable(error);
  }
  kernel_id_ = session.store.add_kernel({kernel.name, stored_text(kernel)});
  recall(task_.protocol);
  if (!session.bits.is_any()) open_filter(session.bits);
}

void Measurer::open_filter(const BitsWish& wish) {
  std::optional<Compiled> wanted;
  if (!wish.same_as.empty()) {
    std::string same_as = wish.same_as;
    if (same_as == of_store) {
      const auto best = session_.store.best(kernel_id_, session_.device_id, session_.protocol.tolerance);
      if (!best)
        throw measure::worker::Untunable(Error(
            fmt::format("--same-bits-as stored: expected a schedule of {} in the store, found none", task_.loop.name)));
      same_as = best->trail;
    }
    wanted = space_->compile(*schedule_with_bits(*space_, same_as, task_.loop.name));
  }
  try {
    filter_.emplace(wish, task_.loop, task_.seed, task_.files, wanted);
  } catch (const Error& error) {
    throw measure::worker::Untunable(error);
  }
}

/// Opens the task in the runner when something is measured for the first time. This is done before a candidate begins,
/// so that a crash while inputs and reference are computed is not blamed on the candidate.
void Measurer::open() {
  if (opened_) return;
  if (opaque_) task_.expected = opaque_->expectation();
  task_.memory_rates = session_.analytic_prior > 0;
  session_.runner.open(task_);
  opened_ = true;
  if (const rules::Ceilings seen = session_.runner.ceilings(); seen != session_.seen) {
    session_.store.add_ceilings(session_.run_id, seen);
    session_.seen = seen;
  }
}

/// Returns the results that need not be measured again, by source, because different trails may lead to one source.
/// Reads them from the store when the protocol is used for the first time.
Measurer::Recalled& Measurer::recall(const measure::Protocol& protocol) {
  const auto [found, fresh] = recalled_.try_emplace(protocol.text());
  auto& [latest_trial, by_digest] = found->second;
  if (!fresh) return found->second;
  latest_trial = session_.store.latest_trial();
  std::map<std::string, std::int64_t> lost;
  for (const auto& [trial, failures] : session_.store.known_trials(kernel_id_, session_.device_id, protocol.text())) {
    lost[trial.digest] += failures;
    if (lacks_values(trial, objectives_)) continue;
    const auto [known, first] = by_digest.try_emplace(trial.digest, known_of(trial));
    if (!first && measure::conclusive(trial.status)) known->second = known_of(trial);
  }
  std::erase_if(by_digest, [&](const auto& known) {
    const auto& [source, outcome] = std::tie(known.first, known.second.outcome);
    if (outcome.ok() || outcome.status == Status::slow) return false;
    return session_.retry_failed || measure::worth_another_try(outcome.status, lost[source]);
  });
  return found->second;
}

/// Converts a stored trial. Throws Untunable if a valid trial lacks the value of an objective.
Measurer::Known Measurer::known_of(const measure::TrialRecord& trial, double seconds) const {
  if (lacks_values(trial, objectives_))
    throw measure::worker::Untunable(
        Error(fmt::format("{}: expected a device that reports {} of each kernel, found {}, which does not", place_,
                          print(objectives_), session_.runner.info().name)));
  const Outcome outcome = outcome_of(trial, seconds);
  return {outcome, outcome.ok() ? *measure::values_of(trial, objectives_) : std::vector<double>()};
}

/// Returns the known result of a source, or nullptr. A result of full effort also answers a request for less effort,
/// but not vice versa.
const Measurer::Known* Measurer::known(const std::string& digest, double effort) {
  for (const double known_effort : {1.0, effort}) {
    const auto& by_digest = recall(task_.protocol.with_effort(known_effort)).by_digest;
    if (const auto found = by_digest.find(digest); found != by_digest.end()) return &found->second;
  }
  return nullptr;
}

Compiled Measurer::compiled(const search::Candidate& candidate) {
  auto ahead = ahead_.extract(print(candidate->trail()));
  return ahead ? std::move(ahead.mapped()) : space_->compile(*candidate);
}

void Measurer::prepare(std::span<const search::Candidate> candidates) {
  ahead_.clear();
  std::vector<measure::KernelCode> unknown;
  for (const search::Candidate& candidate : candidates) {
    Compiled one = space_->compile(*candidate);
    if (!one.fault && known(one.digest, candidate.effort) == nullptr && refusal(one).empty())
      unknown.push_back(one.code);
    ahead_.emplace(print(candidate->trail()), std::move(one));
  }
  session_.runner.prepare(unknown);
}

/// Claims a candidate. If another tuner of the same store is measuring it, waits for its result, which is then used
/// here.
measure::Claim Measurer::wait_for_claim(const measure::TrialRecord& record, std::int64_t since) {
  constexpr auto pause = std::chrono::milliseconds(20);  // measuring a candidate takes 100 ms or more
  // after this many pauses, about one second, checks whether the other tuner still runs
  constexpr int settle_after = 50;
  for (int waited = 1;; ++waited) {
    measure::Claim claim = session_.store.claim(record, session_.device_id, since);
    if (claim.done || claim.running != 0 || session_.cancelled()) return claim;
    std::this_thread::sleep_for(pause);
    if (waited % settle_after == 0) session_.store.settle_lost(session_.host);
  }
}

Measurer::Screened Measurer::screen(const search::Candidate& candidate, double best_us) {
  const auto start = std::chrono::steady_clock::now();
  const Compiled one = compiled(candidate);
  if (std::string why = refusal(one); !why.empty()) return {{{Status::invalid, 0, std::move(why), 0}, true}};
  if (const Known* const answer = known(one.digest, candidate.effort)) return {{answer->outcome, true}, answer->values};
  const measure::Protocol protocol = task_.protocol.with_effort(candidate.effort);
  Recalled& recalled = recall(protocol);
  open();
  measure::TrialRecord record = record_of(one, measure::Stage::screen, protocol);
  measure::Claim claim = wait_for_claim(record, recalled.latest_trial);
  while (claim.done && lacks_values(*claim.done, objectives_))  // the result comes from a tuner with other objectives
    claim = wait_for_claim(record, claim.done->id);
  if (claim.done) {
    const Known& answer = recalled.by_digest[one.digest] = known_of(*claim.done);
    return {{answer.outcome, true}, answer.values};
  }
  const std::int64_t running = claim.running;
  if (running == 0) return {{{Status::cancelled, 0, "cancelled", 0}, false}};
  fill(record,
       one.fault ? measure::worker::Reply{*one.fault} : session_.runner.screen(one.code, best_us, candidate.effort));
  record.timing.stopped = record.timing.stopped || protocol != task_.protocol;
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  if (record.status == Status::cancelled) {
    session_.store.forget(running);
    return {{outcome_of(record), false}};
  }
  session_.store.append(record, running);
  const Known& answer = recalled.by_digest[one.digest] = known_of(record, spent.count());
  return {{answer.outcome, false}, answer.values};
}

std::vector<Measurer::Final> Measurer::confirm(const std::vector<search::Candidate>& candidates, double seconds) {
  std::vector<search::Candidate> distinct;
  std::vector<Compiled> all;  // parallel to `distinct`
  std::vector<measure::KernelCode> codes;
  for (const search::Candidate& candidate : candidates) {
    Compiled one = compiled(candidate);
    const auto same = [&](const Compiled& other) { return other.digest == one.digest; };
    if (one.fault || std::any_of(all.begin(), all.end(), same) || !refusal(one).empty()) continue;
    codes.push_back(one.code);
    distinct.push_back(candidate);
    all.push_back(std::move(one));
  }
  open();
  const auto replies = session_.runner.confirm(codes, {0, seconds, session_.cancelled});
  std::vector<measure::TrialRecord> records;
  for (std::size_t i = 0; i < all.size(); ++i)
    fill(records.emplace_back(record_of(all[i], measure::Stage::confirm, task_.protocol)), replies[i]);
  std::optional<measure::Findings> findings;  // findings on the trial that was proved last
  const std::optional<std::size_t> winner =
      prove_winner(records, [&](std::size_t i) -> std::optional<ir::ProofVerdict> {
        findings.reset();
        if (session_.cancelled() || opaque_) return std::nullopt;  // without Loop IR there is nothing to prove
        findings = measure::examine(task_.loop, all[i].code.kernel, task_.seed, task_.files);
        return findings->proof;
      });
  if (winner && findings) {
    records[*winner].fingerprint = print(findings->fingerprint);
    records[*winner].row_fingerprint = print(findings->row_fingerprint);
  }
  std::vector<Final> finals;
  for (std::size_t i = 0; i < all.size(); ++i) {
    measure::TrialRecord& record = records[i];
    // its turn did not come, so this is not a failure
    if (record.status != Status::ok && session_.cancelled()) continue;
    session_.store.append(record);
    finals.push_back({distinct[i], outcome_of(record), record.proof});
  }
  return finals;
}

std::optional<Measurer::Stored> Measurer::stored_best() {
  const auto best = session_.store.best(kernel_id_, session_.device_id, session_.protocol.tolerance);
  if (!best) return std::nullopt;
  const search::Candidate candidate = space_->find(parse_trail(best->trail));
  if (!candidate) return std::nullopt;
  if (const Compiled one = space_->compile(*candidate); one.digest != best->digest || !refusal(one).empty())
    return std::nullopt;
  return Stored{candidate, best->timing.median_us, best->stage == measure::Stage::confirm, best->proof};
}

Timed Measurer::timed(const search::Candidate& candidate, double microseconds) const {
  return {microseconds, changes(candidate->trail(), heuristic_), print(candidate->trail())};
}

std::optional<Outcome> Measurer::recalled(const search::Candidate& candidate) {
  const Known* const answer = known(space_->compile(*candidate).digest, candidate.effort);
  return answer == nullptr ? std::nullopt : std::optional(answer->outcome);
}

measure::Front Measurer::front() {
  if (objectives_.empty()) return {};
  std::vector<measure::TrialRecord> trials =
      session_.store.valid_trials(kernel_id_, session_.device_id, session_.protocol.tolerance, objectives_);
  const auto is_stale = [&](const measure::TrialRecord& trial) {
    const search::Candidate candidate = space_->find(parse_trail(trial.trail));
    return !candidate || space_->compile(*candidate).digest != trial.digest;
  };
  // only the trials on the front are compiled: compiling thousands of trials would take too long
  for (;;) {
    measure::Front front = measure::front_of(trials, objectives_);
    std::set<std::string> stale;
    for (const measure::TrialRecord& trial : front.trials)
      if (is_stale(trial)) stale.insert(trial.trail);
    if (stale.empty()) return front;
    std::erase_if(trials, [&](const measure::TrialRecord& trial) { return stale.contains(trial.trail); });
  }
}

measure::TrialRecord Measurer::record_of(const Compiled& one, measure::Stage stage, const measure::Protocol& protocol) {
  measure::TrialRecord record;
  record.run = session_.run_id;
  record.ordinal = session_.ordinal++;
  record.kernel = kernel_id_;
  record.trail = print(one.trail);
  record.digest = one.digest;
  record.protocol = protocol.text();
  record.stage = stage;
  record.changes = changes(one.trail, heuristic_);
  if (filter_ && filter_->wanted()) record.fingerprint = print(*filter_->wanted());
  return record;
}

}  // namespace deplo::engine
