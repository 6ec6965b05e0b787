#include "apps/tune/tuning_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "apps/cli/columns.h"
#include "apps/cli/rows_table.h"
#include "core/text/json.h"
#include "core/text/text.h"
#include "core/text/wrap.h"
#include "engine/compile/dispatch.h"
#include "measure/store/upkeep/front.h"

namespace deplo::apps {
namespace {

// A kernel with more FLOPs per byte than this, such as a matmul, is rated in GFLOP/s, and any other kernel in GB/s.
constexpr double intensity_of_compute = 4;
constexpr std::size_t least_table = 88;  // columns; narrower windows get several lines per kernel
constexpr std::size_t numbers_width = 66;

std::int64_t failed(const engine::Row& row) {
  std::int64_t sum = 0;
  for (const auto& [status, count] : row.failures) sum += count;
  return sum;
}

std::string speed(const engine::Row& row) {
  if (row.best_us <= 0) return "-";
  const bool compute = row.flops > intensity_of_compute * row.bytes;
  const double giga = (compute ? row.flops : row.bytes) / row.best_us * 1e-3;
  return significant(giga) + (compute ? " GFLOP/s" : " GB/s");
}

std::string speed_up(const engine::Row& row) {
  return row.best_us > 0 && row.heuristic_us > 0 ? fmt::format("{:.2f}x", row.heuristic_us / row.best_us) : "-";
}

std::string left(const std::string& text, std::size_t width) {
  const std::string shortened = cut(text, width);
  return shortened + std::string(width - columns(shortened), ' ');
}

std::string numbers(const std::string& heuristic, const std::string& best, const std::string& up,
                    const std::string& speed, const std::string& trials, const std::string& failures) {
  return right_aligned(heuristic, 13) + right_aligned(best, 12) + right_aligned(up, 10) + right_aligned(speed, 15) +
         right_aligned(trials, 7) + right_aligned(failures, 9);
}

// Returns "name x3" for a kernel that stands for three. The name is cut to the width, the count is not.
std::string label(const engine::Row& row, std::size_t width) {
  const std::string times = row.count() > 1 ? fmt::format(" x{}", row.count()) : "";
  return cut(printable(row.name), width - std::min(width, times.size())) + times;
}

std::size_t label_width(const engine::Row& row) { return columns(label(row, columns(printable(row.name)) + 24)); }

// Sums the kernels of the heuristic's decisions of fusion, each as often as it occurs. The best time of a graph is that
// of the kernels which the graph becomes. All sums are 0 while one of the kernels has no valid time.
engine::Row total(const engine::Summary& summary) {
  engine::Row sum;
  sum.name = "total";
  for (const engine::GraphRow& graph : summary.graphs) sum.best_us += graph.best_us - graph.heuristic_us;
  for (const engine::Row& row : summary.rows) {
    if (row.alternative) continue;
    if (row.best_us <= 0 || row.heuristic_us <= 0) return {};
    const auto count = static_cast<double>(row.count());
    sum.heuristic_us += count * row.heuristic_us;
    sum.best_us += count * row.best_us;
    sum.flops += count * row.flops;
    sum.bytes += count * row.bytes;
  }
  return sum;
}

std::string wide(const engine::Summary& summary, std::size_t width) {
  std::size_t name_width = 6, trail_width = 0;
  for (const engine::Row& row : summary.rows) {
    name_width = std::max(name_width, label_width(row));
    trail_width = std::max(trail_width, columns(row.trail));
  }
  const bool unlimited = width == 0;
  if (!unlimited) name_width = std::min(name_width, width - numbers_width);
  const bool beside = unlimited || name_width + numbers_width + 2 + trail_width <= width;
  std::string text = left("kernel", name_width) +
                     numbers("heuristic µs", "best µs", "speed-up", "speed", "trials", "failures") +
                     (beside ? "  trail" : "") + "\n";
  for (const engine::Row& row : summary.rows) {
    text += left(label(row, name_width), name_width) + numbers(or_dash(row.heuristic_us), or_dash(row.best_us),
                                                               speed_up(row), speed(row), std::to_string(row.trials),
                                                               std::to_string(failed(row)));
    text += beside ? "  " + row.trail + "\n" : "\n    " + wrap(row.trail, width, 4, 4) + "\n";
  }
  if (const engine::Row sum = total(summary); summary.rows.size() > 1 && sum.best_us > 0) {
    const std::string cells =
        numbers(or_dash(sum.heuristic_us), or_dash(sum.best_us), speed_up(sum), speed(sum), "", "");
    text += left(sum.name, name_width) + cells.substr(0, cells.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string stacked(const engine::Summary& summary, std::size_t width) {
  std::string text;
  for (const engine::Row& row : summary.rows) {
    text += label(row, width) + "\n";
    text += cut(fmt::format("  {} µs, was {} ({}), {}", or_dash(row.best_us), or_dash(row.heuristic_us), speed_up(row),
                            speed(row)),
                width) +
            "\n";
    text += cut(fmt::format("  {}, {}", counted(row.trials, "trial"), counted(failed(row), "failure")), width) +
            "\n  " + wrap(row.trail, width, 4, 2) + "\n";
  }
  if (const engine::Row sum = total(summary); summary.rows.size() > 1 && sum.best_us > 0)
    text += cut(fmt::format("total {} µs, was {} ({})", or_dash(sum.best_us), or_dash(sum.heuristic_us), speed_up(sum)),
                width) +
            "\n";
  return text;
}

std::string title(const engine::Summary& summary) {
  return summary.name.empty() ? summary.experiment : fmt::format("{} ({})", summary.name, summary.experiment);
}

/// Returns one line that says which kernels a graph becomes.
std::string describe(const engine::GraphRow& graph) {
  const std::string sets = fmt::format("of {} that were timed", counted(graph.sets, "set"));
  if (graph.changes == 0)
    return fmt::format("{}: the heuristic's kernels are the fastest {} ({} µs)\n", graph.name, sets,
                       significant(graph.best_us));
  return fmt::format("{}: {} are the fastest {} ({} µs, the heuristic's {} µs), with {}\n", graph.name,
                     join(graph.kernels, ", "), sets, significant(graph.best_us), significant(graph.heuristic_us),
                     graph.trail);
}

std::string percent(double share) { return std::isfinite(share) ? fmt::format("{:.1f} %", 100 * share) : "-"; }

/// Returns "worst 3.1 %, mean 0.8 %".
std::string losses_text(const std::vector<double>& losses) {
  double worst = 0, sum = 0;
  for (const double loss : losses) {
    worst = std::max(worst, loss);
    sum += loss;
  }
  return fmt::format("worst {}, mean {}", percent(worst), percent(sum / static_cast<double>(losses.size())));
}

std::string family_shapes(const engine::FamilyRow& family, bool held_out, std::size_t width) {
  std::vector<std::vector<std::string>> rows{
      {held_out ? "held out" : "shape", "schedule", "µs", "best µs", "loss", "heuristic µs"}};
  for (const engine::FamilyRow::Shape& shape : family.shapes)
    if (shape.held_out == held_out)
      rows.push_back({shape.shape,
                      shape.schedule < family.schedules.size() ? engine::schedule_letter(shape.schedule) : "heuristic",
                      or_dash(shape.us), or_dash(shape.best_us), percent(shape.loss()), or_dash(shape.heuristic_us)});
  return rows.size() == 1 ? "" : align_columns(rows, {false, false, true, true, true, true}, width);
}

/// Returns the schedules that a family keeps, its rule, and the loss on each shape.
std::string family_text(const engine::FamilyRow& family, std::size_t width) {
  std::string text = fmt::format("\nfamily {}: ", family.name);
  if (family.shapes.empty()) return text + family.fault + "\n";
  const std::vector<double> own = family.losses(false), held_out = family.losses(true);
  const auto tuned = std::ranges::count_if(family.schedules, [](const std::string& trail) { return !trail.empty(); });
  text += fmt::format("{} of {} kept for {} and {} between; loss: {} (allowed: {} at most {})\n", tuned,
                      counted(family.candidates - 1, "tuned schedule"), counted(own.size(), "shape"), family.between,
                      losses_text(own), family.goal, percent(family.max_loss));
  text = wrap(text, width) + family_shapes(family, false, width);
  if (!held_out.empty())
    text += "\n" + family_shapes(family, true, width) +
            fmt::format("loss of {} that {} held out: {}\n", counted(held_out.size(), "shape"),
                        held_out.size() == 1 ? "was" : "were", losses_text(held_out));
  text += "\n" + wrap("rule: " + family.rule, width, 4, 4) + "\n";
  for (std::size_t i = 0; i < family.schedules.size(); ++i)
    text += wrap(fmt::format("{}: {}", engine::schedule_letter(i),
                             family.schedules[i].empty() ? "the heuristic's" : family.schedules[i]),
                 width, 4, 4) +
            "\n";
  return family.fault.empty() ? text : text + family.fault + "\n";
}

/// Returns "in exact arithmetic: 3 proved, 1 proved in part", and one line for each schedule that is not proved.
std::string proofs(const engine::Summary& summary) {
  std::map<std::string, std::int64_t> counts;
  std::string others;
  for (const engine::Row& row : summary.rows) {
    if (row.proof.empty()) continue;
    ++counts[row.proof.substr(0, row.proof.find_first_of(':'))];
    if (row.proof.starts_with("not ")) others += fmt::format("{} {}\n", printable(row.name), row.proof);
  }
  if (counts.empty()) return "";
  std::vector<std::string> kinds;
  for (const auto& [kind, count] : counts) kinds.push_back(fmt::format("{} {}", count, kind));
  return "in exact arithmetic: " + join(kinds, ", ") + "\n" + others;
}

/// Returns all names, or the first ones and the number of the others.
std::string first_names(std::vector<std::string> names) {
  constexpr std::size_t max_shown = 8;
  for (std::string& name : names) name = printable(name);
  if (names.size() <= max_shown + 1) return join(names, ", ");
  return fmt::format("{} and {} others", join(std::span(names).first(max_shown), ", "), names.size() - max_shown);
}

std::string notes(const engine::Summary& summary) {
  std::int64_t known = 0, left_out = 0;
  std::vector<std::string> unconfirmed, unfinished;
  for (const engine::Row& row : summary.rows) {
    known += row.known;
    left_out += row.left_out;
    if (!row.finished) unfinished.push_back(row.name);
    if (!row.confirmed && row.stop != engine::untunable && row.stop != engine::not_needed)
      unconfirmed.push_back(row.name);
  }
  std::string text = fmt::format("{} on {} ({}), {}, seed {}, {}", title(summary), summary.device, summary.target,
                                 summary.strategy, summary.seed, duration(summary.seconds));
  if (known > 0) text += fmt::format("; {} known from {}", counted(known, "trial"), summary.store);
  text += "\n";
  for (const engine::Row& row : summary.rows)
    if (!row.same.empty()) text += fmt::format("{} is also {}\n", printable(row.name), first_names(row.same));
  for (const engine::Row& row : summary.rows) {
    if (row.stop == engine::strategy_failed) text += fmt::format("{}: {}\n", printable(row.name), row.fault);
    if (row.stop == engine::untunable)
      text += fmt::format("{} {}: {}\n", printable(row.name), engine::untunable, row.fault);
  }
  for (const engine::GraphRow& graph : summary.graphs) text += describe(graph);
  if (!unconfirmed.empty()) text += "not confirmed by a full, checked run: " + first_names(unconfirmed) + "\n";
  if (left_out > 0) text += fmt::format("left out because of their bits: {}\n", counted(left_out, "schedule"));
  text += proofs(summary);
  if (!unfinished.empty())
    text += fmt::format("not finished, {} of {}; the same command continues with {} first: {}\n", unfinished.size(),
                        counted(summary.rows.size(), "kernel"), unfinished.size() == 1 ? "it" : "these",
                        first_names(unfinished));
  if (summary.interrupted) text += "interrupted: the same command continues from " + summary.store + "\n";
  return text;
}

/// Returns the Pareto fronts of the kernels that have several objectives.
std::string fronts(const engine::Summary& summary, std::size_t width) {
  std::string text;
  for (const engine::Row& row : summary.rows)
    if (!row.front.trials.empty())
      text += "\n" + wrap(measure::upkeep::heading(row.name, row.front), width) +
              print_rows(measure::upkeep::rows_of(row.front), width);
  return text;
}

Json row_json(const engine::Row& row) {
  Json json = Json::object({{"kernel", row.name},
                            {"count", row.count()},
                            {"same", Json::array(row.same)},
                            {"heuristic_us", Json::or_null(row.heuristic_us)},
                            {"best_us", Json::or_null(row.best_us)},
                            {"speed_up", Json::or_null(row.best_us > 0 ? row.heuristic_us / row.best_us : 0)},
                            {"gflops", Json::or_null(row.best_us > 0 ? row.flops / row.best_us * 1e-3 : 0)},
                            {"gb_per_s", Json::or_null(row.best_us > 0 ? row.bytes / row.best_us * 1e-3 : 0)},
                            {"trials", row.trials},
                            {"known", row.known},
                            {"left_out", row.left_out},
                            {"failures", Json::object(row.failures)},
                            {"fault", Json::or_null(row.fault)},
                            {"trail", row.trail},
                            {"confirmed", row.confirmed},
                            {"proof", row.proof},
                            {"stop", row.stop},
                            {"finished", row.finished},
                            {"alternative", row.alternative}});
  if (row.front.objectives.empty()) return json;
  json.set("objectives",
           Json::array(row.front.objectives, [](const auto* objective) { return Json(objective->name); }));
  json.set("front", json_of(measure::upkeep::rows_of(row.front)));
  return json;
}

Json graph_json(const engine::GraphRow& graph) {
  return Json::object({{"graph", graph.name},
                       {"sets", static_cast<std::int64_t>(graph.sets)},
                       {"trail", graph.trail},
                       {"changes", graph.changes},
                       {"kernels", Json::array(graph.kernels)},
                       {"heuristic_us", graph.heuristic_us},
                       {"best_us", graph.best_us}});
}

Json family_json(const engine::FamilyRow& family) {
  const auto shape_json = [](const engine::FamilyRow::Shape& shape) {
    return Json::object({{"shape", shape.shape},
                         {"held_out", shape.held_out},
                         {"schedule", shape.schedule},
                         {"us", Json::or_null(shape.us)},
                         {"best_us", Json::or_null(shape.best_us)},
                         {"loss", shape.loss()},
                         {"heuristic_us", Json::or_null(shape.heuristic_us)}});
  };
  return Json::object({{"family", family.name},
                       {"goal", family.goal},
                       {"max_loss", family.max_loss},
                       {"candidates", family.candidates},
                       {"between", family.between},
                       {"schedules", Json::array(family.schedules)},
                       {"rule", family.rule},
                       {"shapes", Json::array(family.shapes, shape_json)},
                       {"fault", Json::or_null(family.fault)}});
}

}  // namespace

std::string print_table(const engine::Summary& summary, std::size_t width) {
  if (summary.device.empty()) return "interrupted before the first measurement\n";  // the board was not started
  const bool narrow = width != 0 && width < least_table;
  std::string text = (narrow ? stacked(summary, width) : wide(summary, width)) + wrap(notes(summary), width);
  text += fronts(summary, width);
  for (const engine::FamilyRow& family : summary.families) text += family_text(family, width);
  return text;
}

std::string print_json(const engine::Summary& summary) {
  const engine::Row sum = total(summary);  // counts each kernel as often as it occurs
  return Json::object({{"experiment", summary.experiment},
                       {"name", Json::or_null(summary.name)},
                       {"device", summary.device},
                       {"target", summary.target},
                       {"strategy", summary.strategy},
                       {"seed", summary.seed},
                       {"store", summary.store},
                       {"seconds", summary.seconds},
                       {"interrupted", summary.interrupted},
                       {"total_heuristic_us", Json::or_null(sum.heuristic_us)},
                       {"total_best_us", Json::or_null(sum.best_us)},
                       {"kernels", Json::array(summary.rows, row_json)},
                       {"graphs", Json::array(summary.graphs, graph_json)},
                       {"families", Json::array(summary.families, family_json)}})
      .print_lines(2);
}

}  // namespace deplo::apps
