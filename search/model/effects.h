// What the knobs of the records at hand do to the time: which matter, and which of their values are fast.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "search/records/records.h"

namespace deplo::search::model {

/// Records of one value of a knob.
struct ValueEffect {
  Value value;
  std::size_t count = 0;
  double factor = 1;  // the geometric mean of their times over that of all
};

struct KnobEffect {
  std::string knob;
  /// The share of the variance of log time that the means of the values explain, corrected for the values that there
  /// are: epsilon squared (Kelley 1935), 1 - (n - 1)/(n - k) SS_within/SS_total for n records and k values, at least 0.
  /// Without the correction a knob of twenty values would explain half of forty random times. Main effects only.
  double share = 0;
  std::vector<ValueEffect> values;  // as in Knob.values; those that valid records have
};

/// Of every knob that two valid records differ in, the largest share first. Of records that a search chose this is what
/// the search saw, not what is true of the space.
std::vector<KnobEffect> knob_effects(const Records&);

/// What two knobs explain beyond what each explains by itself.
struct PairEffect {
  std::string first, second;
  double share = 0;  // epsilon squared of their pairs of values, less that of either knob
};

/// The `most` largest, above 0, of knobs whose pairs of values have five records on average at least.
std::vector<PairEffect> pair_effects(const Records&, std::size_t most);

}  // namespace deplo::search::model
