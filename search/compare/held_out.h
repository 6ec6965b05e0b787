// Rates models that learn from some kernels and devices and predict others, by leaving one out.
//
//   analytic  the log time of an analytic model
//   process   a Gaussian process (gp.h) of the residual of `analytic`, on the points minus their median
//   trees     boosted trees (boosted_trees.h) of the residual of `analytic`, on both forms of the points; all sets have
//             the same weight
//
// Intervals are ± q s. s is the standard deviation of the process, or 1 for the other models. q is the 90 % quantile of
// |error|/s in a cross-validation among the sets that are learned from (within the set if there is only one). This is
// conformal prediction: Vovk, Gammerman and Shafer, Algorithmic Learning in a Random World (2005); Barber et al.,
// Annals of Statistics 49 (2021).
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "search/model/labelled.h"

namespace deplo::search::compare {

/// kernel: learn from all other kernels, on all devices. device: learn from the same kernel on other devices.
enum class LeaveOut { kernel, device };
/// Throws Error that lists the names if the name is unknown.
LeaveOut parse_leave_out(std::string_view);

struct HeldOutOptions {
  LeaveOut leave_out = LeaveOut::kernel;
  std::size_t top = 10;
  std::uint64_t seed = 0;
};

inline constexpr double interval_level = 0.9;

/// The scores of one model on one set.
struct HeldOutScore {
  std::string model;
  std::size_t set = 0, sets = 0;  // the set's index; the number of sets that the model learned from
  double spearman = 0, recall = 0, regret = 0;
  double coverage = 0, width = 0;  // share of the times in their intervals; geometric mean width, as a factor
};

/// Evaluates each model on each set that has others to learn from, in the order of the sets. Each set must have at
/// least three records. Deterministic.
std::vector<HeldOutScore> evaluate_held_out(std::span<const model::Labelled>, const HeldOutOptions&);
}  // namespace deplo::search::compare
