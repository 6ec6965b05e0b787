// Gradient boosted regression trees, for records of many kernels or devices: Chen and Guestrin, XGBoost: a scalable
// tree boosting system, KDD 2016. Behind XGBoost's C API.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "search/model/gp.h"

namespace deplo::search::model {

struct TreeOptions {
  int trees = 200, depth = 5;
  double rate = 0.08;                // what each tree adds of its correction
  double rows = 0.8, columns = 0.5;  // share that a tree sees
  double least_weight = 5;           // rows in a leaf
  std::uint64_t seed = 0;
};

/// Not thread-safe; one thread, and the same on every run.
class BoostedTrees {
 public:
  BoostedTrees();
  ~BoostedTrees();

  /// Least squares. One value and one weight (above 0) for each point; at least one point. Throws Error with what the
  /// library says.
  void fit(const Points&, std::span<const double> values, std::span<const double> weights, const TreeOptions&);
  /// After fit(), of points of as many dimensions.
  std::vector<float> predict(const Points&) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace deplo::search::model
