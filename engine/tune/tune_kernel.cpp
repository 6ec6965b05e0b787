#include "engine/tune/tune_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "core/text/text.h"
#include "engine/compile/kernel_space.h"
#include "engine/learn/labelled.h"
#include "engine/learn/prior.h"
#include "engine/tune/aim.h"
#include "engine/tune/board.h"
#include "engine/tune/warm_start.h"
#include "measure/check/inputs.h"
#include "measure/store/pareto_front.h"
#include "measure/store/retry.h"
#include "rules/cost/least_work.h"
#include "search/guarded.h"
#include "search/loop.h"

namespace deplo::engine {
namespace {

constexpr std::size_t max_sources = 4;    // a model of each source is made
constexpr std::size_t first_of_each = 4;  // the fastest of each source; at most 16 trials before the strategy's own
// each further schedule costs 2 ms; docs/model.md says what this number is worth
constexpr std::size_t learned_schedules = 64;
constexpr std::size_t max_to_learn_from = 128;  // trials of each other kernel; 2 ms each

ir::Work least_work_of(const KernelCase& kernel, const Session& session) {
  const measure::DeviceInfo& info = session.runner.info();
  return rules::least_work(kernel.loop, measure::has_matrix_instructions(info.backend, info.architecture));
}

double least_us_of(const ir::Work& least, const Session& session) {
  constexpr std::int64_t cold = 0;  // bytes of the operands that the last-level cache holds
  return rules::least_us(least, highest(session.known, session.seen), cold, 1);
}

/// Tunes one kernel. The methods are the stages of tuning and their starting points. All of them add to one row of
/// results, and to the trials that the next stage starts from.
class KernelTuner {
 public:
  KernelTuner(const KernelCase& kernel, const Experiment& experiment, const KernelBudget& budget, Session& session,
              Narrator& narrator, Prospect& prospect)
      : experiment_(experiment),
        is_opaque_(kernel.opaque != nullptr),
        objectives_(kernel.objectives),
        budget_(budget),
        narrator_(narrator),
        session_(session),
        cancelled_(session.cancelled),
        prospect_(prospect),
        least_work_(least_work_of(kernel, session)),
        measurer_(kernel, session),
        space_(measurer_.space()),
        loop_text_(stored_text(kernel)),
        work_(ir::work(kernel.loop)),
        row_(blank_row(kernel)) {}

  Row run() {
    measure_heuristic();
    row_.stop = search();
    if (is_hopeless() && !cancelled_()) {
      row_.stop = untunable;
      row_.fault = fmt::format("none of the first {} configurations can be built: {}", same_failures_, row_.fault);
      return std::move(row_);
    }
    const double searched = now();
    if (!cancelled_() && !is_too_late_for_finals()) confirm();
    if (prospect_.frame_seconds <= 0) prospect_.frame_seconds = (started_ - start_) + (now() - searched);
    row_.front = measurer_.front();
    return std::move(row_);
  }

  Row screen() {
    measure_heuristic();
    return std::move(row_);
  }

 private:
  void measure_heuristic() {
    heuristic_ = search::heuristic(space_);
    if (cancelled_()) return;
    first_ = measure(heuristic_).outcome;
    row_.heuristic_us = first_.microseconds;
    started_ = now();
    narrator_.publish(row_);
  }

  /// Runs the searches, and returns why they ended, as in Row::stop. Each search gets an equal share of the remaining
  /// budget. If any search ran out of time, the result is that time ran out.
  std::string search() {
    const std::size_t searches = searches_of(objectives_);
    std::string ended;
    for (std::size_t number = 0; number < searches; ++number) {
      const Aim aim(objectives_, number, values());
      if (searches > 1)
        narrator_.progress.line(
            fmt::format("{}  search {} of {}: {}", narrator_.label, number + 1, searches, aim.text()));
      const std::string stop = search(aim, number, searches - number);
      if (ended != name(search::Stop::seconds)) ended = stop;
      if (is_hopeless() || stop == strategy_failed || stop == name(search::Stop::cancelled) ||
          stop == name(search::Stop::exhausted))
        return stop;
    }
    return ended;
  }

