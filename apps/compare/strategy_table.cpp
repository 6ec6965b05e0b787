// The tables that `deplo compare` prints.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "apps/cli/columns.h"
#include "apps/compare/strategy_compare.h"
#include "core/error.h"
#include "core/text/text.h"
#include "core/text/wrap.h"

namespace deplo::apps {

namespace compare = search::compare;

namespace {

using compare::Cell;
using compare::Interval;
using compare::SpaceResult;
using compare::Standing;

constexpr std::size_t least_label = 12;

/// Pads a label to `width` columns. A wider label gets a line of its own.
std::string left(const std::string& text, std::size_t width) {
  const std::size_t wide = columns(text);
  return wide > width ? text + "\n" + std::string(width, ' ') : text + std::string(width - wide, ' ');
}

/// A table. Each line has a label and right-aligned cells. `min_widths`: the smallest widths of the columns. A column
/// is wider if a cell would leave no blank before it.
class Grid {
 public:
  explicit Grid(std::vector<std::size_t> min_widths) : widths_(std::move(min_widths)) {}
  void add(std::string label, std::vector<std::string> cells) {
    CHECK(cells.size() == widths_.size());
    for (std::size_t i = 0; i < cells.size(); ++i) widths_[i] = std::max(widths_[i], columns(cells[i]) + 1);
    lines_.emplace_back(std::move(label), std::move(cells));
  }
  /// Returns the width of all cells of a line, without the label.
  std::size_t width() const { return std::accumulate(widths_.begin(), widths_.end(), std::size_t{0}); }
  std::string text(std::size_t label_width, const std::string& indent = "") const {
    std::string text;
    for (const auto& [label, cells] : lines_) {
      text += indent + left(label, label_width);
      for (std::size_t i = 0; i < cells.size(); ++i) text += right_aligned(cells[i], widths_[i]);
      text += "\n";
    }
    return text;
  }

