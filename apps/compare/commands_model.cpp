#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <set>

#include "apps/cli/commands.h"
#include "apps/cli/flags.h"
#include "apps/cli/rows_table.h"
#include "apps/cli/write_file.h"
#include "core/error.h"
#include "core/progress.h"
#include "core/text/text.h"
#include "engine/learn/labelled.h"
#include "engine/learn/recorded.h"
#include "measure/sqlite/rows.h"
#include "search/compare/held_out.h"
#include "search/records/formats/space_files.h"

namespace deplo::apps {

namespace compare = search::compare;
using search::model::Labelled;

namespace {

constexpr std::size_t least_records = 20;  // of a set; ranks of fewer records say little

struct ModelFlags {
  std::vector<std::string> stores, spaces;
  std::string leave_out = "kernel", points, objective;
  compare::HeldOutOptions options;
  bool json = false;
};

std::vector<Labelled> read(const ModelFlags& flags) {
  std::vector<Labelled> sets;
  const auto add = [&](std::vector<Labelled> more) { std::ranges::move(more, std::back_inserter(sets)); };
  for (const std::string& store : flags.stores) add(engine::label_store(store, least_records));
  search::Reading reading;
  if (!flags.objective.empty()) reading.objective = search::parse_objective(flags.objective);
  search::SpaceFiles files(flags.spaces);
  for (const search::SpaceFile& file : files.files())
    for (const search::Records& records :
         engine::is_store(file.path) ? engine::read_store(file.path) : files.read(file, reading))
      add(engine::label_records(records, least_records));
  Progress progress(stderr);
  for (const std::string& line : files.left_out().lines()) progress.line(line);
  return sets;
}

double rounded(double value) { return std::round(value * 1e4) / 1e4; }

std::vector<measure::sqlite::Cell> row(std::string name, std::string device, const compare::HeldOutScore& s,
                                       measure::sqlite::Cell records) {
  return {
      std::move(name),     std::move(device), s.model,           std::move(records),  static_cast<std::int64_t>(s.sets),
      rounded(s.spearman), rounded(s.recall), rounded(s.regret), rounded(s.coverage), rounded(s.width)};
}

/// Appends a row for each model with its means over the sets; the mean of the widths is geometric.
void add_means(measure::sqlite::Rows& rows, const std::vector<compare::HeldOutScore>& scores) {
  std::vector<std::string> order;
  std::map<std::string, std::pair<compare::HeldOutScore, double>> sums;
  for (const compare::HeldOutScore& s : scores) {
    auto& [sum, count] = sums[s.model];
    if (count == 0) order.push_back(s.model);
    sum.model = s.model;
    sum.spearman += s.spearman;
    sum.recall += s.recall;
    sum.regret += s.regret;
    sum.coverage += s.coverage;
    sum.width += std::log(s.width);
    ++count;
  }
  for (const std::string& model : order) {
    auto [mean, count] = sums[model];
    for (double* statistic : {&mean.spearman, &mean.recall, &mean.regret, &mean.coverage, &mean.width})
      *statistic /= count;
    mean.width = std::exp(mean.width);
    rows.rows.push_back(row("mean", "", mean, {}));
    rows.rows.back()[4] = std::monostate();
  }
}

measure::sqlite::Rows table(const std::vector<Labelled>& sets, const std::vector<compare::HeldOutScore>& scores,
                            const compare::HeldOutOptions& options) {
  const std::string top = fmt::format("top-{}", options.top);
  measure::sqlite::Rows rows{{"left out", "device", "model", "records", "learned from", "spearman", top + " recall",
                              top + " regret", "90 % covers", "interval"},
                             {}};
  for (const compare::HeldOutScore& s : scores)
    rows.rows.push_back(
        row(sets[s.set].name, sets[s.set].device, s, static_cast<std::int64_t>(sets[s.set].logs.size())));
  add_means(rows, scores);
  return rows;
}

Error nothing_to_learn_from(const std::vector<Labelled>& sets, const std::string& leave_out) {
  std::set<std::string> kernels, devices;
  for (const Labelled& set : sets) {
    kernels.insert(set.kernel);
    devices.insert(set.device);
  }
  return Error(
      fmt::format("--leave-out {0}: expected a {0} to leave out and others to learn from, each with at least {1} valid "
                  "records, found {2} on {3}",
                  leave_out, least_records, counted(kernels.size(), "kernel"), counted(devices.size(), "device")));
}

void run_eval(const ModelFlags& flags) {
  if (flags.stores.empty() && flags.spaces.empty()) throw Error("expected --store or --spaces, found none");
  compare::HeldOutOptions options = flags.options;
  options.leave_out = compare::parse_leave_out(flags.leave_out);
  const std::vector<Labelled> sets = read(flags);
  if (!flags.points.empty()) {
    if (!flags.spaces.empty()) throw Error("--points cannot be combined with --spaces, which have different knobs");
    write_file(flags.points, engine::print_points(sets));
  }
  const std::vector<compare::HeldOutScore> scores = evaluate_held_out(sets, options);
  if (scores.empty()) throw nothing_to_learn_from(sets, flags.leave_out);
  const measure::sqlite::Rows rows = table(sets, scores, options);
  constexpr std::string_view spare[] = {"learned from", "records", "interval", "90 % covers"};
  print_result(flags.json ? print_json(rows) : print_rows(rows, window_width(), spare));
}

}  // namespace

void add_model(Command command) {
  command.describe("Rate models that learn from many kernels.");
  Command eval = command.add("eval",
                             "Learn from all kernels (or devices) except one, and rank the candidates of that "
                             "one.\nEach is left out in turn. docs/model.md explains the columns.");
  eval.examples("deplo model eval --store experiments/results/kernel_spaces.db");
  auto flags = std::make_shared<ModelFlags>();
  eval.option("--store", flags->stores, "FILES",
              "Read stores of `deplo tune`. Models use kernel features and the analytic model.");
  eval.option("--spaces", flags->spaces, "FILES|FOLDERS", "Read recorded spaces. Models use only the values of knobs.");
  add_objective(eval, flags->objective);
  eval.option(
          "--leave-out", flags->leave_out, "kernel|device",
          "Leave out each kernel, or each device. With device, models learn from the same kernel on the other devices.")
      .show_default();
  eval.option("--top", flags->options.top, "N", "Compute recall and regret for the N best candidates.")
      .between(std::size_t{1}, std::size_t{100000})
      .show_default();
  eval.option("--seed", flags->options.seed, "N", "Set the seed of the models. The same seed prints the same bytes.")
      .between(std::uint64_t{0}, std::numeric_limits<std::uint64_t>::max())
      .show_default();
  eval.option("--points", flags->points, "FILE", "Also write the features of the stores' trials to FILE (CSV).");
  eval.flag("--json", flags->json, "Print one JSON document instead of the table.");
  eval.run([flags] { run_eval(*flags); });
}

}  // namespace deplo::apps
