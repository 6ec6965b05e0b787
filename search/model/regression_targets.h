// Prepares log times for a regression: clips the slow half and scales to mean 0 and variance 1.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "core/rng.h"

namespace deplo::search::model {

/// Scales the values to mean 0 and variance 1 (equal values: variance 0). Returns their standard deviation before.
double standardise(std::vector<double>& values);
/// Replaces infinite values (failures) by the largest finite one, which must exist.
void replace_failures(std::vector<double>& logs);
/// The quantile at which n values are clipped: 1 for up to 4 values, falling to `last` at 32.
double clip_quantile(std::size_t n, double last);

/// At most `max_count` of the indices `by_time`, which are sorted by time: half of them are the fastest, the other half
/// is drawn from the rest.
std::vector<std::size_t> subset(std::vector<std::size_t> by_time, std::size_t max_count, Rng& rng);
std::vector<double> at(std::span<const double> values, std::span<const std::size_t> numbers);

}  // namespace deplo::search::model
