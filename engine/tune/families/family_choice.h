// Which schedules a family of shapes keeps, and the decision trees that choose among them.
#pragma once
#include <cstddef>
#include <vector>

#include "engine/compile/dispatch.h"
#include "engine/source/shapes.h"

namespace deplo::engine {

/// The mean or the worst of the losses.
double loss_of(const FamilyGoal&, const std::vector<double>& losses);

/// [shape][schedule]; infinite where the schedule failed. For each shape, one schedule has no loss.
using Losses = std::vector<std::vector<double>>;
/// In Losses: what the heuristic makes of each shape. It costs nothing to keep, and it fits sizes that nobody measured.
inline constexpr std::size_t heuristic_number = 0;

/// The heuristic's schedule, and as few others as meet the goal if each shape gets the best of them; of as many, those
/// with the least loss. Sets are enumerated as long as there are at most 200,000 of a size; beyond that, schedules are
/// added one by one. Ascending.
std::vector<std::size_t> keep_schedules(const Losses&, const FamilyGoal&);

/// A shape, as a tree sees it. Shapes of different forms have different trees.
struct FamilyShape {
  std::size_t form = 0;
  std::vector<double> extents;  // different for shapes of one form
  /// It lies between the family's own shapes: its losses are relative to the fastest of the kept schedules. The goal
  /// holds for these shapes on their own.
  bool between = false;
};

/// A tree for each form, whose leaves have schedules of `kept`. A tree is grown until each shape has the best of them,
/// or the heuristic's where this loses no more than the goal allows; then the splits that gain least are removed as
/// long as the goal is met (cost-complexity pruning: Breiman et al., Classification and Regression Trees, 1984, chapter
/// 3). A split lies at the geometric mean of two neighbouring sizes.
std::vector<std::vector<DispatchRule::Node>> grow_trees(const Losses&, const std::vector<FamilyShape>&,
                                                        const std::vector<std::size_t>& kept, const FamilyGoal&);

}  // namespace deplo::engine
