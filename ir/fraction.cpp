#include "ir/fraction.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "ir/simplify/simplify_impl.h"
#include "ir/walk.h"

namespace deplo::ir {
namespace {

class Fraction {
 public:
  Fraction(const Expr& condition, const Ranges& ranges) : condition_(condition) {
    const std::vector<std::string> names = variables(condition);
    double total = 1;
    for (const std::string& name : names) {
      const Interval range = range_of(var(name), ranges);
      if (!finite(range) || range.high < range.low) return;
      total *= values(range);
      scope_.emplace_back(name, range);
    }
    if (total > limit) max_values_ = std::floor(std::pow(limit, 1 / static_cast<double>(names.size())));
    count(0);
    value_ = holds_ / tried_;
  }
  double value() const { return value_; }

 private:
  static constexpr double limit = 1 << 20;

  static double values(const Interval& range) {
    return static_cast<double>(range.high) - static_cast<double>(range.low) + 1;
  }

  void count(std::size_t axis) {
    if (axis == scope_.size()) {
      holds_ += evaluate(condition_, point_) != 0 ? 1 : 0;
      ++tried_;
      return;
    }
    const auto& [name, range] = scope_[axis];
    const double all = values(range), tried = std::min(all, max_values_);
    for (double i = 0; i < tried; ++i) {
      point_.emplace_back(name, range.low + static_cast<std::int64_t>((i + 0.5) * all / tried));
      count(axis + 1);
      point_.pop_back();
    }
  }

  Expr condition_;
  Ranges scope_;
  std::vector<std::pair<std::string, std::int64_t>> point_;
  double max_values_ = limit, holds_ = 0, tried_ = 0, value_ = 1;
};

}  // namespace

double fraction_that_holds(const Expr& condition, const Ranges& ranges) { return Fraction(condition, ranges).value(); }

double fraction_of_turns(const Loop& loop, Ranges around) {
  if (!loop.end) return 1;
  around.emplace_back(loop.axis.name, range_of(loop));
  return fraction_that_holds(simplify(less(var(loop.axis.name), *loop.end), around), around);
}

}  // namespace deplo::ir
