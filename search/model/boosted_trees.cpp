#include "search/model/boosted_trees.h"

#include <fmt/format.h>
#include <xgboost/c_api.h>

#include "core/error.h"

namespace deplo::search::model {
namespace {

void check(int status) {
  if (status != 0) throw Error(fmt::format("XGBoost: {}", XGBGetLastError()), Exit::environment);
}

/// Rows of points, with their values and weights if set() was called.
class Matrix {
 public:
  explicit Matrix(const Points& points) {
    CHECK(points.size() > 0);
    check(XGDMatrixCreateFromMat(points.values.data(), points.size(), points.dimensions, std::nanf(""), &handle_));
  }
  ~Matrix() { XGDMatrixFree(handle_); }
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;

  void set(const char* what, std::span<const double> values) {
    const std::vector<float> copy(values.begin(), values.end());
    check(XGDMatrixSetFloatInfo(handle_, what, copy.data(), copy.size()));
  }
  DMatrixHandle get() const { return handle_; }

 private:
  DMatrixHandle handle_ = nullptr;
};

}  // namespace

struct BoostedTrees::State {
  BoosterHandle booster = nullptr;
  ~State() {
    if (booster != nullptr) XGBoosterFree(booster);
  }
  template <class T>
  void set(const char* name, const T& value) const {
    check(XGBoosterSetParam(booster, name, fmt::format("{}", value).c_str()));
  }
};

BoostedTrees::BoostedTrees() = default;
BoostedTrees::~BoostedTrees() = default;

void BoostedTrees::fit(const Points& points, std::span<const double> values, std::span<const double> weights,
                       const TreeOptions& options) {
  CHECK(values.size() == points.size() && weights.size() == points.size());
  Matrix matrix(points);
  matrix.set("label", values);
  matrix.set("weight", weights);
  state_ = std::make_unique<State>();
  const DMatrixHandle cache[] = {matrix.get()};
  check(XGBoosterCreate(cache, 1, &state_->booster));
  state_->set("objective", "reg:squarederror");
  state_->set("tree_method", "exact");  // a few thousand rows: histograms save nothing
  state_->set("nthread", 1);            // the result depends on the order of additions
  state_->set("verbosity", 0);
  state_->set("max_depth", options.depth);
  state_->set("eta", options.rate);
  state_->set("subsample", options.rows);
  state_->set("colsample_bytree", options.columns);
  state_->set("min_child_weight", options.least_weight);
  state_->set("seed", options.seed & 0x7fffffff);
  for (int i = 0; i < options.trees; ++i) check(XGBoosterUpdateOneIter(state_->booster, i, matrix.get()));
}

std::vector<float> BoostedTrees::predict(const Points& points) const {
  CHECK(state_ != nullptr);
  if (points.size() == 0) return {};
  const Matrix matrix(points);
  const bst_ulong* shape = nullptr;
  bst_ulong dimensions = 0;
  const float* result = nullptr;
  check(XGBoosterPredictFromDMatrix(
      state_->booster, matrix.get(),
      R"({"type": 0, "training": false, "iteration_begin": 0, "iteration_end": 0, "strict_shape": false})", &shape,
      &dimensions, &result));
  return {result, result + points.size()};
}

}  // namespace deplo::search::model
