// Where the values of a kernel stand once it is a loop nest, and how often each is computed: before it is one.
#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "rules/fusion/values.h"

namespace deplo::rules::fusion {

/// A body of the nest: inside the first `free` loops of the free axes, or inside the loop of reduce axis `reduce`.
struct Place {
  int free = 0;
  int reduce = -1;  // -1: none
  bool operator==(const Place&) const = default;
};

/// The scope placement of "A Principled ML Compiler Stack", part 1: a value stands in the shallowest body that binds all
/// axes that it depends on, with one restriction: free loops are only split (a statement between them) where a reduction
/// has to stand anyway. A load hoisted between two free loops would take away the inner one's parallelism.
class Nest {
 public:
  Nest(const Values&, ValueId root, const ir::Shape& shape);

  const std::vector<ValueId>& values() const { return order_; }  // each after its arguments
  Place place(ValueId) const;                                    // of a reduction: where its loop stands
  /// How often a statement there is executed for all of the free axes (bits, as in Live), and a value is computed. What
  /// the scores of a softmax are made of counts for the axes that the scores depend on: schedules compute them once for
  /// all sums, also those that stand in further free loops.
  double executions(Place, std::uint32_t free = ~0U) const;
  double executions(ValueId) const;
  int rank() const { return static_cast<int>(extents_.size()); }
  /// Free loops that surround everything: those outside the first reduction.
  int parallel() const { return breaks_.empty() ? rank() : breaks_.front(); }
  const std::vector<ValueId>& reductions() const { return reductions_; }  // outer before inner

 private:
  Place place_of(const Live&) const;
  bool stands_in(Place, int reduce) const;
  const Values& values_;
  ir::Shape extents_;
  std::vector<ValueId> order_, reductions_;
  std::vector<int> breaks_;                      // free depths at which reductions stand, sorted
  std::map<int, Place> reduce_places_;           // axis → where its loop stands
  std::map<int, int> depth_;                     // axis → loops around its body
  std::map<ValueId, std::uint32_t> score_axes_;  // of what scores are made of
};

}  // namespace deplo::rules::fusion