 private:
  std::vector<std::size_t> widths_;
  std::vector<std::pair<std::string, std::vector<std::string>>> lines_;
};

std::string of(const Interval& interval) { return fmt::format("[{:.3f}, {:.3f}]", interval.low, interval.high); }
// Returns "-" if fewer than half of the runs reached the target.
std::string evaluations(double value) { return std::isfinite(value) ? fmt::format("{:.0f}", value) : "-"; }
std::string probability(double p) { return p < 0.001 ? "<0.001" : fmt::format("{:.3f}", p); }

std::size_t label_width(const Comparison& comparison, std::size_t width, std::size_t beside) {
  std::size_t longest = least_label;
  for (const auto& entrant : comparison.contest.entrants) longest = std::max(longest, columns(entrant.label));
  if (width == 0) return longest;
  return std::min(longest, std::max(least_label, width - std::min(width, beside)));
}

/// A column of the table of standings. `reference`: true for the strategy that all others are compared with.
struct Column {
  const char* title;
  std::size_t width;
  int importance;  // the least important ones are left out of a narrow window
  std::string (*text)(const Standing&, bool reference);
};
constexpr std::array<Column, 9> all_columns = {{
    {"score", 7, 2, [](const Standing& s, bool) { return fmt::format("{:.3f}", s.score); }},
    {"95 %", 17, 1, [](const Standing& s, bool) { return of(s.score_interval); }},
    {"median", 8, 0, [](const Standing& s, bool) { return fmt::format("{:.3f}", s.median_score); }},
    {"95 %", 17, 0, [](const Standing& s, bool) { return of(s.median_interval); }},
    {"short", 7, 2, [](const Standing& s, bool) { return fmt::format("{:.3f}", s.short_score); }},
    {"p", 8, 2, [](const Standing& s, bool reference) { return reference ? "" : probability(s.p); }},
    {"A12", 6, 2, [](const Standing& s, bool reference) { return reference ? "" : fmt::format("{:.2f}", s.a12); }},
    {"to 10%", 8, 2, [](const Standing& s, bool) { return evaluations(s.evaluations[0]); }},
    {"to 5%", 8, 2, [](const Standing& s, bool) { return evaluations(s.evaluations[1]); }},
}};

/// Returns the table of standings with the columns that are at least this important.
Grid standings_grid(const Ordered& ordered, int least_importance) {
  std::vector<Column> shown;
  std::ranges::copy_if(all_columns, std::back_inserter(shown),
                       [&](const Column& column) { return column.importance >= least_importance; });
  std::vector<std::size_t> widths;
  std::vector<std::string> titles;
  for (const Column& column : shown) {
    widths.push_back(column.width);
    titles.emplace_back(column.title);
  }
  Grid grid(std::move(widths));
  grid.add("strategy", std::move(titles));
  for (const Standing& s : ordered.standings) {
    std::vector<std::string> cells;
    for (const Column& column : shown) cells.push_back(column.text(s, &s == &ordered.standings.front()));
    grid.add(s.label, std::move(cells));
  }
  return grid;
}

std::string standings_table(const Comparison& comparison, const Ordered& ordered, std::size_t width) {
  int least_importance = 0;
  Grid grid = standings_grid(ordered, least_importance);
  while (width > 0 && least_label + grid.width() > width && least_importance < 2)
    grid = standings_grid(ordered, ++least_importance);
  return grid.text(label_width(comparison, width, grid.width()));
}

std::string number(double value, const Interval& interval, bool intervals) {
  return intervals ? fmt::format("{:.3f} [{:.3f}, {:.3f}]", value, interval.low, interval.high)
                   : fmt::format("{:.3f}", value);
}

// Returns the table of regrets. In a narrow window, it has no intervals.
std::string regret_table(const Comparison& comparison, const Ordered& ordered, std::size_t width) {
  constexpr std::size_t wide = 23, narrow = 9, count = compare::regret_trials.size() + 1;
  const bool intervals = width == 0 || width >= least_label + count * wide;
  Grid grid(std::vector<std::size_t>(count, intervals ? wide : narrow));
  std::vector<std::string> titles;
  for (const std::size_t trials : compare::regret_trials) titles.push_back(fmt::format("{}", trials));
  titles.emplace_back("chosen");
  grid.add("after trials", std::move(titles));
  for (const Standing& s : ordered.standings) {
    std::vector<std::string> cells;
    for (std::size_t i = 0; i < s.regret->regret.size(); ++i)
      cells.push_back(number(s.regret->regret[i], s.regret->intervals[i], intervals));
    cells.push_back(number(s.regret->selection, s.regret->selection_interval, intervals));
    grid.add(s.label, std::move(cells));
  }
  const std::string text = "\n" + grid.text(label_width(comparison, width, grid.width()));
  const auto known = std::ranges::count(ordered.spaces, true, &SpaceResult::untuned);
  const std::string legend = fmt::format(
      "regret: best tried / best known, geometric mean over spaces{}; chosen: time of the configuration that wins "
      "a final after {} trials / best tried; trial 1 is the default configuration on {} of {}\n",
      intervals ? " [95 % over seeds]" : "", compare::regret_trials.back(), known,
      counted(ordered.spaces.size(), "space"));
  return text + wrap(legend, width);
}

std::string space_table(const Comparison& comparison, const SpaceResult& space, std::size_t width) {
  const compare::Difficulty& hard = space.difficulty;
  const std::string about = fmt::format(
      "{}: {}{} configurations, {} valid; within 1/5/10% of the best: {:.3g}/{:.3g}/{:.3g}%; correlation of neighbours "
      "{:.2f}; budget {} ({} evaluations of random search), short {} ({})",
      space.name, space.objective == "time" ? "" : fmt::format("objective {}; ", space.objective), hard.configurations,
      hard.valid, 100 * hard.within1, 100 * hard.within5, 100 * hard.within10, hard.neighbours, duration(space.budget),
      space.evaluations, duration(space.short_budget), space.short_evaluations);
  std::string text = "\n" + wrap(about, width) + "\n";
  Grid grid({8, 8, 8, 6, 8, 8});
  grid.add("strategy", {"score", "short", "p", "A12", "to 10%", "to 5%"});
  for (std::size_t i = 0; i < space.cells.size(); ++i) {
    const Cell& cell = space.cells[i];
    std::vector<double> differences;
    for (std::size_t r = 0; r < cell.runs.size(); ++r) differences.push_back(cell.runs[r] - space.cells[0].runs[r]);
    const auto half = [&](std::size_t target) {
      return compare::time_to_share(compare::reached(cell.first[target]), 0.5);
    };
    grid.add(comparison.contest.entrants[i].label,
             {fmt::format("{:.3f}", cell.score), fmt::format("{:.3f}", cell.short_score),
              i == 0 ? "" : probability(compare::wilcoxon(differences)),
              i == 0 ? "" : fmt::format("{:.2f}", compare::a12(cell.runs, space.cells[0].runs)), evaluations(half(0)),
              evaluations(half(1))});
  }
  constexpr std::string_view indent = "  ";
  return text + grid.text(label_width(comparison, width, indent.size() + grid.width()), std::string(indent));
}

// Returns a table of the strategies' scores by order of the levels, and how much the order changes each score.
std::string order_table(const Comparison& comparison, std::size_t width) {
  std::vector<std::size_t> widths(comparison.orders.size(), 12);
  std::vector<std::string> titles;
  for (const Ordered& ordered : comparison.orders) titles.emplace_back(compare::name(ordered.order));
  widths.push_back(10);
  titles.emplace_back("spread");
  Grid grid(std::move(widths));
  grid.add("strategy", std::move(titles));
  for (std::size_t i = 0; i < comparison.contest.entrants.size(); ++i) {
    std::vector<std::string> cells;
    std::vector<double> scores;
    for (const Ordered& ordered : comparison.orders) {
      if (!ordered.standings.empty()) scores.push_back(ordered.standings[i].score);
      cells.push_back(ordered.standings.empty() ? "" : fmt::format("{:.3f}", scores.back()));
    }
    cells.push_back(fmt::format("{:.3f}", std::ranges::max(scores) - std::ranges::min(scores)));
    grid.add(comparison.contest.entrants[i].label, std::move(cells));
  }
  return "\nscore by order of the levels\n" + grid.text(label_width(comparison, width, grid.width()));
}

std::string mode(const compare::Contest& contest) {
  std::string text;
  if (contest.noisy) text += ", launches resampled";
  if (contest.workers > 0) text += fmt::format(", {} compilers in parallel with the device", contest.workers);
  if (contest.warm_start > 0)
    text += fmt::format(", models learn first from {} records or estimates of each source", contest.warm_start);
  return text;
}

/// Returns "; objective GFLOP/s, higher is better (2 spaces)" for each objective other than the time.
std::string objectives(std::span<const SpaceResult> spaces) {
  std::map<std::string, std::int64_t> counts;
  for (const SpaceResult& space : spaces) ++counts[space.objective];
  std::string text;
  for (const auto& [objective, count] : counts)
    if (objective != "time")
      text += fmt::format("; objective {}{}", objective,
                          counts.size() > 1 ? fmt::format(" ({})", counted(count, "space")) : "");
  return text;
}

/// Returns a line for each strategy that failed on a space.
std::string faults(const Comparison& comparison) {
  std::string text;
  for (const Ordered& ordered : comparison.orders)
    for (const SpaceResult& space : ordered.spaces)
      for (std::size_t i = 0; i < space.cells.size(); ++i)
        if (const Cell& cell = space.cells[i]; cell.failed > 0)
          text += fmt::format("{} of {} runs of {} failed on {}: {}\n", cell.failed, comparison.contest.repeats,
                              comparison.contest.entrants[i].label, space.name, cell.fault);
  return text;
}

}  // namespace

std::string print_comparison(const Comparison& comparison, bool verbose, std::size_t width) {
  const Ordered& first = comparison.orders.front();
  if (first.standings.empty()) return "interrupted before the first space was finished\n";
  const compare::Contest& contest = comparison.contest;
  const std::string legend = fmt::format(
      "{}, {}, seed {}, levels {}{}{}; 0 is random search, 1 the best at once\nshort: the score at the short "
      "budget (cutoff {}); p, A12: against {}; to 10%, to 5%: median evaluations\n",
      counted(first.spaces.size(), "space"), counted(contest.repeats, "repeat"), contest.seed,
      compare::name(first.order), mode(contest), objectives(first.spaces), contest.short_cutoff,
      contest.entrants.front().label);
  std::string text = standings_table(comparison, first, width) + "\n" + wrap(legend, width);
  if (contest.regret) text += regret_table(comparison, first, width);
  if (comparison.orders.size() > 1) text += order_table(comparison, width);
  if (verbose)
    for (const SpaceResult& space : first.spaces) text += space_table(comparison, space, width);
  text += faults(comparison);
  if (comparison.interrupted) text += "interrupted: unfinished spaces are not shown\n";
  return text;
}

}  // namespace deplo::apps
