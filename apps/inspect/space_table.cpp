#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "apps/cli/columns.h"
#include "apps/inspect/space.h"
#include "core/text/text.h"
#include "core/text/wrap.h"

namespace deplo::apps {
namespace {

using Json = nlohmann::ordered_json;

std::string percent(std::size_t part, std::size_t whole) {
  if (whole == 0) return "-";
  const double share = 100 * static_cast<double>(part) / static_cast<double>(whole);
  return part == 0 || part == whole ? fmt::format("{:.0f}%", share) : fmt::format("{:.1f}%", share);
}

/// "1234", "1.23e+06"
std::string count(double value) { return value < 1e5 ? fmt::format("{:.0f}", value) : fmt::format("{:.2e}", value); }

std::string list(const std::vector<Value>& values) {
  std::string text;
  for (const Value& value : values) (text += text.empty() ? "" : " ") += print(value);
  return text.empty() ? "-" : text;
}

std::string level_table(const SpaceReport& report, std::size_t width) {
  std::vector<std::vector<std::string>> rows{
      {"knob", "paths", "options", "mean", "no effect", "heuristic's values"}};
  for (const auto& [level, heuristic, changed, unchanged] : report.levels)
    rows.push_back(
        {level.knob, percent(level.paths, report.leaves.paths),
         level.least == level.most ? std::to_string(level.least) : fmt::format("{} … {}", level.least, level.most),
         fmt::format("{:.1f}", level.mean()), percent(unchanged, changed + unchanged), list(heuristic)});
  return align_columns(rows, {false, true, true, true, true, false}, width);
}

std::string skip_table(const SpaceReport& report, std::size_t width) {
  std::vector<std::vector<std::string>> rows{{"rule", "skipped", "", "most frequent reason"}};
  for (const auto& [rule, paths, reasons] : report.skips)
    rows.push_back({rule, percent(paths, report.examined),
                    reasons.size() == 1 ? "" : percent(reasons.front().second, paths), reasons.front().first});
  return align_columns(rows, {false, true, true, false}, width);
}

std::string leaves_line(const SpaceOptions& options, const SpaceReport& report) {
  const search::Estimate& leaves = report.leaves;
  if (options.enumerate) return fmt::format("candidates: {}{}", report.interrupted ? "at least " : "", leaves.paths);
  return fmt::format(
      "candidates: about {} (95%: {} … {}), from {} random paths, seed {}; the largest path is {:.1f}% of the sum",
      count(leaves.leaves), count(leaves.low), count(leaves.high), leaves.paths, options.seed,
      100 * leaves.largest_share);
}

std::string duplicates_line(const SpaceOptions& options, const SpaceReport& report) {
  const std::size_t again = report.candidates - report.kernels;
  return fmt::format("duplicates: {} of {} {} ({}) give the same kernel as another", again, report.candidates,
                     options.enumerate ? "candidates" : "distinct candidates examined",
                     percent(again, report.candidates));
}

std::string line(const std::string& text, std::size_t width) { return wrap(text, width) + "\n"; }

std::string print(const SpaceOptions& options, const SpaceReport& report, std::size_t width) {
  std::string text = line(fmt::format("# {} on {}", report.kernel, options.target), width);
  if (report.as) return text + fmt::format("as {}\n", *report.as);
  if (report.leaves.paths == 0) return text + "interrupted\n";
  if (!report.levels.empty()) text += level_table(report, width) + "\n";
  text += line(leaves_line(options, report), width) + line(duplicates_line(options, report), width);
  if (report.interrupted) text += "interrupted\n";
  return report.skips.empty() ? text : text + "\n" + skip_table(report, width);
}

Json json_of(const std::vector<Value>& values) {
  Json array = Json::array();
  for (const Value& value : values) std::visit([&](const auto& v) { array.push_back(v); }, value);
  return array;
}

Json json_of(const SpaceLevel& row) {
  return {{"knob", row.level.knob}, {"paths", row.level.paths},  {"least", row.level.least},
          {"most", row.level.most}, {"mean", row.level.mean()},  {"heuristic", json_of(row.heuristic)},
          {"changed", row.changed}, {"unchanged", row.unchanged}};
}

Json json_of(const RuleSkips& skips) {
  Json reasons = Json::array();
  for (const auto& [reason, paths] : skips.reasons) reasons.push_back({{"reason", reason}, {"paths", paths}});
  return {{"rule", skips.rule}, {"paths", skips.paths}, {"reasons", reasons}};
}

Json json_of(const SpaceOptions& options, const SpaceReport& report) {
  Json json{{"kernel", report.kernel}, {"number", report.number}};
  if (report.as) return json["as"] = *report.as, json;
  json["exact"] = options.enumerate && !report.interrupted;
  json["candidates"] = report.leaves.leaves;
  json["low"] = report.leaves.low;
  json["high"] = report.leaves.high;
  json["paths"] = report.leaves.paths;
  json["largest_share"] = report.leaves.largest_share;
  json["examined"] = report.examined;
  json["distinct_candidates"] = report.candidates;
  json["distinct_kernels"] = report.kernels;
  json["interrupted"] = report.interrupted;
  json["levels"] = json["skips"] = Json::array();
  for (const SpaceLevel& level : report.levels) json["levels"].push_back(json_of(level));
  for (const RuleSkips& skips : report.skips) json["skips"].push_back(json_of(skips));
  return json;
}

}  // namespace

std::string print_table(const SpaceOptions& options, const std::vector<SpaceReport>& reports, std::size_t width) {
  std::string text;
  for (const SpaceReport& report : reports) (text += text.empty() ? "" : "\n") += print(options, report, width);
  return text;
}

std::string print_json(const SpaceOptions& options, const std::vector<SpaceReport>& reports) {
  Json json{{"target", options.target}, {"seed", options.seed}, {"kernels", Json::array()}};
  for (const SpaceReport& report : reports) json["kernels"].push_back(json_of(options, report));
  return json.dump(2) + "\n";
}

}  // namespace deplo::apps
