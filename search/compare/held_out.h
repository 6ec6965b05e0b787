// How well models that learn from some kernels and devices do on others: leave one out.
//
//   analytic  the log of what an analytic model says
//   process   a Gaussian process (gp.h) of what analytic leaves, on the points less the median
//   trees     boosted trees (boosted_trees.h) of what analytic leaves, on all; each set weighs alike
//
// Intervals are ± q s, s the process' standard deviation, else 1, and q the 90 % quantile of |error|/s of a cross-
// validation among the sets that are learned from (within the one, where there is only one): conformal prediction,
// Vovk, Gammerman and Shafer, Algorithmic Learning in a Random World (2005); Barber et al., Annals of Statistics 49
// (2021).
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "search/model/labelled.h"

namespace deplo::search::compare {

/// What is left out: a kernel on all devices, or a device, of which the same kernel on others tells.
enum class LeaveOut { kernel, device };
/// Throws Error that lists the names.
LeaveOut parse_leave_out(std::string_view);

struct HeldOutOptions {
  LeaveOut leave_out = LeaveOut::kernel;
  std::size_t top = 10;
  std::uint64_t seed = 0;
};

inline constexpr double interval_level = 0.9;

/// One model on one set.
struct HeldOutScore {
  std::string model;
  std::size_t set = 0, sets = 0;  // its number; how many it was learned from
  double spearman = 0, recall = 0, regret = 0;
  double coverage = 0, width = 0;  // share of the times in their intervals; mean width as a factor
};

/// For each set with others to learn from, in their order, each model. Sets have three records or more. Deterministic.
std::vector<HeldOutScore> evaluate_held_out(std::span<const model::Labelled>, const HeldOutOptions&);
}  // namespace deplo::search::compare
