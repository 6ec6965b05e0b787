// Candidates with their times, of several kernels and devices, for models that learn from some kernels and predict
// others.
//
// A candidate is a point of numbers that are known without a measurement. Times are logs relative to the median of
// their set, so that a model predicts which candidates of a kernel are fast, not how fast the kernel is. Each point is
// given twice: as it is, and minus the median of the set's points.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "search/model/gp.h"

namespace deplo::search::model {

/// The valid records of one kernel on one device.
struct Labelled {
  std::string kernel, device, name;
  Points points;                 // the same dimensions in all sets that learn from each other
  std::vector<double> logs;      // logs of the times
  std::vector<double> analytic;  // logs; empty: no analytic model
};

/// Candidates of one or more sets. All sets have the same total weight.
struct LabelledRows {
  std::size_t dimensions = 0;       // dimensions of Labelled::points; `points` have twice as many
  Points points;                    // each: the original point, then the point minus the set's median
  std::vector<double> y, weights;   // y: log time minus analytic_baseline(), both relative to their median
  std::vector<std::size_t> groups;  // the set of each row
  std::size_t size() const { return y.size(); }
};
void add(LabelledRows&, const Labelled& set, std::size_t group);

/// The log times of the analytic model, minus their median; zeros if the set has no analytic model.
std::vector<double> analytic_baseline(const Labelled&);
/// Predicts y of `at` with trees that learned from `from`. Deterministic.
std::vector<double> left_by_trees(const LabelledRows& from, const LabelledRows& at, std::uint64_t seed);

/// Predicts the log times of a set's candidates, minus their median, with trees that learned from `others`: at least
/// one set, with points of the same dimensions. Does not read the set's own times.
std::vector<double> predict_by_trees(std::span<const Labelled> others, const Labelled&, std::uint64_t seed);

}  // namespace deplo::search::model
