// Reads comparisons that print_comparison_json() wrote.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "apps/report/comparison.h"
#include "core/error.h"
#include "core/mapped.h"

namespace deplo::apps::report {

namespace compare = search::compare;

namespace {

using Json = nlohmann::json;

constexpr double never = std::numeric_limits<double>::infinity();

/// A value of the document and where it is.
class Node {
 public:
  Node(const Json& json, std::string place) : json_(json), place_(std::move(place)) {}

  [[noreturn]] void expected(std::string_view what) const { throw Error(fmt::format("{}: expected {}", place_, what)); }

  Node at(const char* key) const {
    if (!json_.is_object() || !json_.contains(key)) expected(fmt::format("'{}' of a comparison, found none", key));
    return {json_.at(key), fmt::format("{}/{}", place_, key)};
  }
  bool has(const char* key) const { return json_.is_object() && json_.contains(key); }
  std::vector<Node> items(std::optional<std::size_t> count = {}) const {
    if (!json_.is_array() || (count && json_.size() != *count))
      expected(count ? fmt::format("an array of {}", *count) : "an array");
    std::vector<Node> nodes;
    for (std::size_t i = 0; i < json_.size(); ++i) nodes.emplace_back(json_[i], fmt::format("{}/{}", place_, i));
    return nodes;
  }
  std::string text() const {
    if (!json_.is_string()) expected("a string");
    return json_.get<std::string>();
  }
  compare::Order order() const {
    const std::string name = text();
    try {
      return compare::parse_order(name);
    } catch (const Error& error) {
      throw Error(fmt::format("{}: {}", place_, error.what()));
    }
  }
  bool flag() const {
    if (!json_.is_boolean()) expected("true or false");
    return json_.get<bool>();
  }
  /// Returns the number, or `none` if the value is null.
  double number(double none) const {
    if (json_.is_null()) return none;
    if (!json_.is_number() || !std::isfinite(json_.get<double>())) expected("a number");
    return json_.get<double>();
  }
  double number() const {
    if (!json_.is_number()) expected("a number");
    return number(0);
  }
  std::int64_t count() const {
    const double value = number();
    if (value < 0 || value > 0x1p53 || value != std::floor(value)) expected("a count");
    return static_cast<std::int64_t>(value);
  }
  std::uint64_t seed() const {
    if (!json_.is_number_unsigned()) expected("a seed");
    return json_.get<std::uint64_t>();
  }
  std::vector<double> numbers(std::optional<std::size_t> count, double none) const {
    return mapped(items(count), [&](const Node& item) { return item.number(none); });
  }
  compare::Interval interval() const {
    const auto ends = items(2);
    return {ends[0].number(), ends[1].number()};
  }

