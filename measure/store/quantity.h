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

/// A quantity of a valid trial, of which less is better.
struct Quantity {
  std::string_view name;                            // as users write it
  std::string_view unit;                            // "": it is a number of things
  double tie = 0;                                   // relative differences up to this are noise; 0: it has none
  std::string_view backends;                        // of the devices that report it, separated by blanks
  std::optional<double> (*of)(const TrialRecord&);  // nullopt: the trial does not have it
  bool is_noisy() const { return tie > 0; }
};

std::span<const Quantity> quantities();

/// Distinct quantities, the most important first. Empty: the time alone.
using Objectives = std::vector<const Quantity*>;

/// Throws Error `place: expected …, found …` for an unknown name, for one that comes twice, and if there is none. The
/// time alone becomes an empty list.
Objectives objectives_of(const std::vector<std::string>& names, const std::string& place);
/// "time, code_size"; "" for an empty list.
std::string print(const Objectives&);
/// Reads such a text from a store. Names that this deplo does not know are left out.
Objectives parse_objectives(std::string_view text);
/// True if the energy is one of them. It is measured only if it is an objective.
bool need_energy(const Objectives&);
/// Throws Error, prefixed by `place`, unless devices of this backend report all of them.
void check_reported(const Objectives&, const DeviceInfo&, const std::string& place);

/// The trial's values in the order of the objectives; nullopt: it does not have all of them.
std::optional<std::vector<double>> values_of(const TrialRecord&, const Objectives&);

}  // namespace deplo::measure
