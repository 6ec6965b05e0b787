// The best trials if there are several objectives.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "measure/store/quantity.h"
#include "measure/store/rows/records.h"

namespace deplo::measure {

/// The data by which trials are compared.
struct Point {
  std::vector<double> values = {};  // in the order of the objectives
  std::int64_t changes = 0;         // as in TrialRecord
  std::string trail = {};
};
/// Returns the Pareto front: the indices of all points that no other point dominates, in the order of their values. A
/// point dominates another one if it is better in one objective and not worse in any. A difference within the noise
/// (Quantity::tie) is neither better nor worse. Among points that are equal in this sense, the front has the one with
/// the fewest changes, and among several of these the one whose trail comes first in text order.
std::vector<std::size_t> pareto_front(std::span<const Point>, const Objectives&);

/// The best trials of a kernel on a device.
struct Front {
  Objectives objectives;            // empty: the time alone, which has no front
  std::size_t valid = 0;            // number of trials from which the front was chosen
  std::vector<TrialRecord> trials;  // in the order of their values
};
/// Returns the front of `valid`, the valid trials, one for each trail. Trials that lack a value are left out. If some
/// trials are confirmed, those that are only screened are left out, too.
Front front_of(std::vector<TrialRecord> valid, const Objectives&);

}  // namespace deplo::measure
