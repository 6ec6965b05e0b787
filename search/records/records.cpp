#include "search/records/records.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "core/error.h"

namespace deplo::search {
namespace {

constexpr std::size_t most_values = std::size_t{1} << 16;  // of a parameter: options are 16 bits
constexpr std::size_t most_parameters = 1000;              // far beyond any kernel
constexpr std::size_t most_bytes = std::size_t{1} << 30;   // 8 million configurations of 14 parameters and 4 launches

}  // namespace

void RecordsBuilder::add_knob(const std::string& name, const std::vector<Value>& values) {
  CHECK(records_.records.empty());
  if (name.empty()) throw Error(place_ + ": expected a parameter with a name, found an empty one");
  if (std::ranges::find(records_.knobs, name, &Knob::name) != records_.knobs.end())
    throw Error(fmt::format("{}: expected each parameter once, found '{}' twice", place_, name));
  if (knobs() == most_parameters)
    throw Error(fmt::format("{}: expected at most {} parameters, found more", place_, most_parameters));
  records_.knobs.push_back({name, {}});
  seen_.emplace_back();
  for (const Value& value : values) option(knobs() - 1, value);
}

std::uint16_t RecordsBuilder::option(std::size_t knob, const Value& value) {
  auto& seen = seen_[knob];
  if (const auto known = seen.find(value); known != seen.end()) return known->second;
  if (seen.size() == most_values)
    throw Error(fmt::format("{}: expected at most {} values of '{}', found more", place_, most_values,
                            records_.knobs[knob].name));
  if (const auto* text = std::get_if<std::string>(&value)) bytes_ += 2 * text->size();
  records_.knobs[knob].values.push_back(value);
  return seen.emplace(value, static_cast<std::uint16_t>(seen.size())).first->second;
}

void RecordsBuilder::add(std::span<const Value> values, Record record, std::span<const double> launches) {
  CHECK(values.size() == knobs());
  constexpr std::size_t most = std::numeric_limits<std::uint32_t>::max();
  if (records_.records.size() >= most || records_.launches.size() + launches.size() > most)
    throw Error(fmt::format("{}: expected at most {} launches, found more", place_, most));
  bytes_ += sizeof(Record) + record.outcome.message.size() + values.size() * sizeof(std::uint16_t) +
            launches.size() * sizeof(double);
  if (bytes_ > most_bytes)
    throw Error(
        fmt::format("{}: expected a recorded space that takes at most {} GiB of memory, found more after {} "
                    "configurations",
                    place_, most_bytes >> 30, records_.records.size()));
  for (std::size_t p = 0; p < values.size(); ++p) records_.options.push_back(option(p, values[p]));
  record.first_launch = static_cast<std::uint32_t>(records_.launches.size());
  record.launches = static_cast<std::uint32_t>(launches.size());
  record.outcome.seconds = record.cost();
  records_.launches.insert(records_.launches.end(), launches.begin(), launches.end());
  records_.records.push_back(std::move(record));
}

Records RecordsBuilder::finish() {
  if (records_.knobs.empty()) throw Error(place_ + ": expected a recorded space, found no parameters");
  if (records_.records.empty()) throw Error(place_ + ": expected a recorded space, found no configurations");
  return std::move(records_);
}

}  // namespace deplo::search
