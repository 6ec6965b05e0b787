// Strategies against each other on one recorded space: many repeats of each, with common seeds.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "search/compare/difficulty.h"
#include "search/compare/replay.h"
#include "search/compare/sources.h"
#include "search/compare/statistics.h"

namespace deplo::search::compare {

struct Entrant {
  std::string label;  // in the table; each once
  std::string name;   // of a searcher
  SearchOptions options;
};

struct Contest {
  std::vector<Entrant> entrants;  // others are tested against the first
  std::size_t repeats = 100;
  std::uint64_t seed = 0;
  double cutoff = 0.95, short_cutoff = 0.8;  // p of the budgets
  std::int64_t evaluations = 0;              // runs are at least so long, for evaluations to target
  bool noisy = false;
  std::size_t workers = 0;
  std::size_t warm_start = 0;  // records of each source, drawn anew for each repeat
  std::size_t threads = 1;
};

inline constexpr double first_cutoff = 0.01;           // p of T_0
inline constexpr std::array target_percent = {10, 5};  // above the optimum
inline constexpr std::size_t score_times = 1000;       // in [T_0, T]
inline constexpr std::size_t curve_times = 100;        // of what is kept for plots

/// What came of one entrant on one space. About 20 KB: runs are not kept.
struct Cell {
  double score = 0, short_score = 0;
  std::vector<double> replicates;                               // scores of draws of repeats, for bootstraps
  std::vector<double> runs;                                     // the score of each repeat by itself
  std::array<std::vector<Event>, target_percent.size()> first;  // per repeat: evaluations until within the target
  std::vector<double> score_curve;                              // at curve_times in [T_0, T]
  std::array<std::vector<double>, 3> best_curve;  // quartiles of optimum / best so far, at the same times; 0: none yet
  double cpu_per_1000 = 0;  // seconds of this machine per 1,000 evaluations: the one figure that differs between runs
};

struct SpaceResult {
  std::string name, kernel, device;
  std::string objective = "time";    // label(Objective)
  std::vector<std::string> sources;  // names of the spaces that runs start from
  std::vector<std::string> levels;   // names of the knobs in the order of the tree
  Difficulty difficulty;
  double start = 0, budget = 0, short_budget = 0;  // T_0, T and T(short_cutoff), seconds
  std::int64_t evaluations = 0, short_evaluations = 0;
  std::vector<double> histogram;   // of optimum / value over [0, 1], shares of the valid ones, 50 bins
  std::vector<double> importance;  // per level
  std::vector<Cell> cells;         // per entrant
};

/// Called from the threads, after each run.
using Tick = std::function<void(std::size_t done, std::size_t of)>;
/// Throws Error where a searcher or the space is not fit for it. The same whatever the number of threads (but
/// cpu_per_1000). `cancelled` is polled between runs; true: the result is not to be used. Repeat r has the same seed
/// for all entrants. Strategies that can learn from sources start warm where there are any, the others cold.
SpaceResult compete(const TableSpace&, const Contest&, const Tick&, const std::function<bool()>& cancelled,
                    const Sources& = {});

/// One line of the table: an entrant over all spaces.
struct Standing {
  std::string label;
  double score = 0, median_score = 0, short_score = 0;  // means over spaces, but the median
  Interval score_interval, median_interval;             // 95 %
  double p = 1;      // Wilcoxon over spaces against the first entrant, Holm's correction over the others; the first: 1
  double a12 = 0.5;  // over repeats, mean over spaces: the probability that a run is better than one of the first
  std::array<double, target_percent.size()> evaluations{};  // median until within the target; infinity: fewer arrive
};
std::vector<Standing> standings(const Contest&, std::span<const SpaceResult>);

}  // namespace deplo::search::compare
