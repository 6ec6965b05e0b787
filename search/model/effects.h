// How the knobs of given records affect the time: which knobs matter, and which of their values are fast.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "search/records/records.h"

namespace deplo::search::model {

/// The valid records with one value of a knob.
struct ValueEffect {
  Value value;
  std::size_t count = 0;
  double factor = 1;  // the geometric mean of their times, divided by the geometric mean of all valid records' times
};

struct KnobEffect {
  std::string knob;
  /// The share of the variance of log time that the means of the values explain, corrected for the number of values:
  /// epsilon squared (Kelley 1935), 1 - (n - 1)/(n - k) SS_within/SS_total for n records and k values, at least 0.
  /// Without the correction a knob of twenty values would explain half of forty random times. Main effects only.
  double share = 0;
  std::vector<ValueEffect> values;  // in the order of Knob.values; only values that occur in valid records
};

/// The effects of all knobs in which valid records differ, the largest share first. If a search chose the records, the
/// effects describe what the search saw, not the whole space.
std::vector<KnobEffect> knob_effects(const Records&);

/// What two knobs explain together beyond what each explains alone.
struct PairEffect {
  std::string first, second;
  double share = 0;  // epsilon squared of their pairs of values, minus epsilon squared of each knob
};

/// The `max_count` largest effects above 0. Considers only pairs of knobs with at least five records per pair of values
/// on average.
std::vector<PairEffect> pair_effects(const Records&, std::size_t max_count);

}  // namespace deplo::search::model
