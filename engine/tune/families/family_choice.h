// Chooses the schedules that a family of shapes keeps, and the decision trees that choose among them.
#pragma once
#include <cstddef>
#include <vector>

#include "engine/compile/dispatch.h"
#include "engine/source/shapes.h"

namespace deplo::engine {

/// Returns the mean or the worst of the losses, or 0 if there are none.
double loss_of(const FamilyGoal&, const std::vector<double>& losses);

/// [shape][schedule]; infinite if the schedule failed. For each shape, at least one schedule has a loss of 0.
using Losses = std::vector<std::vector<double>>;
/// The index in Losses of the heuristic's schedule. It costs nothing to keep, and it also fits sizes that nobody
/// measured.
inline constexpr std::size_t heuristic_number = 0;

/// Returns the heuristic's schedule and as few others as are needed to meet the goal if each shape gets the best of
/// them. Among sets of the same size, the set with the least loss is chosen. Sets are enumerated if there are at most
/// 200,000 of a size; for larger sizes, schedules are added one by one. The indices are ascending.
std::vector<std::size_t> keep_schedules(const Losses&, const FamilyGoal&);

/// A shape as a decision tree sees it. Shapes of different forms have different trees.
struct FamilyShape {
  std::size_t form = 0;
  std::vector<double> extents;  // extents of two shapes of one form differ
  /// True for a shape between the family's own shapes. Its losses are relative to the fastest of the kept schedules.
  /// The goal must also be met on these shapes alone.
  bool between = false;
};

/// Returns a tree for each form. The leaves have schedules of `kept`. A tree is grown until each shape gets its best
/// kept schedule, or the heuristic's if this loses no more than the goal allows. Then the splits that gain least are
/// removed as long as the goal is met (cost-complexity pruning: Breiman et al., Classification and Regression Trees,
/// 1984, chapter 3). A split lies at the geometric mean of two neighbouring sizes.
std::vector<std::vector<DispatchRule::Node>> grow_trees(const Losses&, const std::vector<FamilyShape>&,
                                                        const std::vector<std::size_t>& kept, const FamilyGoal&);

}  // namespace deplo::engine
