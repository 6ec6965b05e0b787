// What an index expression may be where it stands: for all values of the axes in scope, under the conditions around.
// Private to ir/verify.
#pragma once
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "ir/verify/names.h"

namespace deplo::ir::verifier {

struct Value {
  Strided range;
  bool varies = false;  // between the threads of a block
};

class IndexProver {
 public:
  explicit IndexProver(Names& names) : names_(names) {}

  /// Fails where a variable is not in scope, a division is not by a positive constant, or the value may overflow.
  Value evaluate(const Expr&);
  /// The same where the variable `lane` is from 0 to lanes - 1.
  Value evaluate_lanes(const Expr&, int lanes);
  /// Fails unless the index and `lanes` - 1 more are proven to be from 0 to extent - 1; `dim` is for the message.
  void in_range(const Expr&, std::int64_t extent, int lanes = 1, std::size_t dim = 0);
  /// Whether expressions may name values: those that a Load gathers by.
  void set_gathers(bool gathers) { gathers_ = gathers; }
  /// … i64 among them: those of an Index that is one. What chooses elements of memory is i32.
  void set_wide(bool wide) { wide_ = wide; }

  /// From here on is_indexed() speaks of what is evaluated next.
  void begin_list() { ++stamp_; }
  bool is_indexed(const Name& axis) const { return axis.stamp == stamp_; }

  struct Mark {
    std::size_t axes, facts, saved;
    int unreachable;
  };
  Mark mark() const { return {axes_.size(), facts_.size(), saved_.size(), unreachable_}; }
  /// An axis comes into scope. nullopt: its body never runs, and no index in it is checked.
  void enter(const Axis&, bool varies, const std::optional<Strided>& values);
  /// A condition that holds from here on.
  void assume(const Expr& condition);
  /// Forgets the axes and conditions since the mark.
  void leave(const Mark&);
  const std::vector<Name*>& axes() const { return axes_; }  // in scope, outermost first
  bool reachable() const { return unreachable_ == 0; }

 private:
  /// *less + slack <= *more holds here. Conditions are these and ranges of axes.
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
  std::vector<std::pair<Name*, Strided>> saved_;  // ranges before the conditions around
  bool gathers_ = false, wide_ = false;
  int unreachable_ = 0;  // bodies around that never run
  std::uint32_t stamp_ = 0;
};

}  // namespace deplo::ir::verifier
