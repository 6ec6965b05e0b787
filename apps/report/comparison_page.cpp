// Makes the page of a comparison of strategies.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "apps/report/bars.h"
#include "apps/report/chart.h"
#include "apps/report/comparison.h"
#include "core/mapped.h"
#include "core/text/text.h"
#include "search/quantile.h"

namespace deplo::apps::report {

namespace compare = search::compare;

namespace {

using compare::Cell;
using compare::SpaceResult;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::string interval(const compare::Interval& i) { return fmt::format("{:.3f} … {:.3f}", i.low, i.high); }

std::vector<std::string> labels(const Comparison& comparison) {
  return mapped(comparison.contest.entrants, &compare::Entrant::label);
}

std::size_t longest_label(const Comparison& comparison) {
  std::size_t longest = 0;
  for (const std::string& label : labels(comparison)) longest = std::max(longest, columns(label));
  return longest;
}

std::string evaluations(double count) { return std::isfinite(count) ? fmt::format("{:.0f}", count) : "-"; }

HtmlTable standings_table(const Ordered& ordered) {
  HtmlTable table{{"strategy", "score", "95 %", "median", "95 %", "short", "p", "A12"}, {}};
  for (const int percent : compare::target_percent) table.heads.push_back(fmt::format("to {} %", percent));
  for (const compare::Standing& s : ordered.standings) {
    const bool first = &s == &ordered.standings.front();
    table.rows.push_back({s.label, fmt::format("{:.3f}", s.score), interval(s.score_interval),
                          fmt::format("{:.3f}", s.median_score), interval(s.median_interval),
                          fmt::format("{:.3f}", s.short_score), first ? "" : fmt::format("{:.3f}", s.p),
                          first ? "" : fmt::format("{:.2f}", s.a12)});
    for (const double count : s.evaluations) table.rows.back().push_back(evaluations(count));
  }
  return table;
}

Figure standings_figure(const Ordered& ordered) {
  std::vector<BarRow> rows;
  double min_score = 0;
  for (std::size_t i = 0; i < ordered.standings.size(); ++i) {
    const compare::Standing& s = ordered.standings[i];
    rows.push_back({s.label, s.score, s.score_interval.low, s.score_interval.high, i, fmt::format("{:.3f}", s.score)});
    min_score = std::min(min_score, s.score_interval.low);
  }
  // The axis does not go below -1, because scores far below random search would flatten the rest.
  return bars("scores", "Score, mean over spaces, with its 95 % interval", rows,
              Axis{"", std::max(min_score, -1.0), 1});
}

/// The mean, and the lower and upper quartile, over spaces at one time; NaN if no space has a score then.
struct Middle {
  double mean = nan, low = nan, high = nan;
};
Middle middle(const Ordered& ordered, std::size_t entrant, std::size_t time) {
  std::vector<double> scores;
  for (const SpaceResult& space : ordered.spaces)
    if (const double score = space.cells[entrant].score_curve[time]; !std::isnan(score)) scores.push_back(score);
  if (scores.empty()) return {};
  return {compare::mean(scores), search::quantile(scores, 0.25), search::quantile(scores, 0.75)};
}

Figure score_over_time(const Comparison& comparison, const Ordered& ordered) {
  const std::size_t count = comparison.contest.entrants.size();
  std::vector<std::vector<double>> means(count), lows(count), highs(count);
  double min_score = -0.2;
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t t = 0; t < compare::curve_times; ++t) {
      const Middle at = middle(ordered, i, t);
      means[i].push_back(at.mean);
      lows[i].push_back(at.low);
      highs[i].push_back(at.high);
      if (!std::isnan(at.mean)) min_score = std::min(min_score, at.mean);
    }
  Chart chart("score-over-time", "Score over time: mean over spaces",
              {"share of the budget", 0, 1, false, Unit::percent}, {"score", std::max(min_score, -1.0), 1},
              longest_label(comparison));
  chart.rule(0);
  const std::vector<double> x = compare::equidistant(0, 1, compare::curve_times);
  constexpr std::size_t max_bands = 3;  // more bands would hide each other
  for (std::size_t i = 0; i < count && count <= max_bands; ++i) chart.band(x, lows[i], highs[i], i);
  for (std::size_t i = 0; i < count; ++i) chart.line(x, means[i], i, comparison.contest.entrants[i].label);
  return chart.figure();
}

/// Returns the geometric mean of the regret over spaces, for each trial.
std::vector<double> mean_regret(const Ordered& ordered, std::size_t entrant) {
  std::vector<double> result;
  for (std::size_t i = 0; i < compare::regret_trials.back(); ++i) {
    std::vector<double> values;
    for (const SpaceResult& space : ordered.spaces) values.push_back(space.cells[entrant].regrets.curve[i]);
    result.push_back(compare::geometric_mean(values));
  }
  return result;
}

Figure regret_over_trials(const Comparison& comparison, const Ordered& ordered) {
  std::vector<std::vector<double>> means;
  double highest = 1.1;
  for (std::size_t i = 0; i < comparison.contest.entrants.size(); ++i) {
    means.push_back(mean_regret(ordered, i));
    highest = std::max(highest, means.back()[compare::regret_trials[0] - 1]);
  }
  std::vector<double> trials(compare::regret_trials.back());
  std::iota(trials.begin(), trials.end(), 1.0);
  Chart chart("regret", "Regret after a few trials: geometric mean over spaces",
              {"trials", 1, trials.back(), false, Unit::count}, {"best tried / best known", 1, highest},
              longest_label(comparison));
  for (std::size_t i = 0; i < means.size(); ++i) chart.line(trials, means[i], i, comparison.contest.entrants[i].label);
  return chart.figure();
}

HtmlTable regret_table(const Ordered& ordered) {
  HtmlTable table{{"strategy"}, {}};
  for (const std::size_t trials : compare::regret_trials)
    table.heads.push_back(fmt::format("regret after {} trials", trials));
  table.heads.emplace_back("chosen");
  const auto cell = [](double value, const compare::Interval& i) {
    return fmt::format("{:.3f} ({})", value, interval(i));
  };
  for (const compare::Standing& s : ordered.standings) {
    auto& row = table.rows.emplace_back(std::vector<std::string>{s.label});
    for (std::size_t i = 0; i < s.regret->regret.size(); ++i)
      row.push_back(cell(s.regret->regret[i], s.regret->intervals[i]));
    row.push_back(cell(s.regret->selection, s.regret->selection_interval));
  }
  return table;
}

Figure arrivals(const Comparison& comparison, std::span<const SpaceResult> spaces, std::size_t target) {
  std::vector<std::vector<compare::Reached>> curves;
  double longest = 10;
  for (std::size_t i = 0; i < comparison.contest.entrants.size(); ++i) {
    std::vector<compare::Event> events;
    for (const SpaceResult& space : spaces)
      events.insert(events.end(), space.cells[i].first[target].begin(), space.cells[i].first[target].end());
    for (const compare::Event& event : events) longest = std::max(longest, event.at);
    curves.push_back(compare::reached(std::move(events)));
  }
  const int percent = compare::target_percent[target];
  Chart chart(fmt::format("within-{}-percent", percent),
              fmt::format("Runs that came within {} % of the best (ECDF)", percent),
              {"evaluations", 1, longest, true, Unit::count}, {"share of the runs", 0, 1, false, Unit::percent},
              longest_label(comparison));
  for (std::size_t i = 0; i < curves.size(); ++i) {
    std::vector<double> x{1}, y{0};
    for (const compare::Reached& step : curves[i]) {
      x.push_back(step.at);
      y.push_back(step.share);
    }
    chart.steps(x, y, i, comparison.contest.entrants[i].label);
  }
  return chart.figure();
}

Figure score_map(const Comparison& comparison, const Ordered& ordered) {
  HeatMap map{{}, labels(comparison), {}};
  for (const SpaceResult& space : ordered.spaces) {
    map.rows.push_back(space.name);
    map.values.emplace_back();
    for (const Cell& cell : space.cells) map.values.back().push_back(cell.score);
  }
  return heat_map("score-map", "Score of each strategy on each space", map);
}

HtmlTable spaces_table(const Comparison& comparison, const Ordered& ordered) {
  HtmlTable table{labels(comparison), {}};
  table.heads.insert(table.heads.begin(), "space");
  const bool objectives =
      std::ranges::any_of(ordered.spaces, [](const auto& space) { return space.objective != "time"; });
  if (objectives) table.heads.emplace_back("objective");
  for (const char* head : {"configurations", "within 1 %", "within 5 %", "within 10 %", "M*", "neighbours"})
    table.heads.emplace_back(head);
  for (const SpaceResult& space : ordered.spaces) {
    auto& row = table.rows.emplace_back(std::vector<std::string>{space.name});
    for (const Cell& cell : space.cells) row.push_back(fmt::format("{:.3f}", cell.score));
    if (objectives) row.push_back(space.objective);
    row.push_back(fmt::format("{}", space.difficulty.configurations));
    for (const double within : {space.difficulty.within1, space.difficulty.within5, space.difficulty.within10})
      row.push_back(fmt::format("{:.2f} %", 100 * within));
    row.push_back(fmt::format("{}", space.evaluations));
    row.push_back(fmt::format("{:.2f}", space.difficulty.neighbours));
  }
  return table;
}

/// Returns the start of the axis of best-so-far curves: below all curves, except for their first twentieth.
double lowest(const SpaceResult& space) {
  double low = 0.8;
  for (const Cell& cell : space.cells)
    for (std::size_t t = compare::curve_times / 20; t < compare::curve_times; ++t)
      if (cell.best_curve[0][t] < low) low = cell.best_curve[0][t];
  return std::max(0.0, std::floor(low * 5) / 5);
}

/// Returns the strategies whose bands are drawn: all, or only the first and the best of more than six, because more
/// bands would hide each other.
std::vector<std::size_t> banded(const SpaceResult& space) {
  constexpr std::size_t max_bands = 6;
  std::vector<std::size_t> all(space.cells.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  if (all.size() <= max_bands) return all;
  const auto best = std::ranges::max_element(space.cells, {}, &Cell::score) - space.cells.begin();
  all = {0};
  if (best > 0) all.push_back(static_cast<std::size_t>(best));
  return all;
}

Figure best_so_far(const Comparison& comparison, const SpaceResult& space) {
  Chart chart("best-so-far", "Best so far: median and quartiles of the runs",
              around("time of the search", space.start, space.budget, false, Unit::seconds),
              {"best of all / best so far", lowest(space), 1, false, Unit::percent}, longest_label(comparison));
  const std::vector<double> times = compare::equidistant(space.start, space.budget, compare::curve_times);
  for (const std::size_t i : banded(space))
    chart.band(times, space.cells[i].best_curve[0], space.cells[i].best_curve[2], i);
  for (std::size_t i = 0; i < space.cells.size(); ++i)
    chart.line(times, space.cells[i].best_curve[1], i, comparison.contest.entrants[i].label);
  return chart.figure();
}

Figure landscape(const SpaceResult& space) {
  const auto bins = static_cast<double>(space.histogram.size());
  const double highest = std::max(std::ranges::max(space.histogram), 1e-9);
  Chart chart(
      "landscape", "Landscape: where the configurations are",
      {space.objective == "time" ? "best of all / time (100 %: the best)" : "share of the best (100 %: the best)", 0, 1,
       false, Unit::percent},
      {"share of the valid ones", 0, highest, false, Unit::percent}, 0);
  for (std::size_t i = 0; i < space.histogram.size(); ++i)
    if (space.histogram[i] > 0)
      chart.bar(static_cast<double>(i) / bins, static_cast<double>(i + 1) / bins, space.histogram[i], 0,
                print(space.histogram[i], Unit::percent));
  return chart.figure();
}

std::vector<Figure> space_figures(const Comparison& comparison, const SpaceResult& space) {
  std::vector<Figure> figures = {best_so_far(comparison, space)};
  figures.push_back(arrivals(comparison, {&space, 1}, 0));
  figures.push_back(landscape(space));
  std::vector<BarRow> rows;
  for (std::size_t i = 0; i < space.levels.size(); ++i)
    if (const double share = space.importance[i]; share >= 0.0005)
      rows.push_back({space.levels[i], share, 0, 0, 2, print(share, Unit::percent)});
  std::ranges::stable_sort(rows, std::greater(), &BarRow::value);
  constexpr std::size_t max_rows = 10;
  if (rows.size() > max_rows) rows.resize(max_rows);
  if (!rows.empty()) figures.push_back(bars("knobs", "Knobs: share of the variance of log time", rows, Axis{}));
  return figures;
}

void add_order(Page& page, const Comparison& comparison, const Ordered& ordered) {
  page.key(labels(comparison));
  const std::string levels =
      comparison.orders.size() > 1 ? fmt::format("levels {}, ", compare::name(ordered.order)) : "";
  std::vector<Figure> figures = {standings_figure(ordered), score_over_time(comparison, ordered)};
  for (std::size_t target = 0; target < compare::target_percent.size(); ++target)
    figures.push_back(arrivals(comparison, ordered.spaces, target));
  figures.push_back(score_map(comparison, ordered));
  if (comparison.contest.regret) figures.push_back(regret_over_trials(comparison, ordered));
  page.plots(levels + "all spaces", std::move(figures));
  page.table(standings_table(ordered));
  page.text(
      "95 %: hierarchical bootstrap over spaces and repeats. short: score at the short budget. p: Wilcoxon's "
      "signed-rank test over spaces against the first strategy, Holm's correction. A12: probability that a run beats a "
      "run of the first strategy. to 10 %, 5 %: evaluations until half of the runs are this close to the best.");
  if (comparison.contest.regret) {
    page.table(regret_table(ordered));
    page.text(
        "regret: best tried / best known, geometric mean over spaces, with the 95 % interval over seeds. chosen: time "
        "of the configuration that wins a final / best tried.");
  }
  page.table(spaces_table(comparison, ordered));
  page.text(
      "within: share of the valid configurations this close to the best. M*: evaluations of random search within the "
      "budget. neighbours: correlation of log times of configurations that differ in one knob.");
}

std::string description(const Comparison& comparison) {
  const Ordered& first = comparison.orders.front();
  const compare::Contest& contest = comparison.contest;
  std::string text = fmt::format("{}, {} repeats, seed {}, levels {}", counted(first.spaces.size(), "space"),
                                 contest.repeats, contest.seed, compare::name(first.order));
  if (contest.noisy) text += ", with noise";
  if (contest.workers > 0) text += fmt::format(", {} compilers in parallel with the device", contest.workers);
  if (contest.warm_start > 0)
    text += fmt::format(", models learn first from {} records or estimates of each source", contest.warm_start);
  text += ". The score is 0 for random search and 1 for finding the best configuration at once.";
  if (comparison.interrupted) text += " Interrupted: unfinished spaces are not shown.";
  return text;
}

std::string description(const SpaceResult& space) {
  std::string text = space.kernel;
  if (!space.device.empty()) text += (text.empty() ? "On " : " on ") + space.device;
  if (!text.empty()) text += "; ";
  if (space.objective != "time") text += fmt::format("objective {}; ", space.objective);
  text += fmt::format("{} configurations, {} valid; budget {} ({} evaluations of random search)",
                      space.difficulty.configurations, space.difficulty.valid, print(space.budget, Unit::seconds),
                      space.evaluations);
  if (!space.sources.empty()) text += fmt::format("; models learn first from {}", join(space.sources, ", "));
  return text;
}

}  // namespace

Page comparison_page(const Comparison& comparison) {
  Page page("Comparison of search strategies");
  const Ordered& first = comparison.orders.front();
  page.text(description(comparison));
  for (const Ordered& ordered : comparison.orders) {
    if (ordered.spaces.empty()) continue;
    if (&ordered != &first) page.section(fmt::format("Levels {}", compare::name(ordered.order)), true);
    add_order(page, comparison, ordered);
  }
  constexpr std::size_t max_unfolded = 12;
  for (const SpaceResult& space : first.spaces) {
    page.section(space.name, first.spaces.size() > max_unfolded);
    page.text(description(space));
    page.plots(space.name, space_figures(comparison, space));
  }
  return page;
}

}  // namespace deplo::apps::report