  /// Runs one search. `left` is the number of searches that share the remaining budget, including this one.
  std::string search(const Aim& aim, std::size_t number, std::size_t left) {
    search::SearchOptions options = experiment_.options;
    options.about = {row_.name,      loop_text_,      session_.runner.info().name,
                     budget_.trials, budget_.seconds, objectives_.empty() ? "" : aim.text()};
    search::Guarded searcher([&] { return search::make_searcher(experiment_.strategy, space_, options); });
    std::vector<search::Candidate> first = number == 0 ? beginning(searcher) : measured(aim);
    search::Budget budget;
    const auto sharing = static_cast<std::int64_t>(left);
    budget.trials = (budget_.trials - row_.trials + sharing - 1) / sharing;
    // A search for several objectives does not end early because of little gain, so it is limited to the kernel's share
    // of the time.
    const double seconds = objectives_.empty() ? budget_.seconds : budget_.share;
    budget.seconds = (search_share * seconds - (now() - start_)) / static_cast<double>(left);
    budget.patience = experiment_.patience;
    budget.goal = experiment_.goal;
    const auto measure_one = [&](const search::Candidate& candidate) { return measure(candidate, aim); };
    budget.batch = session_.runner.batch();
    const auto prepare = [this](std::span<const search::Candidate> batch) { measurer_.prepare(batch); };
    const bool may_end_early = objectives_.empty() && !search::find_searcher(experiment_.strategy).walks_all;
    const auto enough = [&] {
      return is_hopeless() || (may_end_early && gain_per_second(prospect_, budget_.expectation) < budget_.least_gain);
    };
    const search::Stop stop =
        search::run(space_, searcher, budget, {measure_one, {}, cancelled_, prepare, enough}, std::move(first)).stop;
    if (searcher.fault().empty() || cancelled_()) return std::string(name(stop));
    row_.fault = searcher.fault();
    return strategy_failed;
  }

  /// Returns the candidates that the first search tries first. It knows no trials of this kernel yet.
  std::vector<search::Candidate> beginning(search::Searcher& searcher) {
    std::vector<search::Candidate> first;
    const bool warm = !session_.warm_start.empty() && warm_up(searcher, first);
    if (!warm && session_.analytic_prior > 0) begin_analytic(searcher);
    if (first.empty()) first = replayed(session_.winners, space_, heuristic_->trail(), work_, session_.tried_winners);
    return first;
  }

  /// Returns the valid candidates of earlier searches, the best first. The next search is told all of them.
  std::vector<search::Candidate> measured(const Aim& aim) const {
    std::map<std::pair<double, std::string>, search::Candidate> sorted;
    for (const auto& [trail, seen] : seen_)
      if (seen.result.outcome.ok()) sorted.emplace(std::pair(aim(seen.result.values), trail), seen.candidate);
    std::vector<search::Candidate> candidates;
    for (const auto& [rank, candidate] : sorted) candidates.push_back(candidate);
    return candidates;
  }

  /// Returns the values of all valid trials so far.
  std::vector<std::vector<double>> values() const {
    std::vector<std::vector<double>> all;
    for (const auto& [trail, seen] : seen_)
      if (seen.result.outcome.ok()) all.push_back(seen.result.values);
    return all;
  }

  // Starts the search with the fastest schedules of other devices and shapes, so that every strategy first learns their
  // times on this kernel. A strategy with a model also learns from all of their trials. Returns true, or the result of
  // warm_up_by_others() if the store has no such trials.
  bool warm_up(search::Searcher& searcher, std::vector<search::Candidate>& first) {
    const std::vector<WarmSource> known = warm_sources(session_.warm_start, loop_text_, max_sources);
    if (known.empty()) return warm_up_by_others(searcher);
    std::vector<search::SourceTask> sources;
    for (const WarmSource& source : known) sources.push_back(source.trials);
    const bool learns = objectives_.empty() && searcher.warm_start(sources);
    first = fastest(known, space_, first_of_each);
    narrator_.progress.line(fmt::format("{}  warm start: {}; trying {} of their schedules first{}", narrator_.label,
                                        describe(known), first.size(),
                                        learns ? ", and the model learns from all" : ""));
    return true;
  }

  // Estimates schedules of this kernel with a model of the store's other kernels. Returns false if the store has no
  // other kernels, or if the strategy does not learn from estimates.
  bool warm_up_by_others(search::Searcher& searcher) {
    const std::vector<search::SourceTask> sources{searcher.learns() ? ask_others() : search::SourceTask()};
    const bool learns = objectives_.empty() && !sources[0].empty() && searcher.warm_start(sources);
    narrator_.progress.line(
        fmt::format("{}  warm start: {} has no trials of this kernel; {}", narrator_.label, session_.warm_start,
                    learns ? fmt::format("trees trained on its other kernels estimate {} schedules", sources[0].size())
                           : "cold start"));
    return learns;
  }

