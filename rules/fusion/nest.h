// Determines where each value of a kernel stands in the loop nest, and how often it is computed, before the nest is
// built.
#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "rules/fusion/loop_op.h"
#include "rules/fusion/values.h"

namespace deplo::rules::fusion {

/// A body of the nest: inside the outermost `free` loops of free axes, or inside the loop of reduce axis `reduce`.
struct Place {
  int free = 0;
  int reduce = -1;  // -1: none
  bool operator==(const Place&) const = default;
};

/// The scope placement of "A Principled ML Compiler Stack", part 1: a value stands in the shallowest body that binds
/// all axes on which it depends. There is one restriction: a statement may stand between two free loops only if a
/// reduction must stand there anyway, or if the inner loop is a scan, whose iterations are not parallel. A load hoisted
/// between two free loops would remove the inner loop's parallelism.
class Nest {
 public:
  Nest(const Values&, const std::vector<ValueId>& roots, const ir::Shape& shape);

  const std::vector<ValueId>& values() const { return order_; }  // each after its arguments
  Place place(ValueId) const;                                    // of a reduction: where its loop stands
  /// The place of a statement that depends only on the first `axes` free axes.
  Place place(int axes) const;
  /// How often a statement at this place is executed. `free` is a bit mask of the free axes that count (as in Live).
  double executions(Place, std::uint32_t free = ~0U) const;
  /// How often a value is computed. For a value from which the scores of a softmax are computed, only the axes on which
  /// the scores depend count: schedules compute the scores once for all sums, even for sums inside further free loops.
  double executions(ValueId) const;
  int rank() const { return static_cast<int>(extents_.size()); }
  /// The number of free loops outside the first reduction. They surround all statements.
  int parallel() const { return breaks_.empty() ? rank() : breaks_.front(); }
  const std::vector<ValueId>& reductions() const { return reductions_; }  // outer reductions before inner ones

 private:
  Place place_of(const Live&) const;
  bool stands_in(Place, int reduce) const;
  const Values& values_;
  ir::Shape extents_;
  std::vector<ValueId> order_, reductions_;
  std::vector<int> breaks_;                      // depths of free loops at which reductions or a scan stand, sorted
  std::map<int, Place> reduce_places_;           // axis → where its loop stands
  std::map<int, int> depth_;                     // axis → loops around its body
  std::map<ValueId, std::uint32_t> score_axes_;  // value from which scores are computed → free axes of the scores
};

/// The place where a kernel writes one of its results, `tensor`.
Place place_of_write(const Fusion&, const LoopOp&, const Nest&, int tensor);

}  // namespace deplo::rules::fusion
