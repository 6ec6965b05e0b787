// Makes the page of a tuning store, or of two stores side by side.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "apps/report/scale.h"
#include "apps/report/tuning.h"
#include "core/text/text.h"
#include "rules/rule.h"

namespace deplo::apps::report {
namespace {

using Entry = TunedStore::Entry;

/// The same kernel (by its key) in each store. The devices are the same or, if the second store has the kernel on one
/// other device only, different.
struct Group {
  std::string title;
  std::vector<const Entry*> in;  // per store; null: the store does not have the kernel

  const Entry& any() const {
    return **std::ranges::find_if(in, [](const auto* entry) { return entry != nullptr; });
  }
};

const Entry* partner(const std::vector<Entry>& entries, const Entry& entry) {
  const Entry* found = nullptr;
  std::size_t count = 0;
  for (const Entry& other : entries) {
    if (other.key != entry.key) continue;
    if (other.device_name == entry.device_name) return &other;
    found = &other;
    ++count;
  }
  return count == 1 ? found : nullptr;
}

std::vector<Group> pair_up(const std::vector<TunedStore>& stores) {
  std::vector<Group> groups;
  std::set<const Entry*> taken;
  for (const Entry& entry : stores[0].entries()) {
    groups.push_back({"", {&entry}});
    if (stores.size() == 1) continue;
    groups.back().in.push_back(partner(stores[1].entries(), entry));
    taken.insert(groups.back().in.back());
  }
  if (stores.size() == 1) return groups;
  for (const Entry& entry : stores[1].entries())
    if (!taken.contains(&entry)) groups.push_back({"", {nullptr, &entry}});
  return groups;
}

/// Pairs the kernels of the stores. A group's title is its kernel's name, with the device if several groups have this
/// name.
std::vector<Group> group(const std::vector<TunedStore>& stores) {
  std::vector<Group> groups = pair_up(stores);
  std::map<std::string, int> named;
  for (const Group& group : groups) ++named[group.any().name];
  constexpr std::size_t longest = 400;  // letters; the store accepts any text as a name
  for (Group& group : groups) {
    group.title = cut(group.any().name, longest);
    if (named[group.any().name] > 1) group.title += " on " + group.any().device_name;
  }
  return groups;
}

std::string print_time(double us) { return print(us, Unit::microseconds); }

/// Returns the store's file, with the experiment's name if all runs are of the same named experiment.
std::string title(TunedStore& store) {
  const std::vector<TunedRun> runs = store.runs();
  const std::string name = runs.empty() ? "" : runs.front().experiment;
  const bool one = std::ranges::all_of(runs, [&](const TunedRun& run) { return run.experiment == name; });
  return name.empty() || !one ? store.file() : fmt::format("{} ({})", name, store.file());
}

HtmlTable runs_table(const std::vector<TunedRun>& runs) {
  HtmlTable table{{"started", "experiment", "strategy", "seed", "device", "host", "revision", "trials"}, {}, {}};
  constexpr std::size_t max_rows = 30;
  for (std::size_t i = runs.size() - std::min(runs.size(), max_rows); i < runs.size(); ++i)
    table.rows.push_back({runs[i].started, runs[i].experiment, runs[i].searcher, fmt::format("{}", runs[i].seed),
                          runs[i].device, runs[i].host, runs[i].revision, fmt::format("{}", runs[i].trials)});
  return table;
}

HtmlTable graphs_table(const std::vector<TunedGraph>& graphs) {
  HtmlTable table{{"graph", "device", "heuristic's kernels", "best kernels", "decisions of fusion"}, {}, {}};
  for (const TunedGraph& graph : graphs)
    table.rows.push_back(
        {graph.name, graph.device, print_time(graph.heuristic_us), print_time(graph.best_us), graph.trail});
  return table;
}

std::string_view summary_of(std::string_view rule) {
  const rules::Rule* known = rules::find_rule(rule);
  return known == nullptr ? "" : known->summary;
}

HtmlTable decision_table(const TunedKernel& kernel) {
  HtmlTable table{{"rule", "knob", "best"}, {}, {5}};
  if (!kernel.imported) table.heads.emplace_back("untuned");
  const bool known = !kernel.schedule.empty();
  if (known) table.heads.insert(table.heads.end(), {"options", "decision"});
  std::string rule;
  for (const TunedKernel::Decision& decision : kernel.decisions) {
    const bool first = decision.rule != rule;
    rule = decision.rule;
    auto& row = table.rows.emplace_back(std::vector<std::string>{first ? rule : "", decision.knob, decision.value});
    if (!kernel.imported) row.push_back(decision.value == decision.untuned ? "same" : decision.untuned);
    if (!known) continue;
    row.push_back(fmt::format("{}", decision.options));
    row.emplace_back(first ? summary_of(rule) : "");
  }
  return table;
}

/// Returns "12 µs confirmed on the full grid, 11.8 µs as screened".
std::string words(const StageTimes& times) {
  if (times.confirmed <= 0)
    return times.screened > 0 ? print_time(times.screened) + " as screened, not confirmed" : "-";
  const std::string confirmed = print_time(times.confirmed) + " confirmed on the full grid";
  return times.screened > 0 ? fmt::format("{}, {} as screened", confirmed, print_time(times.screened)) : confirmed;
}

void add_schedule(Page& page, const TunedKernel& kernel, const std::string& store) {
  if (kernel.best_trail.empty()) return page.text(store + "No schedule has a valid time.");
  const KernelSummary& summary = kernel.summary;
  const SpeedUp speed = summary.speed_up();
  std::string text = fmt::format("{}The best schedule: {}.", store,
                                 summary.objective.empty() ? words(summary.best) : summary.best_value);
  if (speed.factor() > 0)
    text += fmt::format(" Untuned: {}. Speed-up {}.", words(summary.untuned), print_factor(speed.factor()));
  if (!kernel.proof.empty()) text += fmt::format(" In exact arithmetic: {}.", kernel.proof);
  if (!kernel.fingerprint.empty()) text += fmt::format(" Fingerprint of its bits: {}.", kernel.fingerprint);
  page.text(text);
  if (!kernel.machine_code.empty()) page.text(store + "Machine code: " + kernel.machine_code);
  page.table(decision_table(kernel));
  if (kernel.schedule.empty())
    page.text(kernel.unreadable);
  else
    page.listing("As Tile IR", kernel.schedule);
  page.listing("As a trail, for --schedule", kernel.best_trail + "\n");
}

/// Adds the Pareto front of a kernel with several objectives.
void add_front(Page& page, const TunedKernel& kernel, const std::string& store) {
  if (!kernel.front || kernel.front->trials.empty()) return;
  const measure::Front& front = *kernel.front;
  HtmlTable table{{}, {}, {front.objectives.size() + 2}};
  for (const measure::Quantity* const objective : front.objectives)
    table.heads.push_back(objective->unit.empty() ? std::string(objective->name)
                                                  : fmt::format("{} ({})", objective->name, objective->unit));
  table.heads.insert(table.heads.end(), {"stage", "digest", "schedule"});
  for (const measure::TrialRecord& trial : front.trials) {
    std::vector<std::string>& row = table.rows.emplace_back();
    const std::vector<double> values = measure::values_of(trial, front.objectives).value();
    for (std::size_t i = 0; i < values.size(); ++i)
      row.push_back(front.objectives[i]->is_noisy() ? significant(values[i]) : fmt::format("{:.0f}", values[i]));
    row.insert(row.end(), {std::string(name(trial.stage)), trial.digest, trial.trail});
  }
  page.text(
      fmt::format("{}Pareto front of the objectives: {} of {}. No other schedule is better in one objective and at "
                  "least as good in all others.",
                  store, front.trials.size(), counted(front.valid, "valid schedule")));
  page.table(table);
}

void add_failure_messages(Page& page, const TunedKernel& kernel, const std::string& store) {
  if (kernel.failures.empty()) return;
  HtmlTable table{{"failure", "trials", "latest message", "its trail"}, {}, {2, 3}};
  for (const auto& [status, kind] : kernel.failures)
    table.rows.push_back({store + status, fmt::format("{}", kind.count), kind.message, kind.trail});
  page.table(table);
}

/// Reads the kernel, adds it to the page, and returns its summary. The trials are dropped, because those of all kernels
/// may not fit into memory.
KernelRow add_kernel(Page& page, std::vector<TunedStore>& stores, const Group& group, bool folded) {
  std::vector<std::optional<TunedKernel>> kernels;
  std::vector<const TunedKernel*> in;
  std::vector<std::string> letters;
  for (std::size_t i = 0; i < stores.size(); ++i) {
    kernels.push_back(group.in[i] == nullptr ? std::nullopt : std::optional(stores[i].read(*group.in[i])));
    letters.push_back(stores.size() > 1 ? letter(i) : "");
  }
  for (const auto& kernel : kernels) in.push_back(kernel ? &*kernel : nullptr);
  page.section(group.title, folded);
  std::string devices = group.any().device_name;
  for (const Entry* entry : group.in)
    if (entry != nullptr && entry->device_name != devices) devices += " and " + entry->device_name;
  page.text("On " + devices);
  page.plots(group.title, kernel_figures(in, letters));
  KernelRow row{group.title, {}};
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    row.in.push_back(kernels[i] ? std::optional(kernels[i]->summary) : std::nullopt);
    const std::string store = letters[i].empty() ? "" : letters[i] + ": ";
    if (kernels[i]) {
      add_schedule(page, *kernels[i], store);
      add_front(page, *kernels[i], store);
      add_failure_messages(page, *kernels[i], store);
    } else {
      page.text(store + "not in this store.");
    }
  }
  return row;
}

/// Returns one line about the damaged rows, which are not in the page.
std::string left_out(const TunedStore& store) {
  constexpr std::size_t max_rows = 5;
  const std::vector<std::string>& rows = store.damaged();
  std::string text =
      fmt::format("Damaged rows of {}, not shown: {} (`deplo db check` lists all). ", store.file(), rows.size());
  for (std::size_t i = 0; i < std::min(rows.size(), max_rows); ++i) text += (i == 0 ? "" : "; ") + rows[i];
  return text + (rows.size() > max_rows ? "; …" : "");
}

constexpr const char* legend =
    "The plots of a kernel show times as screened. A dot is a trial, a stroke at the upper edge is a failed trial, and "
    "the line is the best so far of all complete trials. Confirmed times follow another protocol; the finalists, the "
    "untuned schedule and the libraries have them. The time spent on a kernel is that of its trials, builds included. "
    "Knobs: the share of the variance of log time that the values of a knob explain (epsilon squared), among the "
    "schedules that were tried; a × b is the share that only both together explain. Values: below 1 is faster than the "
    "mean.";

}  // namespace