  search::SourceTask ask_others() {
    if (!session_.learned_from)
      session_.learned_from = label_store(session_.warm_start, least_to_learn_from, max_to_learn_from);
    if (session_.learned_from->empty()) return {};
    return ask(learned_prior(*session_.learned_from, experiment_.options.seed), learned_schedules);
  }

  search::SourceTask ask(const Prior& prior, std::size_t schedules) const {
    const auto* const schedules_of_rules = dynamic_cast<const KernelSpace*>(&space_);
    if (schedules_of_rules == nullptr) return {};
    return prior_source(*schedules_of_rules, highest(session_.known, session_.seen), schedules,
                        experiment_.options.seed, prior);
  }

  void begin_analytic(search::Searcher& searcher) {
    const std::vector<search::SourceTask> sources{searcher.learns() ? ask(analytic_prior(), session_.analytic_prior)
                                                                    : search::SourceTask()};
    const bool learns = objectives_.empty() && searcher.warm_start(sources);
    narrator_.progress.line(fmt::format(
        "{}  analytic prior: {}", narrator_.label,
        learns ? fmt::format("{} schedules", sources[0].size()) : experiment_.strategy + " does not learn"));
  }

  /// Measures a candidate. The outcome has the aim's number in place of the time.
  search::Measured measure(const search::Candidate& candidate, const Aim& aim) {
    if (objectives_.empty())
      return candidate->trail() == heuristic_->trail() ? search::Measured{first_, true} : measure(candidate);
    const std::string trail = print(candidate->trail());
    const auto seen = seen_.find(trail);
    const bool known = seen != seen_.end() && seen->second.candidate.effort >= candidate.effort;
    Measurer::Screened result = known ? seen->second.result : measure(candidate);
    if (known) result.known = true;
    if (result.outcome.ok()) result.outcome.microseconds = aim(result.values);
    return result;
  }

  Measurer::Screened measure(const search::Candidate& candidate) {
    narrator_.progress.status(narrator_.label, details());
    // With several objectives, a slow schedule may be the best in another objective, so no measurement is stopped
    // early.
    const double best_us = objectives_.empty() ? best_us_ : std::numeric_limits<double>::infinity();
    const Measurer::Screened measured = measurer_.screen(candidate, best_us);
    const Outcome& outcome = measured.outcome;
    if (outcome.status == Status::cancelled) return measured;
    const bool left_out = !session_.bits.is_any() && measured.known && outcome.status == Status::invalid;
    ++(left_out ? row_.left_out : measured.known ? row_.known : row_.trials);
    if (!left_out) watch_builds(outcome);
    if (!outcome.ok() && !left_out) {
      row_.fault = outcome.message;
      row_.is_own_fault = is_opaque_ && !measure::transient(outcome.status) && !measure::uninformative(outcome.status);
    }
    if (!outcome.ok() && !measured.known) ++row_.failures[std::string(status_name(outcome.status))];
    std::erase_if(ran_, [&](const auto& guess) { return guess.second->trail() == candidate->trail(); });
    if (outcome.ok()) ran_.emplace_back(outcome.microseconds, candidate);
    if (!objectives_.empty()) seen_[print(candidate->trail())] = {candidate, measured};
    if (outcome.ok() && candidate.effort == 1 && outcome.microseconds < best_us_) {
      best_us_ = row_.best_us = outcome.microseconds;
      row_.trail = print(candidate->trail());
      narrator_.progress.news(narrator_.label + "  " + details());
    }
    if (!measured.known) look_ahead();
    narrator_.progress.status(narrator_.label, details());
    narrator_.publish(row_);
    if (narrator_.on_trial) narrator_.on_trial(row_, candidate, measured);
    return measured;
  }

  /// Counts how many configurations of an opaque kernel fail to build with the same message, from the first
  /// configuration on. Failures by static_assert or #error do not count: the source itself rejects the configuration,
  /// and may accept another.
  void watch_builds(const Outcome& outcome) {
    constexpr std::array refusals{"static assertion", "static_assert", "#error"};
    const auto has = [&](const char* word) { return outcome.message.find(word) != std::string::npos; };
    const bool is_refused = std::ranges::any_of(refusals, has);
    if (outcome.status != Status::build_error || is_refused) others_seen_ = true;
    if (same_failures_ > 0 && outcome.message != row_.fault) others_seen_ = true;
    if (is_opaque_ && !others_seen_) ++same_failures_;
  }

