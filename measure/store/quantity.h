// The quantities of a trial that a search can minimise.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "measure/device_info.h"
#include "measure/store/rows/records.h"

namespace deplo::measure {

/// A quantity of a valid trial. Smaller values are better.
struct Quantity {
  std::string_view name;                            // as users write it
  std::string_view unit;                            // "": the quantity is a count
  double tie = 0;                                   // relative differences up to this are noise; 0: it has none
  std::string_view backends;                        // of the devices that report it, separated by blanks
  std::optional<double> (*of)(const TrialRecord&);  // the trial's value; nullopt: the trial has none
  bool is_noisy() const { return tie > 0; }
};

std::span<const Quantity> quantities();

/// Distinct quantities that a search minimises, the most important first. Empty: the time alone.
using Objectives = std::vector<const Quantity*>;

/// Returns the objectives with these names. The time alone becomes an empty list. Throws Error
/// `place: expected …, found …` if a name is unknown or occurs twice, or if there is none.
Objectives objectives_of(const std::vector<std::string>& names, const std::string& place);
/// Returns a text such as "time, code_size"; "" for an empty list.
std::string print(const Objectives&);
/// Reads a text of print() from a store. Names that this deplo does not know are left out.
Objectives parse_objectives(std::string_view text);
/// Returns true if the energy is one of the objectives. It is measured only in this case.
bool need_energy(const Objectives&);
/// Throws Error, prefixed by `place`, unless devices of this backend report all objectives.
void check_reported(const Objectives&, const DeviceInfo&, const std::string& place);

/// Returns the trial's values in the order of the objectives; nullopt if the trial does not have all of them.
std::optional<std::vector<double>> values_of(const TrialRecord&, const Objectives&);

}  // namespace deplo::measure
