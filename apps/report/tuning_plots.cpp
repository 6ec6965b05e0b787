// The plots of one kernel, in one store or in several.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <optional>

#include "apps/report/bars.h"
#include "apps/report/chart.h"
#include "apps/report/tuning.h"
#include "core/text/text.h"
#include "core/trail.h"
#include "search/model/effects.h"

namespace deplo::apps::report {
namespace {

constexpr std::size_t longest_library = 20;                            // letters; longer names of libraries are cut
constexpr std::size_t failed_series = 5;                               // the colour vermillion
constexpr const char* time_title = "time of the kernel, as screened";  // plots of trials have times of one stage
constexpr double infinity = std::numeric_limits<double>::infinity();

/// Trials of the search in order: the position of each on an axis, its time, and the best time so far.
struct Course {
  std::vector<double> x, us;            // of the valid trials
  std::vector<double> best_x, best_us;  // where the best time changed
  std::vector<double> failed_x;
  double end = 0;
};

Course course(const TunedKernel& kernel, bool over_time) {
  Course result;
  double best = infinity, number = 0;
  for (const ReportTrial& trial : kernel.trials) {
    if (trial.confirmed) continue;  // confirmed schedules were found by earlier trials
    ++number;
    const double x = over_time ? trial.seconds : number;
    result.end = std::max(result.end, x);
    if (!trial.ok()) {
      result.failed_x.push_back(x);
      continue;
    }
    result.x.push_back(x);
    result.us.push_back(trial.us);
    if (trial.stopped || trial.us >= best) continue;
    best = trial.us;
    result.best_x.push_back(x);
    result.best_us.push_back(best);
  }
  return result;
}

using Kernels = std::vector<const TunedKernel*>;

/// Returns the axis from the fastest to the slowest time of all trials; nullopt if there are no times.
std::optional<Axis> time_axis(const Kernels& kernels) {
  double low = infinity, high = 0;
  for (const TunedKernel* kernel : kernels) {
    if (kernel == nullptr) continue;
    if (!kernel->summary.objective.empty()) return std::nullopt;  // other objectives have no times
    for (const ReportTrial& trial : kernel->trials)
      if (trial.ok() && !trial.confirmed) {
        low = std::min(low, trial.us);
        high = std::max(high, trial.us);
      }
  }
  if (high == 0) return std::nullopt;
  return around(time_title, low, high, true, Unit::microseconds);
}

/// Returns the axis from the first to the last of the best times. Slower trials do not stretch it.
Axis best_axis(const std::vector<Course>& courses) {
  double low = infinity, high = 0;
  for (const Course& course : courses)
    for (const double us : course.best_us) {
      low = std::min(low, us);
      high = std::max(high, us);
    }
  return around(time_title, high > 0 ? low : 1, high > 0 ? high : 1, true, Unit::microseconds);
}

Figure convergence(const Kernels& kernels, const std::vector<std::string>& stores, bool over_time, const Axis& us) {
  std::vector<Course> courses;
  double end = 0;
  for (const TunedKernel* kernel : kernels) {
    courses.push_back(kernel == nullptr ? Course() : course(*kernel, over_time));
    end = std::max(end, courses.back().end);
  }
  Chart chart(
      over_time ? "best-over-time" : "best-over-trials",
      over_time ? "Best so far over the time of tuning" : "Every trial, and the best so far",
      around(over_time ? "time spent on the kernel" : "trials", 0, end, false, over_time ? Unit::seconds : Unit::count),
      over_time ? best_axis(courses) : us, stores.size() > 1 ? 1 : 0);
  for (std::size_t i = 0; i < courses.size(); ++i) {
    if (!over_time) chart.dots(courses[i].x, courses[i].us, i);
    if (!over_time) chart.strokes(courses[i].failed_x, failed_series);
  }
  if (kernels.size() == 1 && kernels[0]->summary.untuned.screened > 0)
    chart.rule(kernels[0]->summary.untuned.screened, "untuned");
  for (std::size_t i = 0; i < courses.size(); ++i) chart.steps(courses[i].best_x, courses[i].best_us, i, stores[i]);
  return chart.figure();
}

/// Returns the shares of the valid trials in `bins` equal parts of the logarithmic axis.
std::vector<double> histogram(const TunedKernel& kernel, const Axis& axis, std::size_t bins) {
  std::vector<double> shares(bins, 0);
  double count = 0;
  for (const ReportTrial& trial : kernel.trials) {
    if (!trial.ok() || trial.confirmed) continue;
    ++shares[std::min(bins - 1, static_cast<std::size_t>(axis.share(trial.us) * static_cast<double>(bins)))];
    ++count;
  }
  for (double& share : shares) share /= std::max(count, 1.0);
  return shares;
}

struct Mark {
  double us;
  std::string what;
};

/// Returns marks of the best schedule and, for a single store, of the untuned schedule, and of the fastest library if
/// it is within the axis.
std::vector<Mark> marks_of(const Kernels& kernels, const Axis& us) {
  std::vector<Mark> marks;
  for (std::size_t i = 0; i < kernels.size(); ++i)
    if (kernels[i] != nullptr && kernels[i]->summary.best.screened > 0)
      marks.push_back(
          {kernels[i]->summary.best.screened, kernels.size() > 1 ? (i == 0 ? "best of A" : "best of B") : "best"});
  if (kernels.size() > 1) return marks;
  const KernelSummary& summary = kernels[0]->summary;
  if (summary.untuned.screened > 0) marks.push_back({summary.untuned.screened, "untuned"});
  if (summary.library_us >= us.low && summary.library_us <= us.high)
    marks.push_back({summary.library_us, cut(summary.library, longest_library) + " (confirmed)"});
  return marks;
}

Figure distribution(const Kernels& kernels, Axis us) {
  constexpr std::size_t bins = 40;
  std::vector<std::vector<double>> shares;
  double highest = 0;
  for (const TunedKernel* kernel : kernels) {
    shares.push_back(kernel == nullptr ? std::vector<double>(bins, 0) : histogram(*kernel, us, bins));
    highest = std::max(highest, std::ranges::max(shares.back()));
  }
  const auto edge = [&](std::size_t bin) {
    return us.low * std::pow(us.high / us.low, static_cast<double>(bin) / static_cast<double>(bins));
  };
  const std::vector<Mark> marks = marks_of(kernels, us);
  const double room = 1.05 + 0.1 * static_cast<double>(marks.size());  // above the bars, for the marks' labels
  Chart chart("distribution", "Distribution of the times of the trials", us,
              {"share of the valid trials", 0, std::max(highest, 1e-9) * room, false, Unit::percent}, 0);
  for (std::size_t i = 0; i < shares.size(); ++i)
    for (std::size_t bin = 0; bin < bins; ++bin)
      if (shares[i][bin] > 0)
        chart.bar(edge(bin), edge(bin + 1), shares[i][bin], i,
                  fmt::format("{} … {}: {}", print(edge(bin), Unit::microseconds),
                              print(edge(bin + 1), Unit::microseconds), print(shares[i][bin], Unit::percent)),
                  shares.size() > 1);
  for (const Mark& mark : marks) chart.mark(mark.us, mark.what + " " + print(mark.us, Unit::microseconds));
  return chart.figure();
}

constexpr double least_share = 0.01, least_pair_share = 0.05;  // smaller shares of some hundred trials may be chance

/// Adds a caution below shares that rest on few trials. A knob of five values that has no effect gets a share of more
/// than 30 % in one of twenty samples of 20 trials, and of 11 % in one of twenty samples of 50 trials (4,000 samples of
/// normal log times each).
void caution(Figure& figure, const Kernels& kernels) {
  constexpr std::size_t min_trials = 50;
  std::size_t fewest = min_trials;
  for (const TunedKernel* kernel : kernels)
    if (kernel != nullptr && !kernel->knobs.empty()) fewest = std::min(fewest, kernel->valid);
  if (fewest < min_trials)
    figure.add_note(
        fmt::format("Caution: only {} valid trials, fewer than {}. Much of this may be chance.", fewest, min_trials));
}

/// The shares of each knob, per store, and those of each pair of knobs that explains more together than its knobs
/// alone.
using Shares = std::map<std::string, std::vector<double>>;

Shares shares_of(const Kernels& kernels) {
  Shares shares;
  const auto keep = [&](const std::string& name, std::size_t store, double share, double min_share) {
    if (share < min_share) return;
    shares[name].resize(kernels.size(), 0);
    shares[name][store] = share;
  };
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (kernels[i] == nullptr) continue;
    for (const search::model::KnobEffect& effect : kernels[i]->knobs) keep(effect.knob, i, effect.share, least_share);
    for (const search::model::PairEffect& pair : kernels[i]->pairs)
      keep(pair.first + " × " + pair.second, i, pair.share, least_pair_share);
  }
  return shares;
}

void add_importance(std::vector<Figure>& figures, const Kernels& kernels) {
  constexpr std::size_t max_knobs = 12;
  const Shares shares = shares_of(kernels);
  std::vector<std::pair<double, std::string>> order;  // the largest share first
  for (const auto& [name, knob_shares] : shares) order.emplace_back(-std::ranges::max(knob_shares), name);
  std::ranges::sort(order);
  if (order.size() > max_knobs) order.resize(max_knobs);
  std::vector<BarRow> rows;
  for (const auto& [share, name] : order) {
    bool named = false;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      const double own = shares.at(name)[i];
      if (own <= 0) continue;  // the store has no share for this knob or pair
      rows.push_back({named ? "" : name, own, 0, 0, i, print(own, Unit::percent)});
      named = true;
    }
  }
  if (rows.empty()) return;
  const double longest = std::max(0.2, -order.front().first);
  figures.push_back(bars("knobs", "Knobs: share of the variance of log time", rows, Axis{"", 0, longest}));
  caution(figures.back(), kernels);
}

