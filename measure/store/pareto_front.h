// The best trials if several quantities count.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "measure/store/quantity.h"
#include "measure/store/rows/records.h"

namespace deplo::measure {

/// A trial, as far as it is compared with others.
struct Point {
  std::vector<double> values = {};  // in the order of the objectives
  std::int64_t changes = 0;         // as in TrialRecord
  std::string trail = {};
};
/// The Pareto front: the indices of all points that no other point dominates, in the order of their values. A point
/// dominates another one if it is better in one objective and not worse in any. Noise is neither better nor worse
/// (Quantity::tie). Of points that are equal in this sense, the front has the one with the fewest changes, and of
/// several the one whose trail comes first in text order.
std::vector<std::size_t> pareto_front(std::span<const Point>, const Objectives&);

/// The best trials of a kernel on a device.
struct Front {
  Objectives objectives;            // empty: the time alone, which has no front
  std::size_t valid = 0;            // trials among which they were chosen
  std::vector<TrialRecord> trials;  // in the order of their values
};
/// `valid`: valid trials, one for each trail. Trials that lack a value are left out, and those that are only screened
/// if others are confirmed.
Front front_of(std::vector<TrialRecord> valid, const Objectives&);

}  // namespace deplo::measure
