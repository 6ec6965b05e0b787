#include "search/records/records.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "core/error.h"
#include "core/indices.h"
#include "search/records/spelling.h"

namespace deplo::search {
namespace {

constexpr std::size_t max_values = std::size_t{1} << 16;  // per parameter: options are 16 bits
constexpr std::size_t max_bytes = std::size_t{1} << 30;   // 8 million configurations of 14 parameters and 4 launches

}  // namespace

void check_parameters(std::size_t count, const std::string& place) {
  if (count > max_parameters)
    throw Error(fmt::format("{}: expected at most {} parameters, found more", place, max_parameters));
}

void RecordsBuilder::add_knob(const std::string& name, const std::vector<Value>& values) {
  CHECK(records_.records.empty());
  if (name.empty()) throw Error(place_ + ": expected a parameter with a name, found an empty one");
  if (std::ranges::find(records_.knobs, name, &Knob::name) != records_.knobs.end())
    throw Error(fmt::format("{}: expected each parameter once, found '{}' twice", place_, name));
  check_parameters(knobs() + 1, place_);
  records_.knobs.push_back({name, {}});
  seen_.emplace_back();
  json_seen_.emplace_back();
  for (const Value& value : values) option(knobs() - 1, value);
}

void RecordsBuilder::add_json_knob(const std::string& name, const std::vector<std::string>& values) {
  add_knob(name);
  for (const std::string& value : values) option(knobs() - 1, value);
}

std::uint16_t RecordsBuilder::option(std::size_t knob, const Value& value) {
  const auto known = seen_[knob].find(value);
  return known != seen_[knob].end() ? known->second : add_option(knob, value, records::json_of(value));
}

std::uint16_t RecordsBuilder::option(std::size_t knob, const std::string& json) {
  if (const auto known = json_seen_[knob].find(json); known != json_seen_[knob].end()) return known->second;
  Value value = records::value_of_json(json);
  if (seen_[knob].contains(value)) value = json;
  if (seen_[knob].contains(value))
    throw Error(
        fmt::format("{}: expected values of '{}' of one type, found {} together with another value that looks the same",
                    place_, records_.knobs[knob].name, json.substr(0, 40)));
  return add_option(knob, std::move(value), json);
}

std::uint16_t RecordsBuilder::add_option(std::size_t knob, Value value, std::string json) {
  const std::size_t number = records_.knobs[knob].values.size();
  if (number == max_values)
    throw Error(fmt::format("{}: expected at most {} values of '{}', found more", place_, max_values,
                            records_.knobs[knob].name));
  bytes_ += 2 * json.size();
  if (const auto* text = std::get_if<std::string>(&value)) bytes_ += 2 * text->size();
  const auto option = static_cast<std::uint16_t>(number);
  seen_[knob].emplace(value, option);
  json_seen_[knob].emplace(json, option);
  records_.knobs[knob].values.push_back(std::move(value));
  records_.knobs[knob].json.push_back(std::move(json));
  return option;
}

void RecordsBuilder::add(std::span<const Value> values, Record record, std::span<const double> launches) {
  CHECK(values.size() == knobs());
  add_record(std::move(record), launches);
  for (std::size_t p = 0; p < values.size(); ++p) records_.options.push_back(option(p, values[p]));
}

void RecordsBuilder::add_json(std::span<const std::string> values, Record record, std::span<const double> launches) {
  CHECK(values.size() == knobs());
  add_record(std::move(record), launches);
  for (std::size_t p = 0; p < values.size(); ++p) records_.options.push_back(option(p, values[p]));
}

void RecordsBuilder::add_record(Record record, std::span<const double> launches) {
  constexpr std::size_t max_launches = std::numeric_limits<std::uint32_t>::max();
  if (records_.records.size() >= max_launches || records_.launches.size() + launches.size() > max_launches)
    throw Error(fmt::format("{}: expected at most {} launches, found more", place_, max_launches));
  bytes_ += sizeof(Record) + record.outcome.message.size() + knobs() * sizeof(std::uint16_t) +
            launches.size() * sizeof(double);
  if (bytes_ > max_bytes)
    throw Error(
        fmt::format("{}: expected a recorded space that takes at most {} GiB of memory, found more after {} "
                    "configurations",
                    place_, max_bytes >> 30, records_.records.size()));
  record.first_launch = static_cast<std::uint32_t>(records_.launches.size());
  record.launches = static_cast<std::uint32_t>(launches.size());
  record.outcome.seconds = record.cost();
  records_.launches.insert(records_.launches.end(), launches.begin(), launches.end());
  records_.records.push_back(std::move(record));
}

void RecordsBuilder::add_further(const std::string& name, const std::string& unit, double value) {
  auto further = std::ranges::find(records_.further, name, &FurtherObjective::name);
  if (further == records_.further.end()) further = records_.further.insert(further, FurtherObjective{name, unit, {}});
  further->values.push_back(value);
  CHECK(further->values.size() == records_.records.size());
}

Records RecordsBuilder::finish() {
  if (records_.records.empty()) throw Error(place_ + ": expected a recorded space, found no configurations");
  if (records_.knobs.empty()) throw Error(place_ + ": expected a recorded space, found no parameters");
  drop_repeated();
  if (records_.objective.duration)
    charge_times();
  else
    tell_searchers();
  return std::move(records_);
}

void RecordsBuilder::drop_repeated() {
  auto rows = indices<std::uint32_t>(records_.records.size());
  const auto compare = [&](std::uint32_t a, std::uint32_t b) {
    const auto left = records_.options_of(a), right = records_.options_of(b);
    return std::lexicographical_compare_three_way(left.begin(), left.end(), right.begin(), right.end());
  };
  std::ranges::sort(rows, [&](std::uint32_t a, std::uint32_t b) {
    const auto order = compare(a, b);
    return order != 0 ? order < 0 : a < b;
  });
  std::vector<bool> later(rows.size(), false);  // whether the record's configuration comes again
  for (std::size_t i = 0; i + 1 < rows.size(); ++i) later[rows[i]] = compare(rows[i], rows[i + 1]) == 0;
  records_.repeated = static_cast<std::size_t>(std::ranges::count(later, true));
  if (records_.repeated == 0) return;
  std::vector<Record> kept;
  std::vector<std::uint16_t> options;
  for (std::size_t row = 0; row < later.size(); ++row) {
    if (later[row]) continue;
    const auto own = records_.options_of(row);
    options.insert(options.end(), own.begin(), own.end());
    kept.push_back(std::move(records_.records[row]));  // its launches stay where they are
  }
  for (FurtherObjective& further : records_.further) {
    std::size_t row = 0;
    std::erase_if(further.values, [&](double) { return later[row++]; });
  }
  records_.records = std::move(kept);
  records_.options = std::move(options);
}

void RecordsBuilder::charge_times() {
  for (Record& record : records_.records)
    if (record.outcome.ok() && record.cost() == 0)
      record.run_seconds = record.outcome.seconds = record.outcome.microseconds * 1e-6;
}

void RecordsBuilder::tell_searchers() {
  // best and worst are losses, min_value is not
  double best = std::numeric_limits<double>::infinity(), worst = -best, min_value = best;
  bool free = true;
  for (Record& record : records_.records) {
    const double value = record.outcome.microseconds;
    records_.measured.push_back(value);
    free &= record.cost() == 0;
    if (!record.outcome.ok()) continue;
    const double loss = records_.objective.higher_is_better ? -value : value;
    best = std::min(best, loss);
    worst = std::max(worst, loss);
    min_value = std::min(min_value, value);
  }
  for (std::size_t row = 0; row < records_.records.size(); ++row) {
    Record& record = records_.records[row];
    if (free) record.run_seconds = record.outcome.seconds = 1;
    if (!record.outcome.ok()) continue;
    const double loss = records_.loss(row);
    if (min_value < std::numeric_limits<double>::min())
      record.outcome.microseconds = worst > best ? 1 + (loss - best) / (worst - best) : 1;
    else
      record.outcome.microseconds = records_.objective.higher_is_better ? -1 / loss : loss;
  }
}

}  // namespace deplo::search
