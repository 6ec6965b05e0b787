// Gaussian process regression: predicts a mean and a standard deviation at any point from values at some points.
//
//   k(a, b) = s² ((1 - w) m(r/c) + w/G Σ_g m(r_g))
//   m(r) = (1 + √5 r + 5/3 r²) exp(-√5 r)                            Matérn 5/2
//   r_g² = |a_g - b_g|² / l_g²,   r² = Σ_g r_g²                      a length for each of the G groups of dimensions
//   V = L⁻¹ K(X, *),  L Lᵀ = K(X, X) + noise,   mean = K(*, X) (L Lᵀ)⁻¹ y,   variance = s² - Σ V²
//
// The sum over groups is an additive model: it learns what each group does from a few values, which are then known at
// points that have nothing else in common. The first term learns what groups do together, over c times the lengths.
//
// Rasmussen and Williams: Gaussian Processes for Machine Learning (2006), chapters 2, 4 and 5; Duvenaud, Nickisch and
// Rasmussen: Additive Gaussian Processes, NIPS 2011.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace deplo::search::model {

/// Points, stored one after the other, with `dimensions` numbers each.
struct Points {
  std::size_t dimensions = 0;
  std::vector<float> values;
  std::size_t size() const { return dimensions == 0 ? 0 : values.size() / dimensions; }
  float* add() {
    values.resize(values.size() + dimensions);
    return values.data() + values.size() - dimensions;
  }
};

/// Not thread-safe. Deterministic.
class GaussianProcess {
 public:
  GaussianProcess();
  ~GaussianProcess();

  /// Finds the lengths, c, the weight s² and the noise with the largest posterior density, by `steps` steps of Rprop
  /// that start from the previous call's result. Priors: log l ~ N(log 0.8, 1),  log c ~ N(log 2, 0.5²),
  /// log s² ~ N(0, 2²),  log noise ~ N(log 0.02, 2²). w is 0.8. `group`: the group of each dimension, below `groups`.
  /// Values should have mean 0 and variance 1.
  void fit(const Points&, std::span<const double> values, std::span<const std::size_t> group, std::size_t groups,
           int steps);
  /// Conditions the process on values at points. `values`: `columns` columns, one after the other, each with one value
  /// per point.
  void condition(const Points&, std::span<const std::size_t> group, std::span<const double> values,
                 std::size_t columns = 1);

  /// Returns only the means, of the first column.
  std::vector<float> mean(const Points&) const;
  /// Computes means() (column after column) and deviations() (standard deviations) at the points.
  void predict(const Points&);
  std::span<const float> means() const;
  std::span<const float> deviations() const;
  /// Shrinks the deviations as if the value at this point of predict() were known to be its mean. Used to choose
  /// batches.
  void expect(std::size_t point);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace deplo::search::model
