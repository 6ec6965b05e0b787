// Gradient boosted regression trees, for records of many kernels or devices. Calls XGBoost's C API: Chen and Guestrin,
// XGBoost: a scalable tree boosting system, KDD 2016.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "search/model/gp.h"

namespace deplo::search::model {

struct TreeOptions {
  int trees = 200, depth = 5;
  double rate = 0.08;                // learning rate: the share of each tree's correction that is added
  double rows = 0.8, columns = 0.5;  // the shares of rows and columns that a tree is fitted to
  double least_weight = 5;           // minimum weight of a leaf: the sum of its rows' weights
  std::uint64_t seed = 0;
};

/// Not thread-safe. Uses one thread, so that every run gives the same result.
class BoostedTrees {
 public:
  BoostedTrees();
  ~BoostedTrees();

  /// Fits by least squares. Each point has one value and one weight (above 0); at least one point is required. Throws
  /// Error with XGBoost's message.
  void fit(const Points&, std::span<const double> values, std::span<const double> weights, const TreeOptions&);
  /// Requires fit(), with points of the same number of dimensions.
  std::vector<float> predict(const Points&) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace deplo::search::model
