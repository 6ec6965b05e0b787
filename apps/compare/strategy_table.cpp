// What `deplo compare` prints.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "apps/compare/strategy_compare.h"
#include "core/text/text.h"

namespace deplo::apps {
namespace {

using search::Cell;
using search::Interval;
using search::SpaceResult;
using search::Standing;

constexpr std::array<std::size_t, 9> widths = {7, 19, 8, 19, 7, 8, 6, 8, 8};  // of the numbers beside a label
constexpr std::size_t wide_columns = std::accumulate(widths.begin(), widths.end(), std::size_t{0});
constexpr std::size_t least_label = 12;

std::string right(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, columns(text)), ' ') + text;
}
std::string left(const std::string& text, std::size_t width) {
  const std::string shortened = cut(text, width);
  return shortened + std::string(width - columns(shortened), ' ');
}

std::string of(const Interval& interval) { return fmt::format("[{:.3f}, {:.3f}]", interval.low, interval.high); }
// "-": fewer than half of the runs came so far.
std::string evaluations(double value) { return std::isfinite(value) ? fmt::format("{:.0f}", value) : "-"; }
std::string probability(double p) { return p < 0.001 ? "<0.001" : fmt::format("{:.3f}", p); }

std::size_t label_width(const Comparison& comparison, std::size_t width, std::size_t beside) {
  std::size_t longest = least_label;
  for (const auto& entrant : comparison.contest.entrants) longest = std::max(longest, columns(entrant.label));
  if (width == 0) return longest;
  return std::min(longest, width > beside + least_label ? width - beside : width);
}

std::string row(const std::array<std::string, widths.size()>& cells) {
  std::string text;
  for (std::size_t i = 0; i < cells.size(); ++i) text += right(cells[i], widths[i]);
  return text + "\n";
}

std::string wide(const Comparison& comparison, const Ordered& ordered, std::size_t width) {
  const std::size_t label = label_width(comparison, width, wide_columns);
  std::string text =
      left("strategy", label) + row({"score", "95 %", "median", "95 %", "short", "p", "A12", "to 10%", "to 5%"});
  for (const Standing& s : ordered.standings) {
    const bool reference = &s == &ordered.standings.front();
    text += left(s.label, label) +
            row({fmt::format("{:.3f}", s.score), of(s.score_interval), fmt::format("{:.3f}", s.median_score),
                 of(s.median_interval), fmt::format("{:.3f}", s.short_score), reference ? "" : probability(s.p),
                 reference ? "" : fmt::format("{:.2f}", s.a12), evaluations(s.evaluations[0]),
                 evaluations(s.evaluations[1])});
  }
  return text;
}

std::string stacked(const Ordered& ordered, std::size_t width) {
  std::string text;
  for (const Standing& s : ordered.standings) {
    text += cut(s.label, width) + "\n";
    text +=
        cut(fmt::format("  score {:.3f} {}, short {:.3f}", s.score, of(s.score_interval), s.short_score), width) + "\n";
    text += cut(fmt::format("  median {:.3f} {}", s.median_score, of(s.median_interval)), width) + "\n";
    text += cut(fmt::format("  p {}, A12 {:.2f}, {} to 10%, {} to 5%", probability(s.p), s.a12,
                            evaluations(s.evaluations[0]), evaluations(s.evaluations[1])),
                width) +
            "\n";
  }
  return text;
}

std::string space_table(const Comparison& comparison, const SpaceResult& space, std::size_t width) {
  const search::Difficulty& hard = space.difficulty;
  std::string text = fmt::format(
      "\n{}: {} configurations, {} valid; within 1/5/10% of the best: {:.3g}/{:.3g}/{:.3g}%; neighbours {:.2f}; "
      "budget {} ({} evaluations of random search), short {} ({})\n",
      space.name, hard.configurations, hard.valid, 100 * hard.within1, 100 * hard.within5, 100 * hard.within10,
      hard.neighbours, duration(space.budget), space.evaluations, duration(space.short_budget),
      space.short_evaluations);
  const std::size_t label = label_width(comparison, width, 48);
  text += "  " + left("strategy", label) + "   score   short       p   A12  to 10%   to 5%\n";
  for (std::size_t i = 0; i < space.cells.size(); ++i) {
    const Cell& cell = space.cells[i];
    std::vector<double> differences;
    for (std::size_t r = 0; r < cell.runs.size(); ++r) differences.push_back(cell.runs[r] - space.cells[0].runs[r]);
    const auto half = [&](std::size_t target) {
      return search::time_to_share(search::reached(cell.first[target]), 0.5);
    };
    text += "  " + left(comparison.contest.entrants[i].label, label) +
            fmt::format("{:8.3f}{:8.3f}{:>8}{:>6}{:>8}{:>8}\n", cell.score, cell.short_score,
                        i == 0 ? "" : probability(search::wilcoxon(differences)),
                        i == 0 ? "" : fmt::format("{:.2f}", search::a12(cell.runs, space.cells[0].runs)),
                        evaluations(half(0)), evaluations(half(1)));
  }
  return text;
}

// How much the order of the levels moves each strategy.
std::string order_table(const Comparison& comparison, std::size_t width) {
  const std::size_t label = label_width(comparison, width, 12 * comparison.orders.size() + 10);
  std::string text = "\nscore by order of the levels\n" + left("strategy", label);
  for (const Ordered& ordered : comparison.orders) text += fmt::format("{:>12}", search::name(ordered.order));
  text += fmt::format("{:>10}\n", "spread");
  for (std::size_t i = 0; i < comparison.contest.entrants.size(); ++i) {
    text += left(comparison.contest.entrants[i].label, label);
    std::vector<double> scores;
    for (const Ordered& ordered : comparison.orders) {
      if (ordered.standings.empty()) continue;
      scores.push_back(ordered.standings[i].score);
      text += fmt::format("{:12.3f}", scores.back());
    }
    text += fmt::format("{:10.3f}\n", std::ranges::max(scores) - std::ranges::min(scores));
  }
  return text;
}

std::string mode(const search::Contest& contest) {
  std::string text;
  if (contest.noisy) text += ", launches resampled";
  if (contest.workers > 0) text += fmt::format(", {} compilers beside the device", contest.workers);
  if (contest.warm_start > 0) text += fmt::format(", models start from {} records of each source", contest.warm_start);
  return text;
}

}  // namespace

std::string print_comparison(const Comparison& comparison, bool verbose, std::size_t width) {
  const Ordered& first = comparison.orders.front();
  if (first.standings.empty()) return "interrupted before the first space was finished\n";
  const bool narrow = width != 0 && width < wide_columns + least_label;
  const search::Contest& contest = comparison.contest;
  std::string text = narrow ? stacked(first, width) : wide(comparison, first, width);
  text += fmt::format("{} space{}, {} repeats, seed {}, levels {}{}; 0 is random search, 1 the best at once\n",
                      first.spaces.size(), first.spaces.size() == 1 ? "" : "s", contest.repeats, contest.seed,
                      search::name(first.order), mode(contest));
  text += fmt::format("short: the score of the budget of p = {}; p, A12: against {}; to 10%: median evaluations\n",
                      contest.short_cutoff, contest.entrants.front().label);
  if (comparison.orders.size() > 1) text += order_table(comparison, width);
  if (verbose)
    for (const SpaceResult& space : first.spaces) text += space_table(comparison, space, width);
  if (comparison.interrupted) text += "interrupted: spaces that were not finished are left out\n";
  return text;
}

}  // namespace deplo::apps
