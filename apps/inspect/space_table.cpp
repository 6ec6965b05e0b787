#include <fmt/format.h>

#include "apps/cli/columns.h"
#include "apps/inspect/space.h"
#include "core/text/json.h"
#include "core/text/wrap.h"

namespace deplo::apps {
namespace {

std::string percent(std::size_t part, std::size_t whole) {
  if (whole == 0) return "-";
  const double share = 100 * static_cast<double>(part) / static_cast<double>(whole);
  return part == 0 || part == whole ? fmt::format("{:.0f}%", share) : fmt::format("{:.1f}%", share);
}

/// Formats a count: "1234", "1.23e+06".
std::string count(double value) { return value < 1e5 ? fmt::format("{:.0f}", value) : fmt::format("{:.2e}", value); }

std::string list(const std::vector<Value>& values) {
  std::string text;
  for (const Value& value : values) (text += text.empty() ? "" : " ") += print(value);
  return text.empty() ? "-" : text;
}

std::string level_table(const SpaceReport& report, std::size_t width) {
  std::vector<std::vector<std::string>> rows{{"knob", "paths", "options", "mean", "no effect", "heuristic's values"}};
  for (const auto& [level, heuristic, changed, unchanged] : report.levels)
    rows.push_back({level.knob, percent(level.paths, report.leaves.paths),
                    level.min == level.max ? std::to_string(level.min) : fmt::format("{} … {}", level.min, level.max),
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
  if (report.shortened)
    text +=
        line(fmt::format("fewer than {} paths, because all kernels have {} s of computing time together; --probes N "
                         "walks N paths of each",
                         usual_paths, usual_seconds),
             width);
  if (report.interrupted) text += "interrupted\n";
  return report.skips.empty() ? text : text + "\n" + skip_table(report, width);
}

Json level_json(const SpaceLevel& row) {
  return Json::object({{"knob", row.level.knob},
                       {"paths", row.level.paths},
                       {"least", row.level.min},
                       {"most", row.level.max},
                       {"mean", row.level.mean()},
                       {"heuristic", Json::array(row.heuristic)},
                       {"changed", row.changed},
                       {"unchanged", row.unchanged}});
}

Json skips_json(const RuleSkips& skips) {
  const Json reasons = Json::array(skips.reasons, [](const auto& reason) {
    return Json::object({{"reason", reason.first}, {"paths", reason.second}});
  });
  return Json::object({{"rule", skips.rule}, {"paths", skips.paths}, {"reasons", reasons}});
}

Json report_json(const SpaceOptions& options, const SpaceReport& report) {
  if (report.as) return Json::object({{"kernel", report.kernel}, {"number", report.number}, {"as", *report.as}});
  return Json::object({{"kernel", report.kernel},
                       {"number", report.number},
                       {"exact", options.enumerate && !report.interrupted},
                       {"candidates", report.leaves.leaves},
                       {"low", report.leaves.low},
                       {"high", report.leaves.high},
                       {"paths", report.leaves.paths},
                       {"largest_share", report.leaves.largest_share},
                       {"examined", report.examined},
                       {"distinct_candidates", report.candidates},
                       {"distinct_kernels", report.kernels},
                       {"interrupted", report.interrupted},
                       {"shortened", report.shortened},
                       {"skips", Json::array(report.skips, skips_json)},
                       {"levels", Json::array(report.levels, level_json)}});
}

}  // namespace

std::string print_table(const SpaceOptions& options, const std::vector<KernelSetReport>& sets,
                        const std::vector<SpaceReport>& reports, std::size_t width) {
  std::string text;
  if (!sets.empty()) {
    std::vector<std::vector<std::string>> rows{{"decisions of fusion", "kernels"}};
    for (const KernelSetReport& set : sets)
      rows.push_back({set.changes.empty() ? "the heuristic's" : set.changes, std::to_string(set.kernels)});
    text += align_columns(rows, {false, true}, width);
  }
  for (const SpaceReport& report : reports) (text += text.empty() ? "" : "\n") += print(options, report, width);
  return text;
}

std::string print_json(const SpaceOptions& options, const std::vector<KernelSetReport>& sets,
                       const std::vector<SpaceReport>& reports) {
  const Json kernels = Json::array(reports, [&](const SpaceReport& report) { return report_json(options, report); });
  const Json graph = Json::array(sets, [](const KernelSetReport& set) {
    return Json::object({{"changes", set.changes}, {"kernels", static_cast<std::int64_t>(set.kernels)}});
  });
  return Json::object({{"target", options.target}, {"seed", options.seed}, {"graph", graph}, {"kernels", kernels}})
      .print_lines(2);
}

}  // namespace deplo::apps
