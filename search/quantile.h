// Quantiles, for models and comparisons.
#pragma once
#include <vector>

namespace deplo::search {

/// The q-quantile, interpolated linearly between order statistics (type 7 of Hyndman and Fan, Sample Quantiles in
/// Statistical Packages, 1996). At least one value, none NaN; q in [0, 1].
double quantile(std::vector<double> values, double q);

}  // namespace deplo::search
