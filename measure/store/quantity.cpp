#include "measure/store/quantity.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "core/error.h"
#include "core/text/nearest.h"
#include "core/text/text.h"
#include "measure/protocol/energy.h"
#include "measure/protocol/protocol.h"

namespace deplo::measure {
namespace {

std::optional<double> known(std::int64_t value) {
  return value >= 0 ? std::optional(static_cast<double>(value)) : std::nullopt;
}

constexpr std::string_view energy = "energy";

const Quantity all[] = {
    {"time", "µs", Protocol().tie, "opencl cuda interpreter",
     [](const TrialRecord& trial) { return std::optional(trial.timing.median_us); }},
    {energy, "mJ", energy_tie, "opencl cuda",
     [](const TrialRecord& trial) {
       return trial.timing.energy_mj > 0 ? std::optional(trial.timing.energy_mj) : std::nullopt;
     }},
    {"code_size", "bytes", 0, "opencl cuda",
     [](const TrialRecord& trial) { return known(trial.resources.code_bytes); }},
    {"registers", "", 0, "cuda", [](const TrialRecord& trial) { return known(trial.resources.registers); }},
    {"spills", "bytes", 0, "cuda", [](const TrialRecord& trial) { return known(trial.resources.spill_bytes); }},
    {"shared_memory", "bytes", 0, "opencl cuda",
     [](const TrialRecord& trial) -> std::optional<double> {
       const auto fixed = known(trial.resources.static_shared_bytes);
       const auto added = known(trial.resources.dynamic_shared_bytes);
       if (!fixed) return std::nullopt;
       return *fixed + added.value_or(0);
     }},
};

const Quantity* find(std::string_view name) {
  const auto* const found = std::ranges::find(all, name, &Quantity::name);
  return found == std::end(all) ? nullptr : found;
}

bool reports(const DeviceInfo& device, const Quantity& quantity) {
  return quantity.backends.find(device.backend) != std::string_view::npos;
}

/// Returns the names of the quantities that the device reports; of all quantities if it is null.
std::vector<std::string> names_for(const DeviceInfo* device) {
  std::vector<std::string> names;
  for (const Quantity& quantity : all)
    if (device == nullptr || reports(*device, quantity)) names.emplace_back(quantity.name);
  return names;
}

}  // namespace

std::span<const Quantity> quantities() { return all; }

Objectives objectives_of(const std::vector<std::string>& names, const std::string& place) {
  if (names.empty())
    throw Error(
        fmt::format("{}: expected at least one objective ({}), found none", place, join(names_for(nullptr), ", ")));
  Objectives objectives;
  for (const std::string& name : names) {
    const Quantity* const quantity = find(name);
    if (quantity == nullptr)
      throw Error(fmt::format("{}: expected an objective that deplo measures ({}), found '{}'{}", place,
                              join(names_for(nullptr), ", "), name, did_you_mean(name, names_for(nullptr))));
    if (std::ranges::find(objectives, quantity) != objectives.end())
      throw Error(fmt::format("{}: expected each objective once, found '{}' twice", place, name));
    objectives.push_back(quantity);
  }
  if (objectives == Objectives{find("time")}) return {};
  return objectives;
}

std::string print(const Objectives& objectives) { return join(objectives, ", ", &Quantity::name); }

Objectives parse_objectives(std::string_view text) {
  std::string words(text);
  std::ranges::replace(words, ',', ' ');
  std::istringstream stream(words);
  Objectives objectives;
  for (std::string name; stream >> name;)
    if (const Quantity* const quantity = find(name)) objectives.push_back(quantity);
  return objectives;
}

bool need_energy(const Objectives& objectives) {
  return std::ranges::any_of(objectives, [](const Quantity* quantity) { return quantity->name == energy; });
}

void check_reported(const Objectives& objectives, const DeviceInfo& device, const std::string& place) {
  for (const Quantity* const quantity : objectives)
    if (!reports(device, *quantity))
      throw Error(fmt::format("{}: expected objectives that {} ({}) reports ({}), found '{}'", place, device.name,
                              device.backend, join(names_for(&device), ", "), quantity->name));
}

std::optional<std::vector<double>> values_of(const TrialRecord& trial, const Objectives& objectives) {
  std::vector<double> values;
  for (const Quantity* const quantity : objectives) {
    const auto value = quantity->of(trial);
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  return values;
}

}  // namespace deplo::measure
