// What a Loop program must compute and move at least.
#include <algorithm>

#include "ir/program.h"
#include "ir/simplify/simplify_impl.h"
#include "ir/softmax.h"

namespace deplo::ir {
namespace {

// The part of the values of its variables for which the condition holds; counted, or 1 where there are too many.
class Fraction {
 public:
  Fraction(const Expr& condition, const Ranges& ranges) : condition_(condition) {
    std::vector<std::string> names;
    collect_variables(condition, names);
    for (const std::string& name : names) {
      const Interval range = range_of(var(name), ranges);
      if (!finite(range) || range.high < range.low) return;
      const double values = static_cast<double>(range.high) - static_cast<double>(range.low) + 1;
      total_ *= values;
      scope_.emplace_back(name, range);
    }
    if (total_ > limit) return;
    count(0);
    value_ = static_cast<double>(holds_) / total_;
  }
  double value() const { return value_; }

 private:
  static constexpr double limit = 1 << 20;

  void count(std::size_t axis) {
    if (axis == scope_.size()) {
      holds_ += evaluate(condition_, point_) != 0 ? 1 : 0;
      return;
    }
    const auto& [name, range] = scope_[axis];
    for (std::int64_t v = range.low; v <= range.high; ++v) {
      point_.emplace_back(name, v);
      count(axis + 1);
      point_.pop_back();
    }
  }

  Expr condition_;
  Ranges scope_;
  std::vector<std::pair<std::string, std::int64_t>> point_;
  double total_ = 1, value_ = 1;
  std::int64_t holds_ = 0;
};

double cost(Op op) { return op == Op::copy ? 0 : op == Op::fma ? 2 : 1; }

// Of its steps.
double cost(const SoftmaxSum& s) {
  double sum = 0;
  for (const Stmt& step : steps(s, [] { return std::string(); })) {
    if (const auto* assign = step.as<Assign>()) sum += cost(assign->op);
    if (step.as<Accum>() != nullptr || step.as<Scale>() != nullptr) sum += 1;
  }
  return sum;
}

double flops(const Body& body, Ranges& ranges) {
  double sum = 0;
  for (const Stmt& stmt : body) {
    if (const auto* s = stmt.as<Assign>()) sum += cost(s->op);
    if (const auto* s = stmt.as<Accum>()) sum += cost(s->op);
    if (const auto* s = stmt.as<SoftmaxSum>()) sum += cost(*s);
    if (const auto* s = stmt.as<If>()) {
      const double inner = flops(s->then, ranges);
      if (inner > 0) sum += Fraction(simplify(s->condition, ranges), ranges).value() * inner;
    }
    if (const auto* s = stmt.as<Loop>()) {
      const Interval start = range_of(s->start, ranges);
      const std::int64_t low = finite(start) ? start.low : 0, step = std::max<std::int64_t>(s->step, 1);
      if (low >= s->axis.extent) continue;
      ranges.emplace_back(s->axis.name, Interval{low, s->axis.extent - 1});
      sum += flops(s->body, ranges) * static_cast<double>(ceil_div(s->axis.extent - low, step));
      ranges.pop_back();
    }
  }
  return sum;
}

}  // namespace

Work work(const Program& loop) {
  Work result;
  Ranges ranges;
  result.flops = flops(loop.body, ranges);
  // A broadcast buffer (stride 0) has fewer addresses than elements, a padded one fewer elements than addresses.
  for (const Buffer& b : loop.buffers)
    result.bytes += static_cast<double>(std::min(element_count(b), span(b)) * bytes(b.dtype));
  return result;
}

}  // namespace deplo::ir
