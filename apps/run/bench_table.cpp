#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/cli/columns.h"
#include "apps/run/bench.h"
#include "core/text/json.h"
#include "core/text/text.h"
#include "core/text/wrap.h"

namespace deplo::apps {
namespace {

using Row = std::vector<std::string>;

std::string schedule(const BenchKernel& kernel, std::size_t number) {
  if (kernel.first != number) return fmt::format("as {}", kernel.first);
  return std::string(name(kernel.origin));
}

std::string microseconds(const BenchTime& time) { return time.failure.empty() ? significant(time.median_us) : "-"; }

std::string interval(const measure::Interval& between) {
  return std::isfinite(between.high) ? fmt::format("[{:.3f}, {:.3f}]", between.low, between.high) : "too few rounds";
}

std::string title(const BenchBaseline& baseline) {
  if (baseline.precision == own_precision)
    return baseline.library == "B" ? "ours with schedule B" : "ours with the heuristic's schedule";
  return fmt::format("{} {}{}", baseline.library, baseline.version,
                     baseline.precision == "fp32" ? "" : " " + baseline.precision);
}

std::string short_title(const BenchBaseline& baseline) {
  const bool plain = baseline.precision == "fp32" || baseline.precision == own_precision;
  return plain ? baseline.library : baseline.library + " " + baseline.precision;
}

std::string why(const BenchKernel& kernel) {
  return kernel.ours.failure.empty() ? "none: " + kernel.no_baseline : kernel.ours.failure;
}

void add_rows(const BenchKernel& k, std::size_t number, std::vector<Row>& rows) {
  Row start{std::to_string(number), k.name, schedule(k, number), microseconds(k.ours), or_dash(k.model_us)};
  if (k.baselines.empty()) {
    start.insert(start.end(), {"", "", "", why(k)});
    rows.push_back(start);
  }
  for (const BenchBaseline& b : k.baselines) {
    Row row = start;
    const bool compared = b.ratio > 0;
    const std::string when = b.date.empty() ? interval(b.interval) : "of " + b.date.substr(0, 10);
    const std::string& failure = k.ours.failure.empty() ? b.time.failure : k.ours.failure;
    row.insert(row.end(), {microseconds(b.time), compared ? fmt::format("{:.3f}", b.ratio) : "-", compared ? when : "",
                           failure.empty() ? title(b) : title(b) + ": " + failure});
    rows.push_back(row);
    start = {"", "", "", "", ""};
  }
}

/// Sums over one launch of each kernel, in µs.
struct Total {
  double ours = 0, compared = 0, baseline = 0;  // of all kernels; of those with a baseline; of their fastest baselines
  std::size_t kernels = 0;                      // number of kernels with a baseline
  std::size_t failed = 0;                       // number of kernels without a time
  double untuned = 0;  // of all kernels, by the other schedule (the heuristic's, or B of --ab) if one was timed
};

Total total(const BenchReport& report) {
  Total sum;
  for (const BenchKernel& k : report.kernels) {
    sum.ours += k.ours.median_us;
    if (!k.ours.failure.empty()) ++sum.failed;
    const auto own = [](const BenchBaseline& b) { return b.precision == own_precision && b.ratio > 0; };
    const auto untuned = std::ranges::find_if(k.baselines, own);
    sum.untuned += untuned == k.baselines.end() ? k.ours.median_us : untuned->time.median_us;
    double fastest = 0;
    const auto equals = [&](const BenchBaseline& b) {  // true if it is at least as precise as ours
      return b.precision != own_precision && (b.precision != "tf32" || k.allow_tf32);
    };
    for (const BenchBaseline& b : k.baselines)
      if (b.ratio > 0 && b.date.empty() && equals(b) && (fastest == 0 || b.time.median_us < fastest))
        fastest = b.time.median_us;
    if (fastest == 0) continue;
    ++sum.kernels;
    sum.compared += k.ours.median_us;
    sum.baseline += fastest;
  }
  return sum;
}

/// The geometric mean of a baseline's time / our time, over all kernels that have this baseline.
struct Mean {
  std::string title;
  std::size_t kernels = 0;
  double logs = 0;
  double ratio() const { return std::exp(logs / static_cast<double>(kernels)); }
};

std::vector<Mean> means(const BenchReport& report) {
  std::vector<Mean> all;
  for (const BenchKernel& k : report.kernels)
    for (const BenchBaseline& b : k.baselines) {
      if (b.ratio <= 0) continue;
      auto mean = std::ranges::find(all, title(b), &Mean::title);
      if (mean == all.end()) mean = all.insert(all.end(), {title(b)});
      ++mean->kernels;
      mean->logs += std::log(b.ratio);
    }
  return all;
}

void set_time(Json& json, const BenchTime& time) {
  if (!time.failure.empty()) return json.set("failure", time.failure);
  json.set("microseconds", time.median_us);
  json.set("warm_us", Json::or_null(time.warm_us));
  json.set("batch", time.batch);
  json.set("sets", time.sets);
  json.set("samples_us", Json::array(time.samples));
}

Json baseline_json(const BenchBaseline& b) {
  Json json = Json::object(
      {{"library", b.library}, {"version", b.version}, {"precision", b.precision}, {"threads", b.threads}});
  set_time(json, b.time);
  if (b.ratio > 0) json.set("ratio", b.ratio);
  if (!b.date.empty()) json.set("date", b.date);
  if (b.ratio > 0 && std::isfinite(b.interval.high))
    json.set("interval", Json::array({b.interval.low, b.interval.high}));
  return json;
}

Json kernel_json(const BenchKernel& k) {
  Json json = Json::object({{"kernel", k.name},
                            {"first", k.first},
                            {"schedule", name(k.origin)},
                            {"measured_us", Json::or_null(k.measured_us)},
                            {"from", k.from},
                            {"note", k.note},
                            {"trail", k.trail}});
  set_time(json, k.ours);
  json.set("model_us", Json::or_null(k.model_us));
  json.set("bound_us", Json::or_null(k.bound_us));
  json.set("baselines", Json::array(k.baselines, baseline_json));
  if (!k.no_baseline.empty()) json.set("no_baseline", k.no_baseline);
  return json;
}

Json mean_json(const Mean& mean) {
  return Json::object({{"baseline", mean.title}, {"kernels", mean.kernels}, {"ratio", mean.ratio()}});
}

}  // namespace

std::string describe(const BenchKernel& kernel) {
  if (!kernel.ours.failure.empty()) return kernel.ours.failure;
  std::string text = fmt::format("{} µs ({})", significant(kernel.ours.median_us), name(kernel.origin));
  for (const BenchBaseline& b : kernel.baselines)
    if (b.ratio > 0) text += fmt::format("; {} {:.3f}x", short_title(b), b.ratio);
  return kernel.no_baseline.empty() ? text : text + "; " + kernel.no_baseline;
}

std::string print_table(const BenchReport& report, std::size_t width) {
  if (report.kernels.empty() && report.asked > 0) return "interrupted before the first kernel was timed\n";
  std::vector<Row> rows{
      {"#", "kernel", "schedule", "ours µs", "model µs", "baseline µs", "baseline/ours", "95 %", "baseline"}};
  const bool together = report.kernels.size() > max_launch_rows;
  for (std::size_t i = 0; i < report.kernels.size(); ++i)
    if (!together || report.kernels[i].first == i) add_rows(report.kernels[i], i, rows);
  constexpr std::string_view spare[] = {"model µs", "95 %"};
  std::string text = align_columns(rows, {true, false, false, true, true, true, true, false, false}, width, spare);
  const std::size_t table = text.size();
  if (report.kernels.size() < report.asked)
    text += fmt::format("\ninterrupted: {} of {} kernels were timed\n", report.kernels.size(), report.asked);
  const Total sum = total(report);
  const std::string launches = counted(report.kernels.size(), "launch");
  if (sum.failed == 0)
    text += fmt::format("\nend to end, as the sum of {}: ours {} µs", launches, significant(sum.ours));
  else
    text += fmt::format("\nend to end: not known, because {} of {} failed; the others: ours {} µs", sum.failed,
                        launches, significant(sum.ours));
  if (sum.kernels > 0)
    text += fmt::format("; the {} with a baseline: ours {} µs, baseline {} µs, baseline/ours {:.3f}", sum.kernels,
                        significant(sum.compared), significant(sum.baseline), sum.baseline / sum.compared);
  if (sum.failed == 0 && sum.untuned != sum.ours)
    text += fmt::format("; with the other schedules {} µs, {:.3f} of ours", significant(sum.untuned),
                        sum.untuned / sum.ours);
  for (const Mean& mean : means(report))
    text += fmt::format("\ngeometric mean of baseline/ours over {}: {:.3f}  {}", counted(mean.kernels, "kernel"),
                        mean.ratio(), mean.title);
  text += fmt::format("\n{} ({}); operands cold, medians of alternating rounds\n", report.device, report.target);
  text += report.tuned.empty() ? "no tuned store (`deplo tune` writes one): all schedules are the heuristic's\n"
                               : fmt::format("schedules from {}\n", report.tuned);
  for (std::size_t i = 0; i < report.kernels.size(); ++i)
    if (const BenchKernel& k = report.kernels[i]; k.first == i && !(k.note.empty() && k.from.empty()))
      text += fmt::format("{} {}: {}{}\n", i, k.name, k.from.empty() ? "" : "the schedule of " + k.from + " ", k.note);
  for (std::size_t i = 0; i < report.kernels.size(); ++i)  // a row without baselines already shows the reason
    if (const BenchKernel& k = report.kernels[i]; k.first == i && !k.baselines.empty() && !k.no_baseline.empty())
      text += fmt::format("{} {}: {}\n", i, k.name, k.no_baseline);
  return text.substr(0, table) + wrap(text.substr(table), width);
}

std::string print_json(const BenchReport& report) {
  const Total sum = total(report);
  const Json compared =
      Json::object({{"kernels", sum.kernels}, {"ours_us", sum.compared}, {"baseline_us", sum.baseline}});
  return Json::object({{"device", report.device},
                       {"target", report.target},
                       {"store", Json::or_null(report.store)},
                       {"tuned", Json::or_null(report.tuned)},
                       {"protocol", report.protocol},
                       {"asked", report.asked},
                       {"ours_us", Json::or_null(sum.failed == 0 ? sum.ours : 0)},
                       {"other_schedules_us", Json::or_null(sum.failed == 0 ? sum.untuned : 0)},
                       {"with_baseline", compared},
                       {"means", Json::array(means(report), mean_json)},
                       {"kernels", Json::array(report.kernels, kernel_json)}})
      .print_lines(2);
}

}  // namespace deplo::apps
