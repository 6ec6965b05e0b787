// Candidates with their times, of several kernels and devices, for models that learn from some what others are like.
//
// A candidate is a point of numbers that need no measurement; times are logs over the median of their set, so that a
// model says which candidates of a kernel are fast, not how fast the kernel is. Points are given twice, as they are and
// less the set's median, which needs no measurement either.
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
  std::vector<double> logs;      // of the times
  std::vector<double> analytic;  // logs; empty: no analytic model
};

/// Candidates of one set or more; y is what the analytic model leaves. Each set weighs alike.
struct LabelledRows {
  std::size_t dimensions = 0;  // of a point as it came
  Points points;               // as they came, then less the median
  std::vector<double> y, weights;
  std::vector<std::size_t> groups;  // which set
  std::size_t size() const { return y.size(); }
};
void add(LabelledRows&, const Labelled& set, std::size_t group);

/// What the analytic model says, less its median; zeros without one.
std::vector<double> analytic_baseline(const Labelled&);
/// What trees that learned from `from` expect the analytic model to leave at `at`. Deterministic.
std::vector<double> left_by_trees(const LabelledRows& from, const LabelledRows& at, std::uint64_t seed);

/// The logs of the times of a set's candidates (less their median) by trees that learned from the others, at least one
/// of as many dimensions. The set's own times are not read.
std::vector<double> predict_by_trees(std::span<const Labelled> others, const Labelled&, std::uint64_t seed);

}  // namespace deplo::search::model
