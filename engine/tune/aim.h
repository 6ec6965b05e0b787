// The number that a search minimises if a kernel has several objectives. Each objective has a search of its own, which
// finds one end of the Pareto front. One more search looks for compromises between the ends.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "measure/store/quantity.h"

namespace deplo::engine {

/// Computes a number to minimise from the values of a trial. Immutable.
class Aim {
 public:
  /// `values` has the values of each valid trial so far, in the order of the objectives. `number` is the number of the
  /// search, below searches_of().
  Aim(const measure::Objectives&, std::size_t number, std::span<const std::vector<double>> values);
  /// Returns the number, which is positive, as strategies expect of a time. If the aim is a time or an energy, the
  /// result is this time or energy.
  double operator()(std::span<const double> values) const;
  /// Describes the aim: "time (µs)", "code_size (bytes)", "a compromise of time, code_size".
  const std::string& text() const { return text_; }

 private:
  double compromise(std::span<const double> values) const;

  std::size_t number_;  // index of the only objective of this search, or the number of objectives for the compromise
  bool is_positive_ = false;             // true: the aim is a time or an energy
  std::vector<double> minimum_, range_;  // least value and range of each objective on the front so far
  std::string text_;
};

/// Returns the number of searches: 1 for fewer than two objectives, otherwise one per objective and one for
/// compromises.
std::size_t searches_of(const measure::Objectives&);

}  // namespace deplo::engine