  /// Returns true if all configurations so far fail to build with the same message. The failure then does not depend on
  /// the configuration.
  bool is_hopeless() const {
    // If half of all configurations could be built, one kernel in 256 would begin with this many failures by chance.
    constexpr int enough_failures = 8;
    return !others_seen_ && same_failures_ >= enough_failures;
  }

  // Updates the prospect after a trial. The time for opening the kernel is not counted as time of the trials.
  void look_ahead() {
    ++prospect_.trials;
    if (started_ > 0) prospect_.seconds = seconds_before_ + (now() - started_);
    if (row_.heuristic_us <= 0 || row_.best_us <= 0) return;
    prospect_.gain = std::log(row_.heuristic_us / row_.best_us);
    prospect_.least_us = least_us_of(least_work_, session_);
    prospect_.room = room_for(row_.best_us, prospect_.least_us);
  }

  /// Returns true if the run's time was up before the kernel's turn, so that only the heuristic's schedule was
  /// measured. A run of 0 seconds does nothing but measure, so it has finals of one round.
  bool is_too_late_for_finals() const {
    return experiment_.seconds > 0 && budget_.seconds <= 0 && row_.trials + row_.known <= 1;
  }

  std::vector<search::Candidate> finalists() {
    // The choice among candidates with equal times must not depend on the order in which they were measured.
    std::ranges::sort(ran_, {}, [&](const auto& ran) {
      const Timed timed = measurer_.timed(ran.second, ran.first);
      return std::tuple(timed.changes, timed.trail);
    });
    std::vector<double> times;
    for (const auto& [us, candidate] : ran_) times.push_back(us);
    const double fastest = times.empty() ? 0 : std::ranges::min(times);
    for (double& us : times)
      if (us <= slowest_of_equals(fastest)) us = fastest;
    std::vector<search::Candidate> result;
    // comes first, because it represents all candidates with the same source
    if (row_.heuristic_us > 0) result.push_back(heuristic_);
    if (const auto stored = measurer_.stored_best()) result.push_back(stored->candidate);
    for (const search::Candidate& candidate : front()) result.push_back(candidate);
    for (const std::size_t i : measure::finalists(times, session_.protocol)) result.push_back(ran_[i].second);
    return result;
  }

  /// With several objectives, returns points of this run's front and of the store's front.
  std::vector<search::Candidate> front() {
    // points of each front, evenly spaced; confirming ten candidates takes a second or more
    constexpr std::size_t max_points = 32;
    std::vector<search::Candidate> run;
    std::vector<measure::Point> points;
    for (const auto& [trail, seen] : seen_) {
      if (!seen.result.outcome.ok() || seen.candidate.effort < 1) continue;
      points.push_back({seen.result.values, changes(seen.candidate->trail(), heuristic_->trail()), trail});
      run.push_back(seen.candidate);
    }
    std::vector<search::Candidate> result;
    const auto add = [&](std::size_t count, const auto& candidate_at) {
      for (std::size_t i = 0; i < std::min(count, max_points); ++i)
        result.push_back(candidate_at(count <= max_points ? i : i * (count - 1) / (max_points - 1)));
    };
    const std::vector<std::size_t> own = measure::pareto_front(points, objectives_);
    add(own.size(), [&](std::size_t i) { return run[own[i]]; });
    const std::vector<measure::TrialRecord> known = measurer_.front().trials;
    add(known.size(), [&](std::size_t i) { return search::Candidate(space_.find(parse_trail(known[i].trail))); });
    return result;
  }

  void confirm() {
    narrator_.progress.status(narrator_.label, details() + "  confirming");
    const double spent = now() - start_;
    const double reserved = spent * (1 - search_share) / search_share;
    const double rest = wants_time(row_.stop) ? 0 : budget_.share - spent;
    const double seconds = std::min(budget_.seconds - spent, std::max(reserved, rest));
    const auto finals = measurer_.confirm(finalists(), seconds);
    const bool told = std::ranges::any_of(
        finals, [](const Measurer::Final& final) { return measure::conclusive(final.outcome.status); });
    if (cancelled_() || !told) return;  // the screened result remains
    row_.best_us = 0;
    row_.trail.clear();
    std::vector<search::Candidate> valid;
    std::vector<Timed> times;
    std::vector<std::string> proofs;
    for (const auto& [candidate, outcome, proof] : finals) {
      if (!outcome.ok()) continue;
      if (candidate == heuristic_) row_.heuristic_us = outcome.microseconds;
      valid.push_back(candidate);
      proofs.push_back(proof);
      times.push_back(measurer_.timed(candidate, outcome.microseconds));
    }
    if (valid.empty()) return;
    const std::size_t best = winner(times);
    row_.best_us = times[best].microseconds;
    row_.trail = times[best].trail;
    row_.confirmed = true;
    row_.proof = proofs[best];
    if (valid[best]->trail() != heuristic_->trail()) session_.winners.push_back({valid[best]->trail(), work_});
  }

