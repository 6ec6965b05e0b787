// The overview of a store's report: the speed-up of every kernel over its untuned schedule and over the library.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <set>

#include "apps/report/bars.h"
#include "apps/report/scale.h"
#include "apps/report/tuning.h"
#include "core/text/text.h"

namespace deplo::apps::report {

std::string letter(std::size_t store) { return std::string(1, static_cast<char>('A' + store)); }

namespace {

/// A factor of a kernel in one store; 0: not known.
struct Ratio {
  double factor = 0;
  bool confirmed = false;
};
using RatioOf = std::function<Ratio(const KernelSummary&)>;

Ratio over_untuned(const KernelSummary& kernel) {
  const SpeedUp speed = kernel.speed_up();
  return {speed.factor(), speed.confirmed};
}

Ratio over_library(const KernelSummary& kernel) {
  const StageTimes& best = kernel.best;
  const double us = best.confirmed > 0 ? best.confirmed : best.screened;
  if (us <= 0 || kernel.library_us <= 0) return {};
  return {kernel.library_us / us, best.confirmed > 0};
}

/// Statistics of a factor over the kernels for which it is known.
struct Spread {
  std::size_t count = 0;
  double mean = 0, min = 0, max = 0;  // the mean is the geometric one
};

Spread spread(const std::vector<KernelRow>& rows, std::size_t store, const RatioOf& ratio) {
  Spread result;
  double logs = 0;
  for (const KernelRow& row : rows) {
    const double factor = row.in[store] ? ratio(*row.in[store]).factor : 0;
    if (factor <= 0) continue;
    result.min = result.count == 0 ? factor : std::min(result.min, factor);
    result.max = std::max(result.max, factor);
    logs += std::log(factor);
    ++result.count;
  }
  if (result.count > 0) result.mean = std::exp(logs / static_cast<double>(result.count));
  return result;
}

std::string words(const Spread& spread) {
  if (spread.count == 1) return print_factor(spread.mean);
  return fmt::format("{} (geometric mean of {} kernels, {} to {})", print_factor(spread.mean), spread.count,
                     print_factor(spread.min), print_factor(spread.max));
}

/// Returns "onednn" if all kernels have this library, else "the fastest library".
std::string library_of(const std::vector<KernelRow>& rows) {
  std::set<std::string> names;
  for (const KernelRow& row : rows)
    for (const auto& kernel : row.in)
      if (kernel && kernel->library_us > 0) names.insert(kernel->library);
  return names.size() == 1 ? *names.begin() : "the fastest library";
}

/// Returns the kernels with a known factor, the largest factor first. If several stores know it, the last one's counts.
std::vector<const KernelRow*> in_order(const std::vector<KernelRow>& rows, const RatioOf& ratio) {
  const auto factor = [&](const KernelRow* row) {
    double found = 0;
    for (const auto& kernel : row->in)
      if (kernel && ratio(*kernel).factor > 0) found = ratio(*kernel).factor;
    return found;
  };
  std::vector<const KernelRow*> order;
  for (const KernelRow& row : rows)
    if (factor(&row) > 0) order.push_back(&row);
  std::ranges::stable_sort(order, std::greater(), factor);
  return order;
}

/// Draws the bars of all kernels. Many kernels are split into three or more columns, which are side by side in a wide
/// window.
std::vector<Figure> ratio_figures(const std::vector<KernelRow>& rows, const RatioOf& ratio, const std::string& name,
                                  const std::string& title, const char* pale_means) {
  constexpr std::size_t max_in_one = 16, max_rows = 40;
  const std::vector<const KernelRow*> order = in_order(rows, ratio);
  const std::size_t columns =
      order.size() <= max_in_one ? 1 : std::max<std::size_t>(3, (order.size() + max_rows - 1) / max_rows);
  const std::size_t per_column = (order.size() + columns - 1) / columns;
  double min_factor = 1, max_factor = 1;  // the same scale for all columns
  for (const KernelRow* row : order)
    for (const auto& kernel : row->in)
      if (const double factor = kernel ? ratio(*kernel).factor : 0; factor > 0) {
        min_factor = std::min(min_factor, factor);
        max_factor = std::max(max_factor, factor);
      }
  const Axis axis{"", min_factor < 1 ? min_factor / 1.05 : 1, std::max(max_factor, 1.1), true};
  std::vector<Figure> figures;
  for (std::size_t first = 0; first < order.size(); first += per_column) {
    std::vector<BarRow> bar_rows;
    bool pale = false;
    for (std::size_t i = first; i < std::min(first + per_column, order.size()); ++i) {
      bool named = false;
      for (std::size_t store = 0; store < order[i]->in.size(); ++store) {
        const Ratio own = order[i]->in[store] ? ratio(*order[i]->in[store]) : Ratio{};
        if (own.factor <= 0) continue;
        bar_rows.push_back(
            {named ? "" : order[i]->title, own.factor, 0, 0, store, print_factor(own.factor), !own.confirmed});
        named = true;
        pale = pale || !own.confirmed;
      }
    }
    const std::string part = columns == 1 ? "" : fmt::format(", {} of {}", figures.size() + 1, columns);
    figures.push_back(
        bars(columns == 1 ? name : fmt::format("{}-{}", name, figures.size() + 1), title + part, bar_rows, axis));
    if (pale) figures.back().add_note(pale_means);
  }
  return figures;
}

std::string time(double us) { return us > 0 ? print(us, Unit::microseconds) : "-"; }

std::vector<std::string> cells(const KernelSummary& kernel) {
  const SpeedUp speed = kernel.speed_up();
  const double library = over_library(kernel).factor;
  return {fmt::format("{}", kernel.trials),
          fmt::format("{}", kernel.failures),
          time(speed.untuned),
          kernel.best_value.empty() ? time(speed.best) : kernel.best_value,
          speed.factor() > 0 ? print_factor(speed.factor()) : "-",
          speed.best <= 0   ? "-"
          : speed.confirmed ? "confirmed"
                            : "screened",
          kernel.library_us > 0 ? fmt::format("{} {}", kernel.library, time(kernel.library_us)) : "-",
          library > 0 ? print_factor(library) : "-"};
}

HtmlTable table_of(const std::vector<KernelRow>& rows) {
  HtmlTable table{{"kernel"}, {}};
  const bool two = rows.front().in.size() > 1;
  if (two) table.heads.emplace_back("store");
  for (const char* head : {"trials", "failed", "untuned", "best", "speed-up", "stage", "library", "over the library"})
    table.heads.emplace_back(head);
  if (two) table.heads.emplace_back("best A / best B");
  for (const KernelRow& row : rows) {
    Ratio a_over_b;
    if (two && row.in[0] && row.in[1]) {
      const StageTimes &a = row.in[0]->best, &b = row.in[1]->best;
      if (a.confirmed > 0 && b.confirmed > 0)
        a_over_b = {a.confirmed / b.confirmed, true};
      else if (a.screened > 0 && b.screened > 0)
        a_over_b = {a.screened / b.screened, false};
    }
    for (std::size_t i = 0; i < row.in.size(); ++i) {
      if (!row.in[i]) continue;
      auto& line = table.rows.emplace_back(std::vector<std::string>{row.title});
      if (two) line.push_back(letter(i));
      for (std::string& cell : cells(*row.in[i])) line.push_back(std::move(cell));
      if (two) line.push_back(a_over_b.factor > 0 ? print_factor(a_over_b.factor) : "-");
    }
  }
  return table;
}

/// Returns a sentence about the kernels without a valid time. They have no bar, but must not be overlooked.
std::string without_time(const std::vector<KernelRow>& rows, std::size_t store) {
  std::vector<std::string> names;
  for (const KernelRow& row : rows)
    if (row.in[store] && row.in[store]->speed_up().best <= 0 && row.in[store]->best_value.empty())
      names.push_back(row.title);
  return names.empty() ? "" : fmt::format("Kernels without a valid time ({}): {}. ", names.size(), join(names, ", "));
}

}  // namespace

void add_overview(Page& page, const std::vector<KernelRow>& rows) {
  const std::string library = library_of(rows);
  const std::size_t stores = rows.front().in.size();
  for (std::size_t i = 0; i < stores; ++i) {
    const Spread untuned = spread(rows, i, over_untuned), baseline = spread(rows, i, over_library);
    std::string text = stores > 1 ? letter(i) + ": " : "";
    if (untuned.count > 0) text += fmt::format("Speed-up over the untuned schedule: {}. ", words(untuned));
    if (baseline.count > 0) text += fmt::format("Speed-up over {}: {}. ", library, words(baseline));
    page.text(text + without_time(rows, i));
  }
  std::vector<Figure> figures = ratio_figures(rows, over_untuned, "speed-up", "Speed-up over the untuned schedule",
                                              "Pale bars: both times are screened; other bars: both are confirmed.");
  std::ranges::move(ratio_figures(rows, over_library, "over-the-library", "Speed-up over " + cut(library, 30),
                                  "Pale bars: our time is screened; other bars: it is confirmed."),
                    std::back_inserter(figures));
  page.plots("all kernels", std::move(figures));
  constexpr std::size_t max_unfolded = 8;
  page.section("All kernels as a table", rows.size() > max_unfolded);
  page.table(table_of(rows));
}

}  // namespace deplo::apps::report
