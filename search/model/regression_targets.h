// Log times as a regression wants them: the slow half cut off, mean 0 and variance 1.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "core/rng.h"

namespace deplo::search::model {

/// Mean 0 and variance 1 (of equal values: 0). The deviation it had.
double standardise(std::vector<double>& values);
/// Infinite values (failures) become the largest finite one; there is one.
void replace_failures(std::vector<double>& logs);
/// The quantile q above which n values are all the same: 1 up to 4 of them, falling to `last` at 32.
double clip_quantile(std::size_t n, double last);

/// `most` of the numbers at most, which are in order of their times: the better half of them the fastest, a random half
/// of the rest.
std::vector<std::size_t> subset(std::vector<std::size_t> by_time, std::size_t most, Rng& rng);
std::vector<double> at(std::span<const double> values, std::span<const std::size_t> numbers);

}  // namespace deplo::search::model
