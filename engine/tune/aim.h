// What a search minimises if a kernel has several objectives. Each objective has a search of its own, which finds an
// end of the Pareto front; one more looks for compromises between the ends.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "measure/store/quantity.h"

namespace deplo::engine {

/// A number to minimise, made of a trial's values. Immutable.
class Aim {
 public:
  /// `values`: those of all valid trials so far, each in the order of the objectives. `number`: of the search, below
  /// searches_of().
  Aim(const measure::Objectives&, std::size_t number, std::span<const std::vector<double>> values);
  /// Above 0, as strategies expect of a time. It is the time or the energy itself if that is the aim.
  double operator()(std::span<const double> values) const;
  /// "time (µs)", "code_size (bytes)", "a compromise of time, code_size"
  const std::string& text() const { return text_; }

 private:
  double compromise(std::span<const double> values) const;

  std::size_t number_;                 // the objective that counts alone; else one above the last
  bool is_positive_ = false;           // it is a time or an energy
  std::vector<double> least_, range_;  // of the front so far
  std::string text_;
};

/// One if there are no objectives but the time.
std::size_t searches_of(const measure::Objectives&);

}  // namespace deplo::engine