  std::string details() const {
    const std::int64_t seen = row_.trials + row_.known;
    std::string text = fmt::format("{} {}", seen, seen == 1 ? "trial" : "trials");
    if (row_.best_us > 0) text += fmt::format("  best {} µs", significant(row_.best_us));
    if (row_.best_us > 0 && row_.heuristic_us > 0) text += fmt::format("  {:.2f}x", row_.heuristic_us / row_.best_us);
    return text + fmt::format("  {} left", duration(narrator_.deadline - now()));
  }

  struct Seen {
    search::Candidate candidate;
    Measurer::Screened result;
  };
  const Experiment& experiment_;
  const bool is_opaque_;  // true: a user's kernel file or a tile program
  const measure::Objectives& objectives_;
  const KernelBudget& budget_;
  Narrator& narrator_;
  Session& session_;
  const std::function<bool()>& cancelled_;
  Prospect& prospect_;
  const double seconds_before_ = prospect_.seconds;  // time spent in earlier passes
  const ir::Work least_work_;
  const double start_ = now();
  double started_ = 0;  // when the heuristic's schedule had been measured; 0: not yet
  Measurer measurer_;
  const CandidateSpace& space_;
  const std::string loop_text_;
  const ir::Work work_;
  search::Candidate heuristic_;
  Outcome first_;             // outcome of the heuristic's schedule
  int same_failures_ = 0;     // number counted by watch_builds()
  bool others_seen_ = false;  // true: an outcome was not a build failure with the same message
  std::vector<std::pair<double, search::Candidate>> ran_;  // the latest screened times, some with reduced effort
  std::map<std::string, Seen> seen_;  // trail → the latest result; empty unless there are objectives
  double best_us_ = std::numeric_limits<double>::infinity();
  Row row_;
};

}  // namespace

Row blank_row(const KernelCase& kernel) {
  const ir::Work work = ir::work(kernel.loop);
  Row row;
  row.name = kernel.name;
  row.same = kernel.same;
  row.alternative = kernel.alternative;
  row.front.objectives = kernel.objectives;
  row.flops = work.flops;
  row.bytes = work.bytes;
  row.stop = name(search::Stop::cancelled);
  return row;
}

bool wants_time(std::string_view stop) {
  return stop == name(search::Stop::seconds) || stop == name(search::Stop::little_gain);
}

Row tune_kernel(const KernelCase& kernel, const Experiment& experiment, const KernelBudget& budget, Session& session,
                Narrator& narrator, Prospect& prospect) {
  narrator.progress.status(narrator.label, "preparing");
  return KernelTuner(kernel, experiment, budget, session, narrator, prospect).run();
}

double shortest_us(const KernelCase& kernel, const Session& session) {
  return least_us_of(least_work_of(kernel, session), session);
}

Row screen_kernel(const KernelCase& kernel, const Experiment& experiment, Session& session, Narrator& narrator,
                  Prospect& prospect) {
  narrator.progress.status(narrator.label, "preparing");
  return KernelTuner(kernel, experiment, {}, session, narrator, prospect).screen();
}

Row recall_kernel(const KernelCase& kernel, Session& session) {
  Measurer measurer(kernel, session);
  const search::Candidate heuristic = search::heuristic(measurer.space());
  Row row = blank_row(kernel);
  row.front = measurer.front();
  if (const auto outcome = measurer.recalled(heuristic); outcome && outcome->ok())
    row.heuristic_us = outcome->microseconds;
  if (const auto best = measurer.stored_best()) {
    row.best_us = best->microseconds;
    row.trail = print(best->candidate->trail());
    row.confirmed = best->confirmed;
    row.proof = best->proof;
  }
  return row;
}

}  // namespace deplo::engine
