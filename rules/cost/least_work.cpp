#include "rules/cost/least_work.h"

#include <algorithm>
#include <map>
#include <set>

#include "ir/fraction.h"
#include "ir/hardware/mma.h"
#include "ir/softmax.h"
#include "ir/walk.h"

namespace deplo::rules {
namespace {

class WorkCounter {
 public:
  explicit WorkCounter(const ir::Program& loop) : loop_(loop) { count(loop.body); }

  ir::Work result() const {
    ir::Work work{flops_, 0};
    for (const ir::Buffer& buffer : loop_.buffers)
      if (walked_.contains(buffer.name))
        work.bytes += static_cast<double>(std::min(element_count(buffer), ir::span(buffer)) * ir::bytes(buffer.dtype));
    return work;
  }

 private:
  void count(const ir::Body& body) {
    for (const ir::Stmt& stmt : body) {
      if (const auto* s = stmt.as<ir::Loop>()) {
        if (!s->start.is_constant(0) || s->step != 1) continue;
        scope_[s->axis.name] = s->axis.extent;
        const double outside = fraction_;
        for (const ir::Stmt& inner : s->body)
          if (const auto* step = inner.as<ir::SoftmaxSum>()) fraction_ *= fraction_seen(s->body, *step);
        count(s->body);
        fraction_ = outside;
        scope_.erase(s->axis.name);
      } else if (stmt.as<ir::If>() == nullptr) {
        visit(stmt);
      }
    }
  }

  /// Returns the fraction of the keys that the mask does not hide. Hidden keys need no score.
  double fraction_seen(const ir::Body& body, const ir::SoftmaxSum& step) const {
    ir::Ranges ranges;
    for (const auto& [axis, extent] : scope_) ranges.emplace_back(axis, ir::Interval{0, extent - 1});
    return ir::fraction_that_holds(ir::seen(body, step.score), ranges);
  }

  void visit(const ir::Stmt& stmt) {
    const std::set<std::string> axes = depends_on(stmt);
    ir::for_each_name(stmt, [&](ir::Use use, const std::string& name) {
      if (use == ir::Use::defines) depends_[name].insert(axes.begin(), axes.end());
    });
    if (const auto* s = stmt.as<ir::Assign>()) add(s->op, s->type, axes);
    if (const auto* s = stmt.as<ir::Accum>()) add(s->op, s->type, axes);
    if (const auto* s = stmt.as<ir::SoftmaxSum>()) add(*s);
    if (const auto* s = stmt.as<ir::Load>()) walk(s->buffer, s->index);
    if (const auto* s = stmt.as<ir::Write>()) walk(s->buffer, s->index);
  }

  std::set<std::string> depends_on(const ir::Stmt& stmt) const {
    const auto [axes, values] = ir::reads(stmt);
    std::set<std::string> all;
    for (const std::string& axis : axes)
      if (scope_.contains(axis)) all.insert(axis);
    for (const std::string& value : values)
      if (const auto found = depends_.find(value); found != depends_.end())
        all.insert(found->second.begin(), found->second.end());
    return all;
  }

  void add(ir::Op op, ir::Type type, const std::set<std::string>& axes) {
    if (type.dtype != ir::DType::f32 || op == ir::Op::copy) return;
    add(op == ir::Op::fma ? 2 : 1, axes);
  }

  void add(const ir::SoftmaxSum& s) {
    const auto axes = [&](const ir::Arg& arg) {
      const auto* name = std::get_if<std::string>(&arg);
      const auto found = name == nullptr ? depends_.end() : depends_.find(*name);
      return found == depends_.end() ? std::set<std::string>() : found->second;
    };
    const std::set<std::string> score = axes(s.score);
    add(ir::operations_of_score, score);
    for (const ir::Arg& weight : s.weights) {
      std::set<std::string> all = axes(weight);
      all.insert(score.begin(), score.end());
      add(ir::operations_of_sum(weight), all);
    }
  }

  void add(double times, const std::set<std::string>& axes) {
    for (const auto& [axis, extent] : scope_)
      if (axes.contains(axis)) times *= static_cast<double>(extent);
    flops_ += times * fraction_;
  }

  /// Marks the buffer if each dimension is walked by a separate axis, from its start to its end.
  void walk(const std::string& buffer, const std::vector<ir::Expr>& index) {
    const ir::Buffer* const found = loop_.find(buffer);
    std::set<std::string> used;
    for (std::size_t dim = 0; dim < index.size(); ++dim) {
      if (index[dim].kind() != ir::Expr::Kind::variable) return;
      const auto axis = scope_.find(index[dim].name());
      if (axis == scope_.end() || axis->second != found->shape[dim] || !used.insert(axis->first).second) return;
    }
    walked_.insert(buffer);
  }

  const ir::Program& loop_;
  std::map<std::string, std::int64_t> scope_;             // axis → extent
  std::map<std::string, std::set<std::string>> depends_;  // value → axes
  std::set<std::string> walked_;
  double fraction_ = 1, flops_ = 0;
};

}  // namespace

ir::Work least_work(const ir::Program& loop, bool matrices) {
  ir::Work min_work = WorkCounter(loop).result();
  if (matrices && ir::mma::may_multiply(loop)) min_work.flops = 0;
  return min_work;
}

double cached_bytes(std::int64_t l2_bytes, std::int64_t batch) {
  return 2 * static_cast<double>(l2_bytes) / static_cast<double>(batch);
}

double least_us(const ir::Work& min_work, const Ceilings& ceilings, std::int64_t l2_bytes, std::int64_t batch) {
  const auto us = [](double work, double rate) { return rate > 0 ? work / rate * 1e-3 : 0; };
  return std::max(us(min_work.flops, ceilings.fp32_gflop_s),
                  us(std::max(min_work.bytes - cached_bytes(l2_bytes, batch), 0.0), ceilings.gb_s()));
}

}  // namespace deplo::rules
