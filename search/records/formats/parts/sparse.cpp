#include "search/records/formats/parts/sparse.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/text/split.h"
#include "search/records/spelling.h"

namespace deplo::search::records {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  return first == std::string_view::npos ? "" : text.substr(first, text.find_last_not_of(" \t") + 1 - first);
}

}  // namespace

void SparseRecords::add(std::vector<Setting> settings, Record record, std::vector<double> launches) {
  check_parameters(settings.size(), place_);
  Row row{{}, std::move(record), std::move(launches)};
  for (auto& [name, value] : settings) {
    const auto [known, is_new] = numbers_.try_emplace(name, names_.size());
    const std::size_t number = known->second;
    if (is_new) add_knob(name, row);
    if (last_row_[number] == rows_.size() + 1)
      throw Error(fmt::format("{}: expected each parameter once, found '{}' twice", place_, name));
    last_row_[number] = rows_.size() + 1;
    row.settings.emplace_back(number, std::move(value));
  }
  rows_.push_back(std::move(row));
}

/// Places the new knob after the last knob of the row.
void SparseRecords::add_knob(const std::string& name, const Row& row) {
  check_parameters(names_.size() + 1, place_);
  auto place = order_.begin();
  if (!row.settings.empty()) place = std::ranges::find(order_, row.settings.back().first) + 1;
  order_.insert(place, names_.size());
  names_.push_back(name);
  last_row_.push_back(0);
}

/// By number: whether the knob has two values. To be absent counts as a value.
std::vector<bool> SparseRecords::varying() const {
  std::vector<bool> varies(names_.size(), false);
  std::vector<const std::string*> first(names_.size(), nullptr);
  std::vector<std::size_t> count(names_.size(), 0);
  for (const Row& row : rows_)
    for (const auto& [number, value] : row.settings) {
      ++count[number];
      if (first[number] == nullptr) first[number] = &value;
      if (*first[number] != value) varies[number] = true;
    }
  for (std::size_t number = 0; number < varies.size(); ++number)
    if (count[number] < rows_.size()) varies[number] = true;
  return varies;
}

Records SparseRecords::finish(bool drops_constants) const {
  std::vector<bool> kept = drops_constants ? varying() : std::vector<bool>(names_.size(), true);
  if (std::ranges::find(kept, true) == kept.end()) kept.assign(names_.size(), true);
  RecordsBuilder builder(place_);
  std::vector<std::size_t> column(names_.size(), 0);
  for (const std::size_t number : order_)
    if (kept[number]) {
      column[number] = builder.knobs();
      builder.add_knob(names_[number]);
    }
  builder.kernel() = kernel;
  builder.device() = device;
  builder.problem_size() = problem_size;
  std::vector<std::string> values;
  for (const Row& row : rows_) {
    values.assign(builder.knobs(), std::string(absent));
    for (const auto& [number, value] : row.settings)
      if (kept[number]) values[column[number]] = value;
    builder.add_json(values, row.record, row.launches);
  }
  return builder.finish();
}

Record timed(double microseconds, Status failure, std::string message) {
  constexpr double max_microseconds = 1e15;  // older Kernel Tuners wrote 1e20 for a failure
  const bool ok = microseconds > 0 && microseconds < max_microseconds;
  Record record;
  record.outcome = ok ? Outcome{Status::ok, microseconds, ""} : Outcome{failure, 0, std::move(message)};
  if (ok) record.run_seconds = microseconds * 1e-6;
  return record;
}

std::vector<Setting> settings_of(const Json& object) {
  std::vector<Setting> settings;
  for (const auto& [name, value] : object.items()) {
    if (!value.is_array()) {
      if (!value.is_null()) settings.emplace_back(name, value_json(value));
      continue;
    }
    for (std::size_t i = 0; i < value.size(); ++i)
      if (!value[i].is_null()) settings.emplace_back(fmt::format("{}[{}]", name, i), value_json(value[i]));
  }
  return settings;
}

std::optional<std::vector<Setting>> settings_in(std::string_view text, char separator, char equals) {
  std::vector<std::pair<std::string, std::string>> parts;
  for (const std::string_view part : lines_of(text, separator)) {
    const std::size_t at = part.find(equals);
    const std::string_view name = trimmed(part.substr(0, at));
    if (at != std::string_view::npos && !name.empty())
      parts.emplace_back(name, trimmed(part.substr(at + 1)));
    else if (parts.empty())
      return std::nullopt;
    else
      parts.back().second += separator + std::string(part);
  }
  if (parts.empty()) return std::nullopt;
  std::vector<Setting> settings;
  for (auto& [name, value] : parts)
    if (value != "None" && value != "null") settings.emplace_back(name, json_of_cell(value));
  return settings;
}

}  // namespace deplo::search::records
