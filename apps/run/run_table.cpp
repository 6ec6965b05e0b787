#include <fmt/format.h>

#include <map>

#include "apps/cli/columns.h"
#include "apps/run/run.h"
#include "core/text/json.h"
#include "core/text/text.h"
#include "core/text/wrap.h"

namespace deplo::apps {
namespace {

std::string speed(double amount, double microseconds) {
  return microseconds > 0 && amount > 0 ? significant(amount / microseconds * 1e-3) : "-";
}

std::string schedule(const KernelLaunch& kernel, std::size_t number) {
  if (kernel.first != number) return fmt::format("as {}", kernel.first);
  const std::string origin(kernel.configuration.empty() ? std::string(name(kernel.origin)) : kernel.configuration);
  return kernel.proof.empty() ? origin : fmt::format("{}, {}", origin, kernel.proof.substr(0, kernel.proof.find(':')));
}

/// Returns the launch and the configuration of a kernel file, and where the configuration comes from.
std::string configuration_text(const RunReport& report) {
  const KernelLaunch& k = report.kernels.front();
  std::string text = fmt::format("{}, {} configuration: {}\n", k.launch, k.configuration, k.trail);
  if (report.store.empty() && k.configuration == "default") text += "no tuned store (`deplo tune` writes one)\n";
  if (!report.store.empty())
    text += fmt::format("{} in {}\n", k.configuration == "tuned" ? "tuned" : "not tuned", report.store);
  return k.note.empty() ? text : text + k.note + "\n";
}

/// Returns the trail, or the number of its decisions if it is long: a recurrence has decisions for each of its steps.
std::string decisions(const std::string& trail) {
  constexpr std::ptrdiff_t max_shown = 16;
  const std::ptrdiff_t count = 1 + std::ranges::count(trail, ' ');
  return count <= max_shown ? trail : fmt::format("{} decisions (--json has them)", count);
}

// Returns where the schedules of the distinct kernels come from, and the notes on each kernel.
std::string schedules_text(const RunReport& report) {
  std::size_t distinct = 0;
  std::map<engine::Origin, std::size_t> counts;
  std::string notes;
  for (std::size_t i = 0; i < report.kernels.size(); ++i) {
    const KernelLaunch& k = report.kernels[i];
    if (k.first != i) continue;
    ++distinct;
    ++counts[k.origin];
    if (k.origin == engine::Origin::nearest)
      notes += fmt::format("{} {}: NOT TUNED, uses the schedule of {}\n", i, k.name, k.from);
    if (!k.note.empty()) notes += fmt::format("{} {}: {}\n", i, k.name, k.note);
  }
  if (report.store.empty()) return "no tuned store (`deplo tune` writes one): all schedules are the heuristic's\n";
  std::string text = fmt::format("schedules of {} from {}:", counted(distinct, "kernel"), report.store);
  for (std::string_view comma; const auto& [origin, count] : counts) {
    text += fmt::format("{} {} {}", comma, count, name(origin));
    comma = ",";
  }
  if (!report.graph_trail.empty()) text += "\nkernels of the graph as tuned: " + decisions(report.graph_trail);
  if (!report.graph_note.empty()) text += fmt::format("\nthe graph: {}", report.graph_note);
  return text + "\n" + notes;
}

/// All launches of one kernel, or a single launch.
struct LaunchRow {
  std::size_t number = 0;  // of the first launch
  std::size_t launches = 1;
  KernelLaunch sum;
};

std::vector<LaunchRow> launch_rows(const RunReport& report) {
  const bool together = report.kernels.size() > max_launch_rows;
  std::vector<LaunchRow> rows;
  std::map<std::size_t, std::size_t> row_of;  // by the number of the first equal launch
  for (std::size_t i = 0; i < report.kernels.size(); ++i) {
    const KernelLaunch& k = report.kernels[i];
    const auto [row, is_new] = row_of.try_emplace(together ? k.first : i, rows.size());
    if (is_new) {
      rows.push_back({i, 1, k});
      continue;
    }
    LaunchRow& known = rows[row->second];
    ++known.launches;
    known.sum.microseconds += k.microseconds;
    known.sum.flops += k.flops;
    known.sum.bytes += k.bytes;
  }
  return rows;
}

std::string kernel_table(const RunReport& report, std::size_t width) {
  const std::vector<LaunchRow> launches = launch_rows(report);
  const bool together = launches.size() < report.kernels.size();
  std::vector<std::vector<std::string>> rows{{"#", "kernel", "schedule", "tuned µs"}};
  std::vector<bool> right = {true, false, false, true};
  const auto add = [&](std::vector<std::string> cells, std::size_t count, const KernelLaunch& k) {
    if (together) cells.push_back(std::to_string(count));
    if (report.timed)
      cells.insert(cells.end(),
                   {significant(k.microseconds), speed(k.flops, k.microseconds), speed(k.bytes, k.microseconds)});
    rows.push_back(std::move(cells));
  };
  if (together) rows[0].emplace_back("launches"), right.push_back(true);
  if (report.timed)
    for (const char* const title : {"µs", "GFLOP/s", "GB/s"}) rows[0].emplace_back(title), right.push_back(true);
  KernelLaunch total;
  for (const LaunchRow& row : launches) {
    add({std::to_string(row.number), row.sum.name, schedule(row.sum, row.number), or_dash(row.sum.measured_us)},
        row.launches, row.sum);
    total.microseconds += row.sum.microseconds;
    total.flops += row.sum.flops;
    total.bytes += row.sum.bytes;
  }
  if (report.timed) add({"", "total", "", ""}, report.kernels.size(), total);
  return align_columns(rows, right, width);
}

/// Returns a line for each distinct kernel: "fingerprint of 0 softmax: 0123456789abcdef, of a row 0123456789abcdef".
std::string fingerprints(const RunReport& report) {
  std::string text;
  for (std::size_t i = 0; i < report.kernels.size(); ++i)
    if (const KernelLaunch& k = report.kernels[i]; !k.fingerprint.empty())
      text += fmt::format("fingerprint of {} {}: {}, of each row {}\n", i, k.name, k.fingerprint, k.row_fingerprint);
  return text.empty() ? "" : text + "\n";
}

std::string output_table(const RunReport& report, std::size_t width) {
  std::vector<std::vector<std::string>> rows{{"output", "shape", "error", "tolerance", ""}};
  for (const OutputCheck& output : report.outputs)
    rows.push_back({output.name, ir::print(output.shape), fmt::format("{:.2g}", output.error),
                    fmt::format("{:.2g}", report.tolerance), output.right ? "right" : "WRONG at " + output.worst});
  return align_columns(rows, {false, false, true, true, false}, width);
}

std::string blocks_text(const BlocksLaunch& b) {
  std::string text = whole_lines(b.printed);
  text += fmt::format("{} block by block: {} x {} x {} blocks of {}", b.entry, b.grid[0], b.grid[1], b.grid[2],
                      counted(b.threads, "thread"));
  if (b.microseconds > 0) text += fmt::format(", {} µs", significant(b.microseconds));
  return text + fmt::format(", schedule: {}{}\n", name(b.origin), b.note.empty() ? "" : "; " + b.note);
}

std::string beside_text(const WholeBaseline& b) {
  if (!b.failure.empty()) return b.failure + "\n";
  return fmt::format("tileiras {}: {} µs, {} µs warm; {:.3f} of ours, 95 %: [{:.3f}, {:.3f}]\n", b.version,
                     significant(b.timing.median_us), significant(b.timing.warm_us), b.ratio, b.interval.low,
                     b.interval.high);
}

Json beside_json(const WholeBaseline& b) {
  Json json = Json::object({{"library", "tileiras"}, {"version", b.version}});
  if (!b.failure.empty()) {
    json.set("failure", b.failure);
    return json;
  }
  json.set("microseconds", b.timing.median_us);
  json.set("warm_us", b.timing.warm_us);
  json.set("samples_us", Json::array(b.timing.samples));
  json.set("ratio", b.ratio);
  json.set("interval", Json::array({b.interval.low, b.interval.high}));
  return json;
}

Json blocks_json(const BlocksLaunch& b) {
  return Json::object({{"entry", b.entry},
                       {"why", b.why},
                       {"grid", Json::array(b.grid)},
                       {"threads", b.threads},
                       {"microseconds", Json::or_null(b.microseconds)},
                       {"schedule", name(b.origin)},
                       {"printed", b.printed}});
}

Json launch_json(const KernelLaunch& k) {
  return Json::object({{"kernel", k.name},
                       {"first", k.first},
                       {"schedule", k.configuration.empty() ? std::string(name(k.origin)) : k.configuration},
                       {"measured_us", Json::or_null(k.measured_us)},
                       {"proof", k.proof},
                       {"fingerprint", k.fingerprint},
                       {"row_fingerprint", k.row_fingerprint},
                       {"from", k.from},
                       {"note", k.note},
                       {"trail", k.trail},
                       {"launch", Json::or_null(k.launch)},
                       {"microseconds", Json::or_null(k.microseconds)},
                       {"flops", k.flops},
                       {"bytes", k.bytes}});
}

Json output_json(const OutputCheck& o) {
  return Json::object({{"output", o.name},
                       {"shape", Json::array(o.shape)},
                       {"error", o.error},
                       {"worst", o.worst},
                       {"right", o.right}});
}

}  // namespace

bool RunReport::right() const { return std::ranges::all_of(outputs, &OutputCheck::right); }

std::string print_table(const RunReport& report, std::size_t width) {
  std::string text = whole_lines(report.printed);
  if (!report.kernels.empty()) text += kernel_table(report, width) + "\n" + fingerprints(report);
  if (report.blocks) text += blocks_text(*report.blocks);
  if (!report.blocks || !report.outputs.empty()) text += output_table(report, width);
  if (report.whole)
    text += fmt::format("\nthe whole graph: {} µs, its inputs cold; {} µs warm; {} of {} passes\n",
                        significant(report.whole->median_us), significant(report.whole->warm_us),
                        counted(report.whole->samples.size(), "sample"), report.whole->batch);
  if (report.beside) text += beside_text(*report.beside);
  std::string notes =
      fmt::format("\n{} ({}), seed {}; buffers {} MB, without sharing {} MB\n", report.device, report.target,
                  report.seed, three_digits(report.buffer_bytes / 1e6), three_digits(report.tensor_bytes / 1e6));
  if (report.blocks) notes += fmt::format("block by block; reason: {}\n", report.blocks->why);
  if (!report.kernels.empty())
    notes += report.kernels.front().configuration.empty() ? schedules_text(report) : configuration_text(report);
  return text + wrap(notes, width);
}

std::string print_json(const RunReport& report) {
  Json json = Json::object({{"device", report.device},
                            {"target", report.target},
                            {"store", Json::or_null(report.store)},
                            {"seed", report.seed},
                            {"tolerance", report.tolerance},
                            {"right", report.right()},
                            {"buffer_bytes", report.buffer_bytes},
                            {"tensor_bytes", report.tensor_bytes},
                            {"graph_trail", report.graph_trail},
                            {"graph_note", report.graph_note},
                            {"kernels", Json::array(report.kernels, launch_json)},
                            {"outputs", Json::array(report.outputs, output_json)}});
  if (!report.printed.empty()) json.set("printed", report.printed);
  if (report.blocks) json.set("blocks", blocks_json(*report.blocks));
  if (report.whole) {
    json.set("protocol", report.protocol);
    json.set("microseconds", report.whole->median_us);
    json.set("warm_us", report.whole->warm_us);
    json.set("batch", report.whole->batch);
    json.set("sets", report.whole->sets);
    json.set("samples_us", Json::array(report.whole->samples));
    if (report.beside) json.set("beside", beside_json(*report.beside));
  }
  return json.print_lines(2);
}

}  // namespace deplo::apps
