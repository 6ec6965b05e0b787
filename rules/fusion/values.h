// During fusion, kernels consist of values, not of statements. A value is a function of the kernel's free axes and of
// the reduce axes around it. One table holds the values of all kernels of a graph and stores equal values once. So
// splicing a producer into a consumer is a substitution, and values that both compute are shared without a search.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "ir/expr.h"
#include "ir/op.h"
#include "ir/types/types.h"

namespace deplo::rules::fusion {

/// A value in the table of its graph. `none`: the value is not known yet. An enum class, so that the number of a tensor
/// or of an axis does not convert to it.
enum class ValueId : int { none = -1 };

/// A `softmax` sums along its axis, like the statement SoftmaxSum (ir/loop.h). Its results are its `part`s: part 0 is
/// the greatest score, and part n is the sum of the n-th weight times e^(score - greatest). A `scan` combines its
/// argument along a free axis, from the first element to the current one. A `scatter` is the root of a kernel whose
/// values choose which element is written, and whether it is written. Its index has one expression per dimension of the
/// output, followed by the condition.
struct Value {
  enum class Kind : std::uint8_t { constant, index, load, assign, reduce, softmax, part, scan, scatter };
  Kind kind = Kind::constant;
  ir::DType dtype = ir::DType::f32;
  double constant = 0;
  ir::Op op = ir::Op::copy;          // of assign, reduce and scan
  int tensor = -1;                   // of load
  int axis = -1;                     // reduce, softmax: the axis that it binds; scan: the free axis
  int part = 0;                      // of part: its number
  std::vector<ir::Expr> index = {};  // load: one per dimension; scatter: see above; index: the expression
  // load, index: the values that the index calls g1, g2, …; scatter: the same, then the value that is written; softmax:
  // the score, then the weights
  std::vector<ValueId> args = {};
  bool reduces() const { return kind == Kind::reduce || kind == Kind::softmax; }
  bool accumulates() const { return reduces() || kind == Kind::scan; }
  bool operator==(const Value&) const = default;
};

/// The axes on which a value depends.
struct Live {
  std::uint32_t free = 0;    // bit d: the kernel's free axis d
  std::vector<int> reduces;  // sorted
};

/// Free axis d is the variable tensor::coordinate(d). Reduce axis n is the variable `r<n>`, which one value binds.
class Values {
 public:
  ValueId add(Value);  // returns the existing value if there is an equal one
  const Value& operator[](ValueId id) const { return values_[static_cast<std::size_t>(id)]; }
  const Live& live(ValueId id) const { return live_[static_cast<std::size_t>(id)]; }
  std::size_t size() const { return values_.size(); }
  /// Returns true if the values are equal except for the reduce axes that they bind. `renamed` is applied to axes of
  /// the first value.
  bool equivalent(ValueId, ValueId, ir::Substitution renamed = {}) const;

  int new_axis(std::int64_t extent);
  const ir::Expr& axis(int reduce) const { return axes_[static_cast<std::size_t>(reduce)].variable; }
  std::int64_t extent(int reduce) const { return axes_[static_cast<std::size_t>(reduce)].extent; }

  /// The ranges of the axes in an expression. `shape`: the extents of the free axes.
  ir::Ranges ranges(const ir::Expr&, const ir::Shape& shape) const;
  /// Substitutes and simplifies. `shape`: the extents of the free axes that the result depends on.
  ir::Expr substitute(const ir::Expr&, const ir::Substitution&, const ir::Shape& shape) const;

  /// Replaces free axes of `value`, or reduce axes that `value` does not bind. The free axis of a scan may only be
  /// replaced by another axis. `shape` is as above. A reduction that changes binds a new axis, because the old
  /// reduction may remain in the same kernel. If the expressions in `sigma` name g1, g2, …, these names stand for the
  /// values `gathered`.
  ValueId substitute(ValueId value, const ir::Substitution& sigma, const ir::Shape& shape,
                     const std::vector<ValueId>& gathered = {});
  /// Replaces `value`, and every value below it, by what `other` returns for it. If `other` returns nullopt, the value
  /// stays. Arguments are replaced before the values that use them.
  ValueId replace(ValueId value, const std::function<std::optional<ValueId>(const Value&)>& other);

 private:
  struct Axis {
    std::int64_t extent;
    ir::Expr variable;
  };
  Live find_live(const Value&) const;
  std::vector<Value> values_;
  std::vector<Live> live_;
  std::vector<Axis> axes_;
  std::unordered_multimap<std::uint64_t, ValueId> by_hash_;
};

}  // namespace deplo::rules::fusion
