// The comparison for programs: one JSON document, and a table of runs.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "apps/compare/strategy_compare.h"

namespace deplo::apps {

namespace compare = search::compare;

namespace {

using Json = nlohmann::ordered_json;

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json array(const std::vector<double>& values) {
  Json json = Json::array();
  for (const double value : values) json.push_back(number(value));
  return json;
}

Json of(const compare::Interval& interval) { return {interval.low, interval.high}; }

Json of(const std::vector<compare::Event>& events) {
  Json json = Json::array();
  for (const compare::Event& event : events) json.push_back({event.at, !event.censored});
  return json;
}

Json of(const compare::Standing& s) {
  Json json;
  json["strategy"] = s.label;
  json["score"] = s.score;
  json["score_95"] = of(s.score_interval);
  json["median_score"] = s.median_score;
  json["median_score_95"] = of(s.median_interval);
  json["short_score"] = s.short_score;
  json["p"] = s.p;
  json["a12"] = s.a12;
  for (std::size_t i = 0; i < compare::target_percent.size(); ++i)
    json[fmt::format("evaluations_to_{}_percent", compare::target_percent[i])] = number(s.evaluations[i]);
  return json;
}

Json of(const compare::Cell& cell, const std::string& label) {
  Json json;
  json["strategy"] = label;
  json["score"] = cell.score;
  json["short_score"] = cell.short_score;
  json["runs"] = array(cell.runs);
  // [evaluations, whether it came so far by then] of each run
  for (std::size_t i = 0; i < compare::target_percent.size(); ++i)
    json[fmt::format("first_within_{}_percent", compare::target_percent[i])] = of(cell.first[i]);
  json["score_curve"] = array(cell.score_curve);
  json["best_lower_quartile"] = array(cell.best_curve[0]);
  json["best_median"] = array(cell.best_curve[1]);
  json["best_upper_quartile"] = array(cell.best_curve[2]);
  return json;
}

Json of(const compare::SpaceResult& space, const compare::Contest& contest) {
  Json json;
  json["space"] = space.name;
  json["kernel"] = space.kernel;
  json["device"] = space.device;
  json["sources"] = space.sources;
  json["levels"] = space.levels;
  json["importance"] = array(space.importance);
  json["configurations"] = space.difficulty.configurations;
  json["valid"] = space.difficulty.valid;
  json["share_within_1_percent"] = space.difficulty.within1;
  json["share_within_5_percent"] = space.difficulty.within5;
  json["share_within_10_percent"] = space.difficulty.within10;
  json["neighbour_correlation"] = space.difficulty.neighbours;
  json["first_second"] = space.start;
  json["budget_seconds"] = space.budget;
  json["budget_evaluations"] = space.evaluations;
  json["short_budget_seconds"] = space.short_budget;
  json["short_budget_evaluations"] = space.short_evaluations;
  json["histogram"] = array(space.histogram);
  json["strategies"] = Json::array();
  for (std::size_t i = 0; i < space.cells.size(); ++i)
    json["strategies"].push_back(of(space.cells[i], contest.entrants[i].label));
  return json;
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + '"';
}

}  // namespace

std::string print_comparison_json(const Comparison& comparison) {
  const compare::Contest& contest = comparison.contest;
  Json json;
  json["deplo"] = "comparison";
  json["repeats"] = contest.repeats;
  json["seed"] = contest.seed;
  json["cutoff"] = contest.cutoff;
  json["short_cutoff"] = contest.short_cutoff;
  json["noisy"] = contest.noisy;
  json["compilers"] = contest.workers;
  json["warm_start"] = contest.warm_start;
  json["interrupted"] = comparison.interrupted;
  json["strategies"] = Json::array();
  for (const compare::Entrant& entrant : contest.entrants) json["strategies"].push_back(entrant.label);
  json["orders"] = Json::array();
  for (const Ordered& ordered : comparison.orders) {
    Json order;
    order["order"] = compare::name(ordered.order);
    order["standings"] = Json::array();
    for (const compare::Standing& s : ordered.standings) order["standings"].push_back(of(s));
    order["spaces"] = Json::array();
    for (const compare::SpaceResult& space : ordered.spaces) order["spaces"].push_back(of(space, contest));
    json["orders"].push_back(std::move(order));
  }
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
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
