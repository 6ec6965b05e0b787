// A comparison as one HTML page without scripts or links: plots as inline SVG.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "apps/strategy_compare.h"
#include "apps/svg.h"
#include "core/text.h"

namespace deplo::apps {
namespace {

using search::Cell;
using search::SpaceResult;

constexpr const char* head = R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Comparison of search strategies</title><style>
:root{color-scheme:light dark;--ink:#1b1b1b;--paper:#fff;--faint:#e2e2e2;--soft:#5a5a5a}
@media(prefers-color-scheme:dark){:root{--ink:#e8e8e8;--paper:#161616;--faint:#3a3a3a;--soft:#a8a8a8}}
body{font:15px/1.45 system-ui,sans-serif;color:var(--ink);background:var(--paper);margin:0 auto;padding:12px;max-width:1240px}
h1{font-size:22px;margin:8px 0}h2{font-size:17px;margin:26px 0 6px}p{margin:6px 0}
.plots{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(340px,100%),1fr));gap:14px}
svg{width:100%;height:auto;font:11px system-ui,sans-serif}svg text{fill:var(--soft)}svg .title{fill:var(--ink);font-weight:600;font-size:12px}
.grid{stroke:var(--faint);stroke-width:.7}.rule{stroke:var(--soft);stroke-width:1;stroke-dasharray:3 3}.whisker{stroke:var(--ink);stroke-width:2}
.key span{display:inline-block;margin:0 14px 4px 0}.key svg{width:26px;height:10px;vertical-align:middle;margin-right:5px}
.scroll{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums}
th,td{padding:3px 8px;text-align:right;border-bottom:1px solid var(--faint);white-space:nowrap}th:first-child,td:first-child{text-align:left}
td.heat{color:#111}
</style></head><body>
)";

std::vector<double> unit(std::size_t count) {
  std::vector<double> x;
  for (std::size_t i = 0; i < count; ++i) x.push_back(static_cast<double>(i) / static_cast<double>(count - 1));
  return x;
}

std::string key(const Comparison& comparison) {
  std::string text = "<p class=\"key\">";
  for (std::size_t i = 0; i < comparison.contest.entrants.size(); ++i)
    text += fmt::format(
        "<span><svg viewBox=\"0 0 26 10\" aria-hidden=\"true\"><line x1=\"0\" x2=\"26\" y1=\"5\" y2=\"5\" "
        "stroke=\"{}\" "
        "stroke-width=\"3\" stroke-dasharray=\"{}\"/></svg>{}</span>",
        colour(i), dash(i), escape(comparison.contest.entrants[i].label));
  return text + "</p>\n";
}

std::string standings(const Ordered& ordered) {
  std::vector<BarRow> rows;
  double least = 0;
  for (std::size_t i = 0; i < ordered.standings.size(); ++i) {
    const search::Standing& s = ordered.standings[i];
    rows.push_back({s.label, s.score, s.score_interval.low, s.score_interval.high, i});
    least = std::min(least, s.score_interval.low);
  }
  return bars("Score, mean over spaces (95 % interval)", rows, least, 1);
}

std::string score_over_time(const Comparison& comparison, const Ordered& ordered) {
  std::vector<std::vector<double>> curves(comparison.contest.entrants.size());
  double least = -0.2;
  for (std::size_t i = 0; i < curves.size(); ++i)
    for (std::size_t t = 0; t < search::curve_times; ++t) {
      double sum = 0, count = 0;
      for (const SpaceResult& space : ordered.spaces) {
        const double score = space.cells[i].score_curve[t];
        if (std::isnan(score)) continue;
        sum += score;
        ++count;
      }
      curves[i].push_back(count > 0 ? sum / count : std::numeric_limits<double>::quiet_NaN());
      if (count > 0) least = std::min(least, curves[i].back());
    }
  // What is far below random search would flatten the rest.
  Chart chart("Score over time, mean over spaces", {"share of the budget", 0, 1}, {"score", std::max(least, -1.0), 1});
  chart.rule(0);
  const std::vector<double> x = unit(search::curve_times);
  for (std::size_t i = 0; i < curves.size(); ++i) chart.line(x, curves[i], i, comparison.contest.entrants[i].label);
  return chart.svg();
}

std::string arrivals(const Comparison& comparison, const Ordered& ordered, std::size_t target) {
  std::vector<std::vector<search::Reached>> curves;
  double longest = 10;
  for (std::size_t i = 0; i < comparison.contest.entrants.size(); ++i) {
    std::vector<search::Event> events;
    for (const SpaceResult& space : ordered.spaces)
      events.insert(events.end(), space.cells[i].first[target].begin(), space.cells[i].first[target].end());
    for (const search::Event& event : events) longest = std::max(longest, event.at);
    curves.push_back(search::reached(std::move(events)));
  }
  Chart chart(fmt::format("Runs that came within {} % of the best", search::target_percent[target]),
              {"evaluations", 1, longest, true}, {"share of the runs", 0, 1});
  for (std::size_t i = 0; i < curves.size(); ++i) {
    std::vector<double> x, y;
    for (const search::Reached& step : curves[i]) {
      x.push_back(step.at);
      y.push_back(step.share);
    }
    chart.steps(x, y, i, comparison.contest.entrants[i].label);
  }
  return chart.svg();
}

// Blue above random search, orange below; the numbers say the same.
std::string heat(double score) {
  const double strength = std::clamp(std::abs(score), 0.0, 1.0);
  const auto mix = [&](double to) { return static_cast<int>(std::lround(255 + (to - 255) * strength)); };
  return score >= 0 ? fmt::format("rgb({},{},{})", mix(86), mix(180), mix(233))
                    : fmt::format("rgb({},{},{})", mix(230), mix(159), mix(0));
}

std::string heat_map(const Comparison& comparison, const Ordered& ordered) {
  std::string text = "<div class=\"scroll\"><table><tr><th>space</th>";
  for (const auto& entrant : comparison.contest.entrants) text += "<th>" + escape(entrant.label) + "</th>";
  text += "<th>M*</th><th>within 10 %</th><th>neighbours</th></tr>\n";
  for (const SpaceResult& space : ordered.spaces) {
    text += "<tr><td>" + escape(space.name) + "</td>";
    for (const Cell& cell : space.cells)
      text += fmt::format("<td class=\"heat\" style=\"background:{}\">{:.3f}</td>", heat(cell.score), cell.score);
    text += fmt::format("<td>{}</td><td>{:.2f} %</td><td>{:.2f}</td></tr>\n", space.evaluations,
                        100 * space.difficulty.within10, space.difficulty.neighbours);
  }
  return text + "</table></div>\n";
}

std::string best_so_far(const Comparison& comparison, const SpaceResult& space) {
  Chart chart("Best so far: median and quartiles", {"seconds", space.start, space.budget},
              {"best of all / best so far", 0, 1});
  const std::vector<double> times = search::equidistant(space.start, space.budget, search::curve_times);
  for (std::size_t i = 0; i < space.cells.size(); ++i)
    chart.band(times, space.cells[i].best_curve[0], space.cells[i].best_curve[2], i);
  for (std::size_t i = 0; i < space.cells.size(); ++i)
    chart.line(times, space.cells[i].best_curve[1], i, comparison.contest.entrants[i].label);
  return chart.svg();
}

std::string landscape(const SpaceResult& space) {
  const double bins = static_cast<double>(space.histogram.size());
  Chart chart("Where the configurations are", {"best of all / time", 0, 1},
              {"share of the configurations", 0, std::ranges::max(space.histogram)});
  for (std::size_t i = 0; i < space.histogram.size(); ++i)
    if (space.histogram[i] > 0)
      chart.bar(static_cast<double>(i) / bins, static_cast<double>(i + 1) / bins, space.histogram[i], 0,
                fmt::format("{:.3g} %", 100 * space.histogram[i]));
  return chart.svg();
}

std::string knobs(const SpaceResult& space) {
  std::vector<BarRow> rows;
  for (std::size_t i = 0; i < space.levels.size(); ++i)
    if (space.importance[i] >= 0.0005) rows.push_back({space.levels[i], space.importance[i], 0, 0, 2});
  std::ranges::stable_sort(rows, std::greater(), &BarRow::value);
  constexpr std::size_t most = 10;
  if (rows.size() > most) rows.resize(most);
  return bars("Knobs: share of the variance of log time", rows, 0, 1);
}

std::string space_section(const Comparison& comparison, const SpaceResult& space) {
  return fmt::format(
             "<h2>{}</h2><p>{} {}; {} configurations, {} valid; budget {} ({} evaluations of random search)</p>"
             "<div class=\"plots\">",
             escape(space.name), escape(space.kernel), space.device.empty() ? "" : "on " + escape(space.device),
             space.difficulty.configurations, space.difficulty.valid, duration(space.budget), space.evaluations) +
         best_so_far(comparison, space) + landscape(space) + knobs(space) + "</div>\n";
}

}  // namespace

std::string print_comparison_html(const Comparison& comparison) {
  const Ordered& ordered = comparison.orders.front();
  std::string text = head;
  text += fmt::format(
      "<h1>Comparison of search strategies</h1><p>{} spaces, {} repeats, seed {}, levels {}. The score is 0 for random "
      "search and 1 for finding the best configuration at once.</p>\n",
      ordered.spaces.size(), comparison.contest.repeats, comparison.contest.seed, search::name(ordered.order));
  if (ordered.spaces.empty()) return text + "<p>Interrupted before the first space was finished.</p></body></html>\n";
  text += key(comparison) + "<div class=\"plots\">" + standings(ordered) + score_over_time(comparison, ordered);
  for (std::size_t target = 0; target < search::target_percent.size(); ++target)
    text += arrivals(comparison, ordered, target);
  text += "</div>\n<h2>Score of each strategy on each space</h2>\n" + heat_map(comparison, ordered);
  for (const SpaceResult& space : ordered.spaces) text += space_section(comparison, space);
  return text + "</body></html>\n";
}

}  // namespace deplo::apps