 private:
  const Json& json_;
  std::string place_;
};

compare::RegretSummary read_regret(const Node& node) {
  compare::RegretSummary summary;
  for (std::size_t i = 0; i < compare::regret_trials.size(); ++i) {
    summary.regret[i] = node.at(fmt::format("regret_{}", compare::regret_trials[i]).c_str()).number();
    summary.intervals[i] = node.at(fmt::format("regret_{}_95", compare::regret_trials[i]).c_str()).interval();
  }
  summary.selection = node.at("selection_regret").number();
  summary.selection_interval = node.at("selection_regret_95").interval();
  return summary;
}

compare::Standing read_standing(const Node& node, bool regret) {
  compare::Standing s;
  s.label = node.at("strategy").text();
  s.score = node.at("score").number();
  s.score_interval = node.at("score_95").interval();
  s.median_score = node.at("median_score").number();
  s.median_interval = node.at("median_score_95").interval();
  s.short_score = node.at("short_score").number();
  s.p = node.at("p").number();
  s.a12 = node.at("a12").number();
  for (std::size_t i = 0; i < compare::target_percent.size(); ++i)
    s.evaluations[i] =
        node.at(fmt::format("evaluations_to_{}_percent", compare::target_percent[i]).c_str()).number(never);
  if (regret) s.regret = read_regret(node);
  return s;
}

compare::Regrets read_regrets(const Node& node) {
  compare::Regrets regrets;
  regrets.curve = node.at("regret_curve").numbers(compare::regret_trials.back(), never);
  regrets.selections = node.at("selection_regret_runs").numbers({}, never);
  for (const Node& run : node.at("regret_runs").items(regrets.selections.size()))
    std::ranges::copy(run.numbers(compare::regret_trials.size(), never), regrets.runs.emplace_back().begin());
  return regrets;
}

compare::Cell read_cell(const Node& node, bool regret) {
  constexpr double absent = std::numeric_limits<double>::quiet_NaN();
  compare::Cell cell;
  cell.score = node.at("score").number();
  cell.short_score = node.at("short_score").number();
  cell.runs = node.at("runs").numbers({}, absent);
  for (std::size_t i = 0; i < compare::target_percent.size(); ++i)
    for (const Node& event :
         node.at(fmt::format("first_within_{}_percent", compare::target_percent[i]).c_str()).items()) {
      const auto pair = event.items(2);
      cell.first[i].push_back({static_cast<double>(pair[0].count()), !pair[1].flag()});
    }
  cell.score_curve = node.at("score_curve").numbers(compare::curve_times, absent);
  cell.best_curve[0] = node.at("best_lower_quartile").numbers(compare::curve_times, absent);
  cell.best_curve[1] = node.at("best_median").numbers(compare::curve_times, absent);
  cell.best_curve[2] = node.at("best_upper_quartile").numbers(compare::curve_times, absent);
  if (regret) cell.regrets = read_regrets(node);
  return cell;
}

compare::Difficulty read_difficulty(const Node& node) {
  compare::Difficulty difficulty;
  difficulty.configurations = static_cast<std::size_t>(node.at("configurations").count());
  difficulty.valid = static_cast<std::size_t>(node.at("valid").count());
  difficulty.within1 = node.at("share_within_1_percent").number();
  difficulty.within5 = node.at("share_within_5_percent").number();
  difficulty.within10 = node.at("share_within_10_percent").number();
  difficulty.neighbours = node.at("neighbour_correlation").number(0);
  return difficulty;
}

compare::SpaceResult read_space(const Node& node, std::size_t entrants, bool regret) {
  compare::SpaceResult space;
  space.name = node.at("space").text();
  space.kernel = node.at("kernel").text();
  space.device = node.at("device").text();
  // older files have no objective, only times
  if (node.has("objective")) space.objective = node.at("objective").text();
  for (const Node& source : node.at("sources").items()) space.sources.push_back(source.text());
  space.untuned = node.has("default_known") && node.at("default_known").flag();
  for (const Node& level : node.at("levels").items()) space.levels.push_back(level.text());
  space.importance = node.at("importance").numbers(space.levels.size(), 0);
  space.difficulty = read_difficulty(node);
  space.start = node.at("first_second").number();
  space.budget = node.at("budget_seconds").number();
  if (space.budget < space.start) node.at("budget_seconds").expected("at least first_second");
  space.short_budget = node.at("short_budget_seconds").number();
  space.evaluations = node.at("budget_evaluations").count();
  space.short_evaluations = node.at("short_budget_evaluations").count();
  space.histogram = node.at("histogram").numbers({}, 0);
  if (space.histogram.empty()) node.at("histogram").expected("a bar");
  for (const Node& cell : node.at("strategies").items(entrants)) space.cells.push_back(read_cell(cell, regret));
  return space;
}

std::vector<compare::Entrant> read_entrants(const Node& document) {
  std::vector<compare::Entrant> entrants;
  for (const Node& label : document.at("strategies").items()) entrants.push_back({label.text(), "", {}});
  if (entrants.empty()) document.at("strategies").expected("a strategy, found none");
  return entrants;
}

/// Reads the results for one order. `regret`: whether the comparison has the regret after few trials.
Ordered read_order(const Node& node, std::size_t entrants, bool regret) {
  Ordered ordered{node.at("order").order(), {}, {}};
  for (const Node& space : node.at("spaces").items()) ordered.spaces.push_back(read_space(space, entrants, regret));
  for (const Node& standing : node.at("standings").items(ordered.spaces.empty() ? 0 : entrants))
    ordered.standings.push_back(read_standing(standing, regret));
  return ordered;
}

}  // namespace

Comparison parse_comparison(std::string_view text, const std::string& place) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded() || !json.is_object() || !json.contains("deplo") || json["deplo"] != "comparison")
    throw Error(place +
                ": expected a store, or a comparison written by `deplo compare --output`, found something else");
  const Node document(json, place);
  Comparison comparison;
  compare::Contest& contest = comparison.contest;
  contest.entrants = read_entrants(document);
  contest.repeats = static_cast<std::size_t>(document.at("repeats").count());
  contest.seed = document.at("seed").seed();
  contest.cutoff = document.at("cutoff").number();
  contest.short_cutoff = document.at("short_cutoff").number();
  contest.noisy = document.at("noisy").flag();
  contest.workers = static_cast<std::size_t>(document.at("compilers").count());
  contest.warm_start = static_cast<std::size_t>(document.at("warm_start").count());
  contest.regret = document.has("regret") && document.at("regret").flag();  // older files do not have this field
  comparison.interrupted = document.at("interrupted").flag();
  for (const Node& order : document.at("orders").items())
    comparison.orders.push_back(read_order(order, contest.entrants.size(), contest.regret));
  if (comparison.orders.empty()) document.at("orders").expected("an order of levels, found none");
  return comparison;
}

}  // namespace deplo::apps::report
