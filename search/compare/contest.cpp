#include "search/compare/contest.h"

#include <time.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <map>
#include <mutex>
#include <numeric>
#include <thread>

#include "core/error.h"
#include "search/guarded.h"
#include "search/quantile.h"

namespace deplo::search::compare {
namespace {

// As in the published figures. Other draws move a score of 100 repeats by 0.02 on spaces with a small M*.
constexpr std::size_t bags = 20;
constexpr std::size_t cell_replicates = 200;
constexpr std::size_t max_failed = 3;  // failed runs of an entrant; each may take its whole deadline
constexpr double run_factor = 1.1;     // searches run for 1.1 times the budget
constexpr std::size_t histogram_bins = 50;
constexpr std::size_t finalists = 8;  // as in `tune` (measure/protocol/protocol.h)

std::uint64_t mix(std::uint64_t a, std::uint64_t b) { return Rng(a ^ Rng(b).next()).next(); }

std::uint64_t mix(std::uint64_t seed, std::string_view text) {
  for (const char c : text) seed = mix(seed, static_cast<unsigned char>(c));
  return seed;
}

double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// Calls work(0) … work(count - 1), each once, on some thread. Rethrows an exception of `work`.
void in_parallel(std::size_t count, std::size_t threads, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  std::exception_ptr failure;
  std::mutex lock;
  const auto loop = [&] {
    try {
      for (std::size_t i = next++; i < count; i = next++) work(i);
    } catch (...) {
      next = count;
      const std::lock_guard guard(lock);
      failure = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> helpers;
    for (std::size_t i = 1; i < std::min(threads, count); ++i) helpers.emplace_back(loop);
    loop();
  }
  if (failure) std::rethrow_exception(failure);
}

void check(const Landscape& landscape, const std::string& name, const Contest& contest) {
  if (landscape.random_at(landscape.seconds(first_cutoff)) <= landscape.optimum())
    throw Error(name + ": expected a harder space, found one that random search solves at once");
  if (contest.regret && landscape.optimum() <= 0 && landscape.values().front() >= 0)
    throw Error(name + ": expected values of one sign for regrets, found both signs");
}

class Arena {
 public:
  Arena(const TableSpace& space, const Contest& contest, const Sources& sources)
      : space_(space),
        contest_(contest),
        sources_(sources),
        landscape_(space),
        seed_(mix(contest.seed, space.records().name)) {
    start_ = landscape_.seconds(first_cutoff);
    budget_ = std::max(landscape_.seconds(contest.cutoff), start_);
    short_budget_ = std::max(landscape_.seconds(contest.short_cutoff), start_);
    limit_ = run_factor * std::max(budget_, short_budget_);  // --cutoff 0.5 is below the default of --short-cutoff
    check(landscape_, space.records().name, contest);
    runs_.resize(contest.entrants.size(), std::vector<Steps>(contest.repeats));
    regret_runs_.resize(contest.entrants.size(), std::vector<Steps>(contest.regret ? contest.repeats : 0));
    cpu_.resize(contest.entrants.size(), std::vector<double>(contest.repeats));
    faults_.resize(contest.entrants.size());
    skipped_.resize(contest.entrants.size(), 0);
  }

  SpaceResult compete(const Tick& tick, const std::function<bool()>& cancelled) {
    const std::size_t count = contest_.entrants.size() * contest_.repeats;
    std::atomic<std::size_t> done = 0;
    in_parallel(count, contest_.threads, [&](std::size_t i) {
      if (cancelled && cancelled()) return;
      run(i % contest_.entrants.size(), i / contest_.entrants.size());
      if (tick) tick(++done, count);
    });
    SpaceResult result = describe();
    if (cancelled && cancelled()) return result;
    in_parallel(contest_.entrants.size(), contest_.threads, [&](std::size_t i) { result.cells[i] = reduce(i); });
    return result;
  }

 private:
  void run(std::size_t entrant, std::size_t repeat) {
    const std::uint64_t seed = mix(seed_, repeat);
    SearchOptions options = contest_.entrants[entrant].options;
    options.seed = seed;
    const double before = cpu_seconds();
    const Records& records = space_.records();
    const std::string objective = records.objective.duration ? "" : label(records.objective);
    options.about = {records.kernel, "", records.device, 0, limit_, objective};
    const Replay replay{
        .seconds = limit_, .evaluations = contest_.evaluations, .noisy = contest_.noisy, .workers = contest_.workers};
    if (has_failed(entrant)) return skip(entrant);
    runs_[entrant][repeat] = run(entrant, repeat, options, replay);
    cpu_[entrant][repeat] = cpu_seconds() - before;
    if (!contest_.regret || has_failed(entrant)) return;
    options.about.trials = regret_trials.back();
    options.about.seconds = 0;
    const Replay short_replay{.evaluations = std::int64_t{regret_trials.back()},
                              .noisy = true,
                              .workers = contest_.workers,
                              .finalists = finalists,
                              .first = space_.records().untuned};
    regret_runs_[entrant][repeat] = run(entrant, repeat, options, short_replay);
  }

  Steps run(std::size_t entrant, std::size_t repeat, const SearchOptions& options, const Replay& replay) {
    Guarded searcher([&] { return make_searcher(contest_.entrants[entrant].name, space_, options); });
    searcher.warm_start(draw_sources(options.seed));
    Steps steps = search::compare::replay(space_, landscape_, searcher, replay, mix(options.seed, "noise"));
    if (!searcher.fault().empty())
      add_fault(entrant, repeat, searcher.fault());
    else if (steps.empty())
      add_fault(entrant, repeat, "the strategy ended after 0 evaluations");
    return steps;
  }

  bool has_failed(std::size_t entrant) {
    const std::lock_guard guard(faults_lock_);
    return faults_[entrant].size() >= max_failed;
  }

  void skip(std::size_t entrant) {
    const std::lock_guard guard(faults_lock_);
    ++skipped_[entrant];
  }

  void add_fault(std::size_t entrant, std::size_t repeat, const std::string& fault) {
    const std::lock_guard guard(faults_lock_);
    faults_[entrant][repeat] = fault;
  }

  std::vector<SourceTask> draw_sources(std::uint64_t seed) const {
    std::vector<SourceTask> drawn;
    for (const auto& source : sources_) {
      Rng rng(mix(mix(seed, "source"), source->name));
      drawn.push_back(draw(*source, contest_.warm_start, rng));
    }
    return drawn;
  }

  SpaceResult describe() const {
    const Records& records = space_.records();
    SpaceResult result;
    result.name = records.name;
    result.kernel = records.kernel;
    result.device = records.device;
    result.objective = label(records.objective);
    for (const auto& source : sources_) result.sources.push_back(source->name);
    const std::vector<double> shares = importance(records);
    for (const std::size_t knob : space_.order()) {
      result.levels.push_back(records.knobs[knob].name);
      result.importance.push_back(shares[knob]);
    }
    result.difficulty = difficulty(space_, landscape_, seed_);
    result.start = start_;
    result.budget = budget_;
    result.short_budget = short_budget_;
    result.evaluations = landscape_.evaluations(contest_.cutoff);
    result.short_evaluations = landscape_.evaluations(contest_.short_cutoff);
    result.untuned = records.untuned.has_value();
    result.histogram.resize(histogram_bins, 0);
    for (const double value : landscape_.values()) {
      const double share = landscape_.quality(value) * histogram_bins;
      result.histogram[std::min(static_cast<std::size_t>(share), histogram_bins - 1)] +=
          1 / static_cast<double>(landscape_.values().size());
    }
    result.cells.resize(contest_.entrants.size());
    return result;
  }

  Cell reduce(std::size_t entrant) {
    const std::vector<Steps>& runs = runs_[entrant];
    const PooledRuns pool(runs, limit_);
    // All entrants have the same draws of repeats, so that equal runs have equal figures, and that adding an entrant
    // does not change the figures of the others.
    Rng rng(mix(seed_, "bags"));
    const std::vector<double> times = equidistant(start_, budget_, score_times);
    const std::vector<double> short_times = equidistant(start_, short_budget_, score_times);
    Cell cell;
    cell.score = mean_of(pool.bagged(bags, times, rng), times);
    cell.short_score = mean_of(pool.bagged(bags, short_times, rng), short_times);
    for (std::size_t i = 0; i < cell_replicates; ++i)
      cell.replicates.push_back(mean_of(pool.fit(pool.draw(rng), times), times));
    for (const Steps& run : runs) cell.runs.push_back(mean_of(ranks_at(run, times), times));
    for (std::size_t i = 0; i < target_percent.size(); ++i)
      for (const Steps& run : runs) cell.first[i].push_back(until(run, target_percent[i]));
    add_curves(pool, runs, rng, cell);
    add_cpu(entrant, cell);
    runs_[entrant] = {};
    if (contest_.regret) cell.regrets = regrets(landscape_, regret_runs_[entrant]);
    cell.failed = faults_[entrant].size() + skipped_[entrant];
    if (!faults_[entrant].empty()) cell.fault = faults_[entrant].begin()->second;
    return cell;
  }

  double mean_of(const std::vector<double>& ranks, const std::vector<double>& times) const {
    return mean_score(scores(landscape_, ranks, times));
  }

  /// The evaluation at which a run first came within `percent` % of the optimum; censored at the run's length if it
  /// never did.
  Event until(const Steps& run, double percent) const {
    const double limit = landscape_.within(percent);
    const auto& values = landscape_.values();
    const auto rank = std::ranges::lower_bound(values, limit, std::greater()) - values.begin();
    const auto found =
        std::ranges::find_if(run, [&](const Step& step) { return step.rank >= static_cast<float>(rank); });
    if (found == run.end()) return {static_cast<double>(run.size()), true};
    return {static_cast<double>(found - run.begin() + 1), false};
  }

  void add_curves(const PooledRuns& pool, const std::vector<Steps>& runs, Rng& rng, Cell& cell) const {
    const std::vector<double> times = equidistant(start_, budget_, curve_times);
    cell.score_curve = scores(landscape_, pool.bagged(bags, times, rng), times);
    std::vector<std::vector<double>> best(times.size());  // per time: the quality of the best of each run
    for (const Steps& run : runs) {
      const std::vector<double> ranks = ranks_at(run, times);
      for (std::size_t i = 0; i < times.size(); ++i) {
        const bool none = run.empty() || static_cast<double>(run[0].seconds) > times[i];
        best[i].push_back(none ? 0 : landscape_.quality(landscape_.value_at(ranks[i])));
      }
    }
    for (const std::vector<double>& qualities : best)
      for (std::size_t q = 0; q < cell.best_curve.size(); ++q)
        cell.best_curve[q].push_back(quantile(qualities, 0.25 * static_cast<double>(q + 1)));
  }

  void add_cpu(std::size_t entrant, Cell& cell) const {
    double evaluations = 0;
    for (const Steps& run : runs_[entrant]) evaluations += static_cast<double>(run.size());
    const double seconds = std::accumulate(cpu_[entrant].begin(), cpu_[entrant].end(), 0.0);
    cell.cpu_per_1000 = evaluations > 0 ? 1000 * seconds / evaluations : 0;
  }

  const TableSpace& space_;
  const Contest& contest_;
  const Sources& sources_;
  Landscape landscape_;
  std::uint64_t seed_;
  double start_ = 0, budget_ = 0, short_budget_ = 0, limit_ = 0;
  std::vector<std::vector<Steps>> runs_, regret_runs_;  // per entrant and repeat
  std::vector<std::vector<double>> cpu_;
  std::mutex faults_lock_;
  std::vector<std::map<std::size_t, std::string>> faults_;  // per entrant: the repeats that failed, and why
  std::vector<std::size_t> skipped_;                        // per entrant: repeats that were not begun
};

}  // namespace

void check_space(const TableSpace& space, const Contest& contest) {
  check(Landscape(space), space.records().name, contest);
}

SpaceResult compete(const TableSpace& space, const Contest& contest, const Tick& tick,
                    const std::function<bool()>& cancelled, const Sources& sources) {
  CHECK(!contest.entrants.empty() && contest.repeats > 0 && contest.threads > 0);
  return Arena(space, contest, sources).compete(tick, cancelled);
}

}  // namespace deplo::search::compare