/// Adds a figure with the values of the knobs that matter most, in that order. Of a knob with many values, it shows
/// those that were tried most.
void add_values(std::vector<Figure>& figures, const TunedKernel& kernel, std::size_t series,
                const std::string& suffix) {
  constexpr std::size_t max_knobs = 3, max_values = 8;
  std::vector<FactorRow> rows;
  std::size_t knobs = 0;
  for (const search::model::KnobEffect& effect : kernel.knobs) {
    if (effect.share < least_share || ++knobs > max_knobs) break;
    std::vector<search::model::ValueEffect> kept = effect.values;
    std::ranges::stable_sort(kept, std::greater(), &search::model::ValueEffect::count);
    if (kept.size() > max_values) kept.resize(max_values);
    std::ranges::sort(kept, {}, &search::model::ValueEffect::value);
    for (const search::model::ValueEffect& value : kept)
      rows.push_back({effect.knob, fmt::format("{} ({})", deplo::print(value.value), value.count), value.factor, series,
                      fmt::format("{:.2f}×", value.factor)});
  }
  if (rows.empty()) return;
  figures.push_back(
      factors("values", fmt::format("Values, and how many of {} trials had them{}", kernel.valid, suffix), rows));
  caution(figures.back(), {&kernel});
}

void add_failures(std::vector<Figure>& figures, const Kernels& kernels, const std::vector<std::string>& stores) {
  std::map<std::string, std::vector<std::size_t>> counts;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (kernels[i] == nullptr) continue;
    for (const auto& [status, kind] : kernels[i]->failures) {
      counts[status].resize(kernels.size());
      counts[status][i] = kind.count;
    }
  }
  std::vector<BarRow> rows;
  double max_trials = 0;
  for (const auto& [status, count] : counts)
    for (std::size_t i = 0; i < count.size(); ++i) {
      max_trials = std::max(max_trials, static_cast<double>(count[i]));
      rows.push_back({kernels.size() > 1 ? status + ", " + stores[i] : status, static_cast<double>(count[i]), 0, 0,
                      kernels.size() > 1 ? i : failed_series, fmt::format("{}", count[i])});
    }
  if (!rows.empty())
    figures.push_back(bars("failures", "Failures: trials of each kind", rows, Axis{"", 0, max_trials}));
}

}  // namespace

std::vector<Figure> kernel_figures(const std::vector<const TunedKernel*>& kernels,
                                   const std::vector<std::string>& stores) {
  std::vector<Figure> figures;
  if (const auto us = time_axis(kernels)) {
    figures.push_back(convergence(kernels, stores, false, *us));
    const auto timed = [](const TunedKernel* kernel) { return kernel != nullptr && !kernel->imported; };
    if (std::ranges::any_of(kernels, timed)) figures.push_back(convergence(kernels, stores, true, *us));
    figures.push_back(distribution(kernels, *us));
  }
  add_importance(figures, kernels);
  for (std::size_t i = 0; i < kernels.size(); ++i)
    if (kernels[i] != nullptr) add_values(figures, *kernels[i], i, stores.size() > 1 ? ", " + stores[i] : "");
  add_failures(figures, kernels, stores);
  return figures;
}

}  // namespace deplo::apps::report
