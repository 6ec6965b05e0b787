// Lower bounds on the work of a Loop program: the operations and bytes that every schedule needs.
#include <algorithm>
#include <map>
#include <set>

#include "ir/fraction.h"
#include "ir/program.h"
#include "ir/simplify/simplify_impl.h"
#include "ir/softmax.h"
#include "ir/walk.h"

namespace deplo::ir {
namespace {

double cost(Op op) { return op == Op::copy ? 0 : op == Op::fma ? 2 : 1; }

using Axes = std::set<std::string>;

/// Counts every operation as often as its loops run, with one exception: the operations that compute the scores of a
/// softmax run only along the axes that the scores depend on. Schedules compute a score once for all sums that it
/// weighs, and skip scores that a mask hides.
class Counter {
 public:
  explicit Counter(const Body& body) {
    find_axes(body);
    find_scores(body);
    count(body);
  }
  double flops() const { return flops_; }

 private:
  struct Around {
    std::string axis;
    double trips;
    bool reduces;
  };

  /// Collects the axes that each value depends on.
  void find_axes(const Body& body) {
    for_each(body, [&](const Stmt& stmt) {
      const Axes axes = axes_of(stmt);
      for_each_name(stmt, [&](Use use, const std::string& name) {
        if (use == Use::defines) axes_[name].insert(axes.begin(), axes.end());
      });
    });
  }

  Axes axes_of(const Stmt& stmt) const {
    const auto [axes, values] = reads(stmt);
    Axes all(axes.begin(), axes.end());
    for (const std::string& value : values)
      if (const auto known = axes_.find(value); known != axes_.end())
        all.insert(known->second.begin(), known->second.end());
    return all;
  }
  Axes axes_of(const Arg& arg) const {
    const auto* name = std::get_if<std::string>(&arg);
    return name == nullptr ? Axes{} : axes_.at(*name);
  }

  void find_scores(const Body& body) {
    for_each<Loop>(body, [&](const Loop& loop) {
      for (const Stmt& inner : loop.body)
        if (const auto* s = inner.as<SoftmaxSum>())
          if (const auto* score = std::get_if<std::string>(&s->score)) find_score(loop.body, *score, axes_of(s->score));
    });
  }

  void find_score(const Body& body, const std::string& value, const Axes& axes) {
    if (!scores_.emplace(value, axes).second) return;
    for_each(body, [&](const Stmt& stmt) {
      if (stmt.as<SoftmaxSum>() != nullptr || defined(stmt) != value) return;
      for (const std::string& read : reads(stmt).values)
        if (defines(body, read)) find_score(body, read, axes);
    });
  }
  static bool defines(const Body& body, const std::string& value) {
    bool found = false;
    for_each(body, [&](const Stmt& stmt) { found |= defined(stmt) == value; });
    return found;
  }

  void add(double operations, const Axes* free = nullptr) {
    for (const Around& loop : around_)
      if (free == nullptr || loop.reduces || free->contains(loop.axis)) operations *= loop.trips;
    flops_ += operations * fraction_;
  }

  const Axes* score_axes(const std::string& value) const {
    const auto known = scores_.find(value);
    return known == scores_.end() ? nullptr : &known->second;
  }

  void count(const Body& body) {
    for (const Stmt& stmt : body) {
      if (const auto* s = stmt.as<Assign>()) add(cost(s->op), score_axes(s->dst));
      if (const auto* s = stmt.as<Accum>()) add(cost(s->op), score_axes(s->dst));
      if (const auto* s = stmt.as<SoftmaxSum>()) count(*s);
      if (const auto* s = stmt.as<If>()) count(*s);
      if (const auto* s = stmt.as<Loop>()) count(*s);
    }
  }

  void count(const SoftmaxSum& s) {
    const Axes score = axes_of(s.score);
    add(operations_of_score, &score);
    for (const Arg& weight : s.weights) {
      Axes axes = axes_of(weight);
      axes.insert(score.begin(), score.end());
      add(operations_of_sum(weight), &axes);
    }
  }

  void count(const If& s) {
    const double outside = fraction_;
    if (computes(s.then)) fraction_ *= fraction_that_holds(simplify(s.condition, ranges_), ranges_);
    count(s.then);
    fraction_ = outside;
  }
  static bool computes(const Body& body) { return has<Assign, Accum, SoftmaxSum>(body); }

  void count(const Loop& s) {
    const Interval start = range_of(s.start, ranges_);
    const std::int64_t low = finite(start) ? start.low : 0, step = std::max<std::int64_t>(s.step, 1);
    if (low >= s.axis.extent) return;
    const auto trips = static_cast<double>(ceil_div(s.axis.extent - low, step));
    const double turns = fraction_of_turns(s, ranges_);
    ranges_.emplace_back(s.axis.name, Interval{low, s.axis.extent - 1});
    around_.push_back({s.axis.name, trips, s.axis.bind != Bind::free});
    const double outside = fraction_;
    fraction_ *= turns;
    for (const Stmt& stmt : s.body)
      if (const auto* sum = stmt.as<SoftmaxSum>()) fraction_ *= fraction_that_holds(seen(s.body, sum->score), ranges_);
    count(s.body);
    fraction_ = outside;
    around_.pop_back();
    ranges_.pop_back();
  }

  std::map<std::string, Axes> axes_;    // the axes that each value depends on
  std::map<std::string, Axes> scores_;  // for each value that a score is computed from: the axes of the score
  std::vector<Around> around_;
  Ranges ranges_;
  double fraction_ = 1, flops_ = 0;
};

}  // namespace

Work work(const Program& loop) {
  Work result;
  result.flops = Counter(loop.body).flops();
  // A broadcast buffer (stride 0) has fewer addresses than elements; a padded buffer has fewer elements than addresses.
  for (const Buffer& b : loop.buffers)
    result.bytes += static_cast<double>(std::min(element_count(b), span(b)) * bytes(b.dtype));
  return result;
}

}  // namespace deplo::ir
