#include "search/compare/difficulty.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <unordered_map>
#include <utility>

#include "core/error.h"
#include "core/indices.h"
#include "core/rng.h"
#include "core/text/text.h"

namespace deplo::search::compare {
namespace {

constexpr std::size_t max_sampled = 20000;  // the correlation's standard error is then below 0.01
constexpr std::array<std::pair<std::string_view, Order>, 4> orders = {{{"recorded", Order::recorded},
                                                                       {"importance", Order::importance},
                                                                       {"reversed", Order::reversed},
                                                                       {"shuffled", Order::shuffled}}};

double square(double x) { return x * x; }

/// The logs of the times of configurations that differ from each other only in one knob.
struct Group {
  double count = 0, sum = 0, squares = 0;
  void add(double x) {
    ++count;
    sum += x;
    squares += square(x);
  }
};

/// Sums over pairs. Each pair is counted in both orders.
class Correlation {
 public:
  /// Adds the pairs of `x` with all other members of its group.
  void add(double x, const Group& group) {
    const double others = group.count - 1, sum = group.sum - x;
    count_ += 2 * others;
    sum_ += others * x + sum;
    squares_ += others * square(x) + group.squares - square(x);
    products_ += 2 * x * sum;
  }
  double value() const {
    const double mean = sum_ / count_, variance = squares_ / count_ - mean * mean;
    return count_ > 0 && variance > 0 ? (products_ / count_ - mean * mean) / variance : 0;
  }

 private:
  double count_ = 0, sum_ = 0, squares_ = 0, products_ = 0;
};

/// The options of a record, without those of one knob.
std::u16string other_options(const Records& records, std::uint32_t row, std::size_t knob) {
  const auto options = records.options_of(row);
  std::u16string others(options.begin(), options.end());
  others.erase(knob, 1);
  return others;
}

double neighbour_correlation(const TableSpace& space, double centre, std::uint64_t seed) {
  const Records& records = space.records();
  std::vector<std::uint32_t> valid(space.rows().begin(), space.rows().end());
  std::erase_if(valid, [&](std::uint32_t row) { return !records.records[row].outcome.ok(); });
  std::vector<std::uint32_t> sample = valid;
  Rng rng(seed);
  if (sample.size() > max_sampled) shuffle(sample, rng);
  sample.resize(std::min(sample.size(), max_sampled));
  const auto log_time = [&](std::uint32_t row) { return std::log(records.records[row].outcome.microseconds / centre); };
  Correlation correlation;
  for (std::size_t knob = 0; knob < records.knobs.size(); ++knob) {
    std::unordered_map<std::u16string, Group> groups;  // by the options of the other knobs
    for (const std::uint32_t row : sample) groups.try_emplace(other_options(records, row, knob));
    for (const std::uint32_t row : valid)
      if (const auto group = groups.find(other_options(records, row, knob)); group != groups.end())
        group->second.add(log_time(row));
    for (const std::uint32_t row : sample) correlation.add(log_time(row), groups.at(other_options(records, row, knob)));
  }
  return correlation.value();
}

}  // namespace

Difficulty difficulty(const TableSpace& space, const Landscape& landscape, std::uint64_t seed) {
  const std::vector<double>& values = landscape.values();
  const auto within = [&](double percent) {
    const double limit = landscape.within(percent);
    return static_cast<double>(std::ranges::count_if(values, [&](double v) { return v <= limit; })) /
           static_cast<double>(values.size());
  };
  return {space.size(), values.size(), within(1), within(5), within(10), landscape.evaluations(0.95),
          // For other objectives, the values that searchers are told lie around 1, or are the recorded values.
          neighbour_correlation(space, space.records().objective.duration ? landscape.median() : 1, seed)};
}

std::vector<double> importance(const Records& records) {
  double count = 0, sum = 0, squares = 0;
  std::vector<double> logs(records.records.size(), 0);
  for (std::size_t i = 0; i < logs.size(); ++i) {
    if (!records.records[i].outcome.ok()) continue;
    logs[i] = std::log(records.records[i].outcome.microseconds);
    ++count;
    sum += logs[i];
  }
  const double mean = count > 0 ? sum / count : 0;
  for (std::size_t i = 0; i < logs.size(); ++i)
    if (records.records[i].outcome.ok()) squares += square(logs[i] - mean);
  std::vector<double> shares(records.knobs.size(), 0);
  for (std::size_t k = 0; k < shares.size() && squares > 0; ++k) {
    // Per value of the knob: the number of records, and the sum of their differences from the mean.
    std::vector<std::pair<double, double>> groups(records.knobs[k].values.size());
    for (std::size_t i = 0; i < logs.size(); ++i) {
      if (!records.records[i].outcome.ok()) continue;
      auto& [members, total] = groups[records.options_of(i)[k]];
      ++members;
      total += logs[i] - mean;
    }
    for (const auto& [members, total] : groups)
      if (members > 0) shares[k] += square(total) / members / squares;
  }
  return shares;
}

Order parse_order(std::string_view name) {
  for (const auto& [word, order] : orders)
    if (word == name) return order;
  throw Error(fmt::format("expected an order ({}), found '{}'", join(order_names(), ", "), name));
}

std::vector<std::string> order_names() {
  std::vector<std::string> names;
  for (const auto& [word, order] : orders) names.emplace_back(word);
  return names;
}

std::string_view name(Order order) {
  return std::ranges::find(orders, order, [](const auto& entry) { return entry.second; })->first;
}

std::vector<std::size_t> level_order(const Records& records, Order order, std::uint64_t seed) {
  std::vector<std::size_t> levels = indices(records.knobs.size());
  if (order == Order::reversed) std::ranges::reverse(levels);
  if (order == Order::shuffled) {
    Rng rng(seed);
    shuffle(levels, rng);
  }
  if (order == Order::importance) {
    const std::vector<double> shares = importance(records);
    levels = indices_by(shares.size(), [&](std::size_t k) { return -shares[k]; });
  }
  return levels;
}

}  // namespace deplo::search::compare
