// A tuning store as a page, or two of them beside each other.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "apps/report/bars.h"
#include "apps/report/scale.h"
#include "apps/report/tuning.h"

namespace deplo::apps {
namespace {

/// The same kernel (by its key) on a device in each store; stores of different devices stand beside each other too.
struct Group {
  std::string title;
  std::vector<const TunedKernel*> in;  // per store; null: not there

  const TunedKernel& any() const {
    return **std::ranges::find_if(in, [](const auto* kernel) { return kernel != nullptr; });
  }
};

const TunedKernel* partner(const TunedStore& store, const TunedKernel& kernel) {
  const TunedKernel* found = nullptr;
  std::size_t count = 0;
  for (const TunedKernel& other : store.kernels) {
    if (other.key != kernel.key) continue;
    if (other.device.name == kernel.device.name) return &other;
    found = &other;
    ++count;
  }
  return count == 1 ? found : nullptr;
}

std::vector<Group> pair_up(const std::vector<TunedStore>& stores) {
  std::vector<Group> groups;
  std::vector<const TunedKernel*> taken;
  for (const TunedKernel& kernel : stores[0].kernels) {
    groups.push_back({"", {&kernel}});
    if (stores.size() == 1) continue;
    taken.push_back(partner(stores[1], kernel));
    groups.back().in.push_back(taken.back());
  }
  for (std::size_t i = 0; stores.size() > 1 && i < stores[1].kernels.size(); ++i)
    if (const TunedKernel* const kernel = &stores[1].kernels[i]; std::ranges::find(taken, kernel) == taken.end())
      groups.push_back({"", {nullptr, kernel}});
  return groups;
}

/// Titled by the kernels' names, and by their devices where a name stands twice.
std::vector<Group> group(const std::vector<TunedStore>& stores) {
  std::vector<Group> groups = pair_up(stores);
  std::map<std::string, int> named;
  for (const Group& group : groups) ++named[group.any().name];
  for (Group& group : groups) {
    group.title = group.any().name;
    if (named[group.title] > 1) group.title += " on " + group.any().device.name;
  }
  return groups;
}

std::string letter(std::size_t store) { return std::string(1, static_cast<char>('A' + store)); }

std::string time(const Speed& speed) { return speed.us > 0 ? print(speed.us, Unit::microseconds) : "-"; }

std::string ratio(double above, double below) {
  return above > 0 && below > 0 ? fmt::format("{:.2f}×", above / below) : "-";
}

std::string library(const TunedKernel& kernel) {
  for (const measure::BaselineRecord& baseline : kernel.baselines)
    if (baseline.median_us > 0)
      return fmt::format("{} {}", baseline.library, print(baseline.median_us, Unit::microseconds));
  return "-";
}

std::size_t failures(const TunedKernel& kernel) {
  return static_cast<std::size_t>(std::ranges::count_if(kernel.trials, [](const ReportTrial& t) { return !t.ok(); }));
}

std::vector<std::string> cells(const TunedKernel& kernel) {
  return {fmt::format("{}", kernel.trials.size()),
          fmt::format("{}", failures(kernel)),
          time(kernel.untuned),
          time(kernel.best),
          ratio(kernel.untuned.us, kernel.best.us),
          kernel.best.us == 0     ? "-"
          : kernel.best.confirmed ? "yes"
                                  : "no",
          library(kernel)};
}

HtmlTable overview(const std::vector<Group>& groups) {
  HtmlTable table{{"kernel"}, {}};
  const bool two = groups.front().in.size() > 1;
  if (two) table.heads.emplace_back("store");
  for (const char* head : {"trials", "failed", "untuned", "best", "speed-up", "confirmed", "library"})
    table.heads.emplace_back(head);
  if (two) table.heads.emplace_back("best A / best B");
  for (const Group& group : groups)
    for (std::size_t i = 0; i < group.in.size(); ++i) {
      if (group.in[i] == nullptr) continue;
      auto& row = table.rows.emplace_back(std::vector<std::string>{group.title});
      if (two) row.push_back(letter(i));
      for (std::string& cell : cells(*group.in[i])) row.push_back(std::move(cell));
      if (two)
        row.push_back(
            group.in[0] == nullptr || group.in[1] == nullptr ? "-" : ratio(group.in[0]->best.us, group.in[1]->best.us));
    }
  return table;
}

std::vector<Figure> overview_figures(const std::vector<Group>& groups) {
  constexpr std::size_t most_rows = 40;
  std::vector<BarRow> rows;
  double most = 1;
  for (const Group& group : groups)
    for (std::size_t i = 0; i < group.in.size() && rows.size() < most_rows; ++i) {
      if (group.in[i] == nullptr || group.in[i]->untuned.us <= 0 || group.in[i]->best.us <= 0) continue;
      const double factor = group.in[i]->untuned.us / group.in[i]->best.us;
      most = std::max(most, factor);
      const bool named = i > 0 && rows.size() > 0 && group.in[0] != nullptr && rows.back().label == group.title;
      rows.push_back({named ? "" : group.title, factor, 0, 0, i, fmt::format("{:.2f}×", factor)});
    }
  if (rows.empty()) return {};
  return {bars("speed-up", "Speed-up over the untuned schedule", rows, 0, most)};
}

HtmlTable runs_table(const std::vector<TunedRun>& runs) {
  HtmlTable table{{"started", "strategy", "seed", "device", "host", "revision", "trials"}, {}, {}};
  constexpr std::size_t most_rows = 30;
  for (std::size_t i = runs.size() - std::min(runs.size(), most_rows); i < runs.size(); ++i)
    table.rows.push_back({runs[i].started, runs[i].searcher, fmt::format("{}", runs[i].seed), runs[i].device,
                          runs[i].host, runs[i].revision, fmt::format("{}", runs[i].trials)});
  return table;
}

HtmlTable decision_table(const TunedKernel& kernel) {
  HtmlTable table{{"rule", "knob", "best"}, {}, {5}};
  if (!kernel.imported) table.heads.emplace_back("untuned");
  const bool known = !kernel.schedule.empty();
  if (known) table.heads.insert(table.heads.end(), {"options", "what it decides"});
  std::string rule;
  for (const TunedKernel::Decision& decision : kernel.decisions) {
    const bool first = decision.rule != rule;
    rule = decision.rule;
    auto& row = table.rows.emplace_back(std::vector<std::string>{first ? rule : "", decision.knob, decision.value});
    if (!kernel.imported) row.push_back(decision.value == decision.untuned ? "same" : decision.untuned);
    if (!known) continue;
    row.push_back(fmt::format("{}", decision.options));
    row.emplace_back(first ? rule_words(rule) : "");
  }
  return table;
}

void add_schedule(Page& page, const TunedKernel& kernel, const std::string& store) {
  if (kernel.best_trail.empty()) return page.text(store + "No schedule of it has a valid time.");
  page.text(fmt::format("{}The best schedule: {}{}{}", store, time(kernel.best),
                        kernel.best.confirmed ? ", confirmed on the full grid" : ", as screened, not confirmed",
                        kernel.untuned.us > 0 ? fmt::format("; untuned {}, {}", time(kernel.untuned),
                                                            ratio(kernel.untuned.us, kernel.best.us))
                                              : ""));
  page.table(decision_table(kernel));
  if (kernel.schedule.empty())
    page.text(kernel.unreadable);
  else
    page.listing("As Tile IR", kernel.schedule);
  page.listing("As a trail, for --schedule", kernel.best_trail + "\n");
}

void add_failure_messages(Page& page, const TunedKernel& kernel, const std::string& store) {
  struct Kind {
    std::size_t count = 0;
    std::string message, trail;
  };
  std::map<std::string, Kind> kinds;
  for (const ReportTrial& trial : kernel.trials) {
    if (trial.ok()) continue;
    Kind& kind = kinds[trial.status];
    ++kind.count;
    kind.message = trial.message;  // the latest
    kind.trail = trial.trail;
  }
  if (kinds.empty()) return;
  HtmlTable table{{"failure", "trials", "the latest said", "its trail"}, {}, {2, 3}};
  for (const auto& [status, kind] : kinds)
    table.rows.push_back({store + status, fmt::format("{}", kind.count), kind.message, kind.trail});
  page.table(table);
}

void add_kernel(Page& page, const Group& group, bool folded) {
  page.section(group.title, folded);
  std::string devices = group.any().device.name;
  for (const TunedKernel* kernel : group.in)
    if (kernel != nullptr && kernel->device.name != devices) devices += " and " + kernel->device.name;
  page.text("On " + devices);
  std::vector<std::string> letters;
  for (std::size_t i = 0; i < group.in.size(); ++i) letters.push_back(group.in.size() > 1 ? letter(i) : "");
  page.plots(group.title, kernel_figures(group.in, letters));
  for (std::size_t i = 0; i < group.in.size(); ++i) {
    const std::string store = letters[i].empty() ? "" : letters[i] + ": ";
    if (group.in[i] == nullptr) {
      page.text(store + "not in this store.");
      continue;
    }
    add_schedule(page, *group.in[i], store);
    add_failure_messages(page, *group.in[i], store);
  }
}

constexpr const char* legend =
    "Plots of a kernel: a dot is a trial, a stroke at the upper edge a failed one, the line the best so far (of what "
    "ran "
    "to the end); confirmations of the finalists are left out. Time spent on a kernel is that of its trials, builds "
    "included. Knobs: the share of the variance of log time that a knob's values explain (epsilon squared), of what "
    "the "
    "search tried; a × b is what both explain beyond each. Values: below 1 is faster than the mean.";

}  // namespace

Page tuning_page(const std::vector<TunedStore>& stores) {
  Page page(stores.size() == 1 ? "Tuning: " + stores[0].file
                               : fmt::format("Tuning: {} and {}", stores[0].file, stores[1].file));
  const std::vector<Group> groups = group(stores);
  if (stores.size() > 1) page.key({"A: " + stores[0].file, "B: " + stores[1].file});
  page.table(overview(groups));
  page.plots("all kernels", overview_figures(groups));
  page.text(legend);
  constexpr std::size_t most_unfolded = 8;  // more make a page too long to find anything
  for (const Group& group : groups) add_kernel(page, group, groups.size() > most_unfolded);
  for (std::size_t i = 0; i < stores.size(); ++i) {
    page.section(stores.size() > 1 ? "Runs of " + letter(i) : "Runs", true);
    page.text(fmt::format("{} {}; the latest:", stores[i].runs.size(), stores[i].runs.size() == 1 ? "run" : "runs"));
    page.table(runs_table(stores[i].runs));
  }
  return page;
}

}  // namespace deplo::apps
