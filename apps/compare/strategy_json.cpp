// Prints a comparison for programs: one JSON document, and a table of runs as CSV.
#include <fmt/format.h>

#include "apps/compare/strategy_compare.h"
#include "core/text/json.h"

namespace deplo::apps {

namespace compare = search::compare;

namespace {

Json interval_json(const compare::Interval& interval) { return Json::array({interval.low, interval.high}); }

/// Returns [number of evaluations, whether the run had reached the target by then].
Json event_json(const compare::Event& event) { return Json::array({event.at, !event.censored}); }

Json standing_json(const compare::Standing& s) {
  Json json = Json::object({{"strategy", s.label},
                            {"score", s.score},
                            {"score_95", interval_json(s.score_interval)},
                            {"median_score", s.median_score},
                            {"median_score_95", interval_json(s.median_interval)},
                            {"short_score", s.short_score},
                            {"p", s.p},
                            {"a12", s.a12}});
  for (std::size_t i = 0; i < compare::target_percent.size(); ++i)
    json.set(fmt::format("evaluations_to_{}_percent", compare::target_percent[i]), s.evaluations[i]);
  if (!s.regret) return json;
  for (std::size_t i = 0; i < compare::regret_trials.size(); ++i) {
    json.set(fmt::format("regret_{}", compare::regret_trials[i]), s.regret->regret[i]);
    json.set(fmt::format("regret_{}_95", compare::regret_trials[i]), interval_json(s.regret->intervals[i]));
  }
  json.set("selection_regret", s.regret->selection);
  json.set("selection_regret_95", interval_json(s.regret->selection_interval));
  return json;
}

Json cell_json(const compare::Cell& cell, const std::string& label) {
  Json json = Json::object({{"strategy", label},
                            {"score", cell.score},
                            {"short_score", cell.short_score},
                            {"runs", Json::array(cell.runs)}});
  if (cell.failed > 0) {
    json.set("failed_runs", cell.failed);
    json.set("fault", cell.fault);
  }
  for (std::size_t i = 0; i < compare::target_percent.size(); ++i)
    json.set(fmt::format("first_within_{}_percent", compare::target_percent[i]),
             Json::array(cell.first[i], event_json));
  json.set("score_curve", Json::array(cell.score_curve));
  json.set("best_lower_quartile", Json::array(cell.best_curve[0]));
  json.set("best_median", Json::array(cell.best_curve[1]));
  json.set("best_upper_quartile", Json::array(cell.best_curve[2]));
  if (cell.regrets.runs.empty()) return json;
  json.set("regret_curve", Json::array(cell.regrets.curve));
  json.set("regret_runs", Json::array(cell.regrets.runs, [](const auto& run) { return Json::array(run); }));
  json.set("selection_regret_runs", Json::array(cell.regrets.selections));
  return json;
}

Json space_json(const compare::SpaceResult& space, const compare::Contest& contest) {
  Json strategies = Json::array();
  for (std::size_t i = 0; i < space.cells.size(); ++i)
    strategies.push_back(cell_json(space.cells[i], contest.entrants[i].label));
  return Json::object({{"space", space.name},
                       {"kernel", space.kernel},
                       {"device", space.device},
                       {"objective", space.objective},
                       {"sources", Json::array(space.sources)},
                       {"levels", Json::array(space.levels)},
                       {"default_known", space.untuned},
                       {"importance", Json::array(space.importance)},
                       {"configurations", space.difficulty.configurations},
                       {"valid", space.difficulty.valid},
                       {"share_within_1_percent", space.difficulty.within1},
                       {"share_within_5_percent", space.difficulty.within5},
                       {"share_within_10_percent", space.difficulty.within10},
                       {"neighbour_correlation", space.difficulty.neighbours},
                       {"first_second", space.start},
                       {"budget_seconds", space.budget},
                       {"budget_evaluations", space.evaluations},
                       {"short_budget_seconds", space.short_budget},
                       {"short_budget_evaluations", space.short_evaluations},
                       {"histogram", Json::array(space.histogram)},
                       {"strategies", strategies}});
}

Json order_json(const Ordered& ordered, const compare::Contest& contest) {
  const auto of = [&](const compare::SpaceResult& space) { return space_json(space, contest); };
  return Json::object({{"order", compare::name(ordered.order)},
                       {"standings", Json::array(ordered.standings, standing_json)},
                       {"spaces", Json::array(ordered.spaces, of)}});
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + '"';
}

}  // namespace

std::string print_comparison_json(const Comparison& comparison) {
  const compare::Contest& contest = comparison.contest;
  const auto of = [&](const Ordered& ordered) { return order_json(ordered, contest); };
  return Json::object({{"deplo", "comparison"},
                       {"repeats", contest.repeats},
                       {"seed", contest.seed},
                       {"cutoff", contest.cutoff},
                       {"short_cutoff", contest.short_cutoff},
                       {"noisy", contest.noisy},
                       {"compilers", contest.workers},
                       {"warm_start", contest.warm_start},
                       {"regret", contest.regret},
                       {"interrupted", comparison.interrupted},
                       {"strategies", Json::array(contest.entrants, &compare::Entrant::label)},
                       {"orders", Json::array(comparison.orders, of)}})
      .print_lines(1);
}

std::string print_comparison_csv(const Comparison& comparison) {
  std::string text = "order,space,strategy,repeat,score";
  for (const int percent : compare::target_percent)
    text += fmt::format(",evaluations within {0}%,reached {0}%", percent);
  text += "\n";
  for (const Ordered& ordered : comparison.orders)
    for (const compare::SpaceResult& space : ordered.spaces)
      for (std::size_t i = 0; i < space.cells.size(); ++i)
        for (std::size_t repeat = 0; repeat < space.cells[i].runs.size(); ++repeat) {
          const compare::Cell& cell = space.cells[i];
          text += fmt::format("{},{},{},{},{}", compare::name(ordered.order), quoted(space.name),
                              quoted(comparison.contest.entrants[i].label), repeat, cell.runs[repeat]);
          for (const auto& first : cell.first)
            text += fmt::format(",{},{}", first[repeat].at, first[repeat].censored ? 0 : 1);
          text += "\n";
        }
  return text;
}

}  // namespace deplo::apps
