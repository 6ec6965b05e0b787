// Compares strategies on a recorded space: many repeats of each, with common seeds.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "search/compare/difficulty.h"
#include "search/compare/regret.h"
#include "search/compare/replay.h"
#include "search/compare/sources.h"
#include "search/compare/statistics.h"

namespace deplo::search::compare {

struct Entrant {
  std::string label;  // the entrant's name in the table; unique
  std::string name;   // the searcher's name
  SearchOptions options;
};

struct Contest {
  std::vector<Entrant> entrants;  // the first is the reference of the statistical tests
  std::size_t repeats = 100;
  std::uint64_t seed = 0;
  double cutoff = 0.95, short_cutoff = 0.8;  // p of the budgets T(p)
  std::int64_t evaluations = 0;              // minimum length of runs, for the statistics of evaluations until a target
  bool noisy = false;
  std::size_t workers = 0;
  std::size_t warm_start = 0;  // number of records of each source, drawn again for each repeat
  std::size_t threads = 1;
  /// Also measure the regrets after few trials (regret.h), in separate runs. These runs begin with the space's default
  /// configuration if it is known, and replay noise.
  bool regret = false;
};

inline constexpr double first_cutoff = 0.01;           // p of T_0
inline constexpr std::array target_percent = {10, 5};  // targets: percent worse than the optimum
inline constexpr std::size_t score_times = 1000;       // number of times in [T_0, T] over which a score is the mean
inline constexpr std::size_t curve_times = 100;        // number of times in [T_0, T] that are kept for plots

/// The result of one entrant on one space. About 20 KB: runs are not kept.
struct Cell {
  double score = 0, short_score = 0;
  std::vector<double> replicates;                               // scores of draws of repeats, for bootstraps
  std::vector<double> runs;                                     // the score of each repeat
  std::array<std::vector<Event>, target_percent.size()> first;  // per repeat: evaluations until the target is reached
  std::vector<double> score_curve;                              // at curve_times times in [T_0, T]
  std::array<std::vector<double>, 3> best_curve;  // quartiles of Landscape::quality(), at the same times; 0: none yet
  Regrets regrets;                                // empty without Contest::regret
  // runs that a failure of the strategy ended early, runs without any evaluation, and runs skipped after three of these
  std::size_t failed = 0;
  std::string fault;        // why the first of these runs failed
  double cpu_per_1000 = 0;  // CPU seconds per 1,000 evaluations: the only figure that is not deterministic
};

struct SpaceResult {
  std::string name, kernel, device;
  std::string objective = "time";    // label(Objective)
  std::vector<std::string> sources;  // names of the spaces that warm starts use
  std::vector<std::string> levels;   // names of the knobs in the tree's order
  Difficulty difficulty;
  double start = 0, budget = 0, short_budget = 0;  // T_0, T and T(short_cutoff), seconds
  std::int64_t evaluations = 0, short_evaluations = 0;
  bool untuned = false;           // the default configuration is known
  std::vector<double> histogram;  // of Landscape::quality() over [0, 1], 50 bins, as shares of the valid configurations
  std::vector<double> importance;  // per level
  std::vector<Cell> cells;         // per entrant
};

/// Throws Error if the space cannot rate strategies: no configuration is valid, evaluations cost nothing, random search
/// solves the space at once, or the values have both signs and regrets are wanted.
void check_space(const TableSpace&, const Contest&);

/// Called from the worker threads after each run.
using Tick = std::function<void(std::size_t done, std::size_t of)>;
/// Runs all entrants on a space. Throws Error for unknown searchers and bad parameters, and in the cases of
/// check_space(). The number of threads affects only cpu_per_1000. `cancelled` is polled between runs; if it returns
/// true, the result must not be used. Repeat r has the same seed for all entrants. If there are sources, strategies
/// that can learn from them start warm; all others start cold.
SpaceResult compete(const TableSpace&, const Contest&, const Tick&, const std::function<bool()>& cancelled,
                    const Sources& = {});

/// A row of the table: an entrant's results over all spaces.
struct Standing {
  std::string label;
  double score = 0, median_score = 0, short_score = 0;  // over spaces: mean, median and mean
  Interval score_interval, median_interval;             // 95 %
  double p = 1;      // Wilcoxon over spaces against the first entrant, with Holm's correction; the first entrant: 1
  double a12 = 0.5;  // mean over spaces of the probability that a run is better than one of the first entrant
  std::array<double, target_percent.size()> evaluations{};  // median until the target; infinity: over half miss it
  std::optional<RegretSummary> regret = {};                 // nullopt without Contest::regret
};
std::vector<Standing> standings(const Contest&, std::span<const SpaceResult>);

}  // namespace deplo::search::compare
