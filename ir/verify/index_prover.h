// Proves the range of an index expression at its place in the program: for all values of the axes in scope, under the
// enclosing conditions. Private to ir/verify.
#pragma once
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "ir/verify/names.h"

namespace deplo::ir::verifier {

struct Value {
  Strided range;
  bool varies = false;  // the value differs between the threads of a block
};

class IndexProver {
 public:
  explicit IndexProver(Names& names) : names_(names) {}

  /// Fails if a variable is not in scope, a divisor is not a positive constant, an operand of bxor may be negative, or
  /// the value may overflow.
  Value evaluate(const Expr&);
  /// The same, where the variable `lane` ranges over 0 … lanes - 1.
  Value evaluate_lanes(const Expr&, int lanes);
  /// Fails unless the index and the `lanes` - 1 indices after it are proven to be in 0 … extent - 1. `dim` is used in
  /// the message.
  void in_range(const Expr&, std::int64_t extent, int lanes = 1, std::size_t dim = 0);
  /// Sets whether expressions may name values, as in the index of a gather.
  void set_gathers(bool gathers) { gathers_ = gathers; }
  /// Sets whether these values may be i64, as in an Index of that type. Values that select elements of memory must be
  /// i32.
  void set_wide(bool wide) { wide_ = wide; }

  /// Starts a list of indices. is_indexed() tells whether an expression evaluated since then names the axis.
  void begin_list() { ++stamp_; }
  bool is_indexed(const Name& axis) const { return axis.stamp == stamp_; }

  struct Mark {
    std::size_t axes, facts, saved;
    int unreachable;
  };
  Mark mark() const { return {axes_.size(), facts_.size(), saved_.size(), unreachable_}; }
  /// Brings an axis into scope. `values` is nullopt if its body never runs; then no index in the body is checked.
  void enter(const Axis& axis, bool varies, const std::optional<Strided>& values) {
    enter(axis.name, axis.extent, axis.bind, varies, values);
  }
  void enter(Axis&&, bool, const std::optional<Strided>&) = delete;  // the name must live as long as the program
  void enter(const std::string& name, std::int64_t extent, Bind, bool varies, const std::optional<Strided>& values);
  /// Assumes that the condition holds from here on.
  void assume(const Expr& condition);
  /// Forgets the axes and conditions added since the mark.
  void leave(const Mark&);
  const std::vector<Name*>& axes() const { return axes_; }  // in scope, outermost first
  bool reachable() const { return unreachable_ == 0; }

 private:
  /// The inequality *less + slack <= *more, which holds here. Conditions become such facts, and narrower ranges of
  /// axes.
  struct Fact {
    const Expr *less, *more;
    std::int64_t slack;
  };

  Value variable(const std::string& text);
  void apply_facts(const Expr&, Strided& range);
  bool provable(const Expr&, std::int64_t low, std::int64_t high) const;
  void assume_less(const Expr& less, const Expr& more, std::int64_t slack);
  void restrict(const Expr& variable, std::int64_t low, std::int64_t high);

  Names& names_;
  std::vector<Name*> axes_;
  std::vector<Fact> facts_;
  std::vector<std::pair<Name*, Strided>> saved_;  // ranges before the conditions now in force
  bool gathers_ = false, wide_ = false;
  int unreachable_ = 0;  // number of enclosing bodies that never run
  std::uint32_t stamp_ = 0;
};

}  // namespace deplo::ir::verifier