Page tuning_page(std::vector<TunedStore>& stores) {
  constexpr std::size_t max_unfolded = 8;  // more unfolded kernels make the page too long to find anything
  const std::vector<Group> groups = group(stores);
  Page kernels("");
  std::vector<KernelRow> rows;
  for (const Group& group : groups) rows.push_back(add_kernel(kernels, stores, group, groups.size() > max_unfolded));

  Page page("Tuning: " + title(stores[0]) + (stores.size() == 1 ? "" : " and " + title(stores[1])));
  if (stores.size() > 1) page.key({"A: " + stores[0].file(), "B: " + stores[1].file()});
  for (const TunedStore& store : stores)
    if (!store.damaged().empty()) page.text(left_out(store));
  add_overview(page, rows);
  page.section("How to read the plots", true);
  page.text(legend);
  page.append(std::move(kernels));
  for (std::size_t i = 0; i < stores.size(); ++i) {
    const std::vector<TunedGraph> graphs = stores[i].graphs();
    if (graphs.empty()) continue;
    page.section(stores.size() > 1 ? "Graphs of " + letter(i) : "Graphs", true);
    page.table(graphs_table(graphs));
  }
  for (std::size_t i = 0; i < stores.size(); ++i) {
    const std::vector<TunedRun> runs = stores[i].runs();
    page.section(stores.size() > 1 ? "Runs of " + letter(i) : "Runs", true);
    page.text(fmt::format("{}; the latest:", counted(runs.size(), "run")));
    page.table(runs_table(runs));
  }
  return page;
}

}  // namespace deplo::apps::report
