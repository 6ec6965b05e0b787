// Computes sums weighted by a softmax in one sweep (Milakov and Gimelshein, arXiv 1805.02867; Rabe and Staats,
// 2112.05682):
//   M = max over a of s(a);  L = sum over b of e^(s(b) - M);  O = sum over c of e^(s(c) - M) / L * w(c)
//   →  M, L, O' = softmax over r of s(r), weights 1 and w(r);  O = O' / L
// PyTorch's core ATen also asks whether a row has any score above -inf; M answers that.
// A factor moves out of a sum if it does not depend on the sum's axis. Nothing else is reassociated.
#include <algorithm>
#include <limits>
#include <map>

#include "rules/fusion/loop_op.h"

namespace deplo::rules::fusion {
namespace {

/// A product: its factors (`above`), its divisors (`below`), and the conditions under which it is 0.
struct Factors {
  std::vector<ValueId> above, below, zero_if;
};

/// A sum over an axis of e^(score - maximum) times a weight, and the factors that moved out of it.
struct WeighedSum {
  ValueId reduce;
  ValueId weight;  // in terms of the softmax's axis
  Factors outer;
};

/// Is the value a reduction by `op` of f32, not inside another reduction?
bool is_reduction(const Values& values, ValueId id, ir::Op op) {
  const Value& value = values[id];
  return value.kind == Value::Kind::reduce && value.op == op && value.dtype == ir::DType::f32 &&
         values.live(id).reduces.empty();
}

/// Rewrites the softmax that belongs to one maximum.
class OnlineSoftmax {
 public:
  OnlineSoftmax(Values& values, ValueId root, const ir::Shape& shape, ValueId maximum)
      : values_(values), shape_(shape), root_(root), maximum_(maximum), old_axis_(values[maximum].axis) {
    const Value& value = values[maximum];
    axis_ = values.new_axis(values.extent(old_axis_));
    score_ = value.args[0];
  }

  std::optional<ValueId> run() {
    std::vector<ValueId> args = {rename(score_, old_axis_)};
    std::vector<ValueId> questions;
    for (const ValueId id : reachable(values_, root_)) {
      if (asks_for_scores(id)) questions.push_back(id);
      auto sum = weighed(id);
      if (!sum) continue;
      const auto known = std::find_if(args.begin() + 1, args.end(), is_same(sum->weight));
      if (known == args.end())
        args.push_back(sum->weight);
      else
        sum->weight = *known;
      sums_.emplace(id, std::move(*sum));
    }
    const auto is_one = [&](ValueId id) { return is_constant(id, 1); };
    const auto first_loaded = std::stable_partition(args.begin() + 1, args.end(), is_one);
    if (first_loaded == args.end()) return std::nullopt;  // a softmax without weighted sums
    softmax_ = values_.add({.kind = Value::Kind::softmax, .axis = axis_, .args = args});
    for (std::size_t i = 0; i < args.size(); ++i) {
      parts_.push_back(values_.add({.kind = Value::Kind::part, .part = static_cast<int>(i), .args = {softmax_}}));
      if (i > 0 && is_one(args[i])) total_ = parts_.back();
    }
    for (const ValueId part : parts_) rewritten_[part] = part;
    rewritten_[maximum_] = parts_[0];
    for (const ValueId id : questions) rewritten_[id] = is_above_minus_infinity(parts_[0]);
    const ValueId result = rewrite(root_);
    why_not_ = fault(result);
    return why_not_.empty() ? std::optional(result) : std::nullopt;
  }
  /// Why `run` returned nullopt although it found sums; otherwise "".
  const std::string& why_not() const { return why_not_; }

 private:
  ValueId rename(ValueId value, int axis) {
    return values_.substitute(value, {{values_.axis(axis).name(), values_.axis(axis_)}}, shape_);
  }
  /// Compares values except for the reduce axes that they bind, because a score may compute a product of its own.
  std::function<bool(ValueId)> is_same(ValueId id) const {
    return [this, id](ValueId other) { return values_.equivalent(id, other); };
  }
  bool depends(ValueId value, int axis) const { return std::ranges::binary_search(values_.live(value).reduces, axis); }
  ValueId assign(ir::Op op, std::vector<ValueId> args) {
    return values_.add({.kind = Value::Kind::assign, .op = op, .args = std::move(args)});
  }
  bool is_constant(ValueId id, double constant) const {
    return values_[id].kind == Value::Kind::constant && values_[id].constant == constant;
  }

  void collect(ValueId id, int axis, Factors& factors) const {
    const Value& value = values_[id];
    const ir::Op op = value.kind == Value::Kind::assign ? value.op : ir::Op::copy;
    if (op == ir::Op::multiply) {
      for (const ValueId arg : value.args) collect(arg, axis, factors);
    } else if (op == ir::Op::divide) {
      collect(value.args[0], axis, factors);
      factors.below.push_back(value.args[1]);
    } else if (op == ir::Op::reciprocal) {
      factors.below.push_back(value.args[0]);
    } else if (op == ir::Op::select && is_constant(value.args[1], 0) && !depends(value.args[0], axis)) {
      factors.zero_if.push_back(value.args[0]);
      collect(value.args[2], axis, factors);
    } else if (!is_constant(id, 1)) {
      factors.above.push_back(id);
    }
  }

  ValueId score_at(int axis) {
    return values_.substitute(score_, {{values_.axis(old_axis_).name(), values_.axis(axis)}}, shape_);
  }

  /// e^(score - maximum), with the score over `axis`.
  ValueId exponential(int axis) { return assign(ir::Op::exp, {assign(ir::Op::subtract, {score_at(axis), maximum_})}); }

  /// The number 1 if not (score == -inf), else 0.
  ValueId is_above_minus_infinity(ValueId score) {
    const auto of = [&](ir::DType dtype, ir::Op op, std::vector<ValueId> args) {
      return values_.add({.kind = Value::Kind::assign, .dtype = dtype, .op = op, .args = std::move(args)});
    };
    const ValueId never = values_.add({.constant = -std::numeric_limits<double>::infinity()});
    const ValueId hidden = of(ir::DType::boolean, ir::Op::equal, {score, never});
    return of(ir::DType::i32, ir::Op::copy, {of(ir::DType::boolean, ir::Op::logical_not, {hidden})});
  }

  /// Is the value the maximum over the row of is_above_minus_infinity(score)?
  bool asks_for_scores(ValueId id) {
    const Value value = values_[id];
    return value.kind == Value::Kind::reduce && value.op == ir::Op::maximum && value.dtype == ir::DType::i32 &&
           values_.live(id).reduces.empty() && values_.extent(value.axis) == values_.extent(old_axis_) &&
           is_same(is_above_minus_infinity(score_at(value.axis)))(value.args[0]);
  }

  std::optional<WeighedSum> weighed(ValueId id) {
    const Value value = values_[id];
    if (!is_reduction(values_, id, ir::Op::add) || values_.extent(value.axis) != values_.extent(old_axis_)) return {};
    Factors factors;
    collect(value.args[0], value.axis, factors);
    const auto exp = std::ranges::find_if(factors.above, is_same(exponential(value.axis)));
    if (exp == factors.above.end()) return {};
    factors.above.erase(exp);
    WeighedSum sum{id, values_.add({.constant = 1}), {}};
    sum.outer.zero_if = factors.zero_if;
    bool weighs = false;
    for (const ValueId factor : factors.above) {
      if (!depends(factor, value.axis)) {
        sum.outer.above.push_back(factor);
        continue;
      }
      sum.weight = weighs ? assign(ir::Op::multiply, {sum.weight, factor}) : factor;
      weighs = true;
    }
    for (const ValueId factor : factors.below)
      if (depends(factor, value.axis))
        sum.weight = assign(ir::Op::divide, {sum.weight, factor});
      else
        sum.outer.below.push_back(factor);
    sum.weight = rename(sum.weight, value.axis);
    return sum;
  }

  ValueId part_of(const WeighedSum& sum) const {
    const std::vector<ValueId>& args = values_[softmax_].args;
    return parts_[static_cast<std::size_t>(std::find(args.begin() + 1, args.end(), sum.weight) - args.begin())];
  }

  /// The sum's part of the softmax with the factors that moved out of the sum. The division by the total comes first.
  ValueId around(const WeighedSum& sum) {
    std::vector<ValueId> below, above, zero_if;
    for (const ValueId id : sum.outer.below) below.push_back(rewrite(id));
    for (const ValueId id : sum.outer.above) above.push_back(rewrite(id));
    for (const ValueId id : sum.outer.zero_if) zero_if.push_back(rewrite(id));
    std::stable_partition(below.begin(), below.end(), [&](ValueId id) { return id == total_; });
    ValueId result = part_of(sum);
    for (const ValueId id : below) result = assign(ir::Op::divide, {result, id});
    for (const ValueId id : above) result = assign(ir::Op::multiply, {result, id});
    for (const ValueId id : zero_if) result = assign(ir::Op::select, {id, zero(), result});
    return result;
  }
  ValueId zero() { return values_.add({.constant = 0}); }

  ValueId rewrite(ValueId id) {
    if (const auto known = rewritten_.find(id); known != rewritten_.end()) return known->second;
    if (const auto sum = sums_.find(id); sum != sums_.end()) return rewritten_[id] = around(sum->second);
    Value value = values_[id];
    for (ValueId& arg : value.args) arg = rewrite(arg);
    return rewritten_[id] = value.args.empty() ? id : values_.add(std::move(value));
  }

  /// Why the rewritten root is not valid; "" if it is. The softmax must not need its own maximum or one of the old
  /// sums. The sums may only be used divided by the total: if every score is -inf, the total is 0 and the quotient is
  /// NaN, as without the rewrite.
  std::string fault(ValueId root) const {
    std::string undivided = "its sums are used without being divided by their total";
    for (const ValueId id : reachable(values_, softmax_))
      if (id == maximum_ || sums_.contains(id)) return "its scores or weights depend on its own sums";
    const auto is_sum = [&](ValueId id) { return id != parts_[0] && std::ranges::find(parts_, id) != parts_.end(); };
    if (is_sum(root)) return undivided;
    for (const ValueId id : reachable(values_, root)) {
      const Value& value = values_[id];
      if (std::ranges::none_of(value.args, is_sum)) continue;
      const bool divides = value.kind == Value::Kind::assign && value.op == ir::Op::divide;
      if (!divides || value.args[1] != total_ || value.args[0] == total_) return undivided;
    }
    return "";
  }

  Values& values_;
  const ir::Shape& shape_;
  ValueId root_, maximum_, score_ = ValueId::none, softmax_ = ValueId::none, total_ = ValueId::none;
  int old_axis_, axis_ = -1;
  std::map<ValueId, WeighedSum> sums_;  // by the reduction that is replaced
  std::vector<ValueId> parts_;
  std::map<ValueId, ValueId> rewritten_;
  std::string why_not_;
};

/// Merges reductions of the same elements over different axes. They arise if a producer is merged into two places.
ValueId share_reductions(Values& values, ValueId root) {
  std::vector<ValueId> known;
  return values.replace(root, [&](const Value& value) -> std::optional<ValueId> {
    if (value.kind != Value::Kind::reduce) return std::nullopt;
    for (const ValueId id : known) {
      const Value& other = values[id];
      if (other.op != value.op || values.extent(other.axis) != values.extent(value.axis)) continue;
      if (values.equivalent(value.args[0], other.args[0], {{values.axis(value.axis).name(), values.axis(other.axis)}}))
        return id;
    }
    known.push_back(values.add(value));
    return known.back();
  });
}

}  // namespace

std::optional<ValueId> online_softmax(Values& values, ValueId root, const ir::Shape& shape, std::string& why_not) {
  root = share_reductions(values, root);
  for (const ValueId id : reachable(values, root)) {
    if (!is_reduction(values, id, ir::Op::maximum)) continue;
    OnlineSoftmax softmax(values, root, shape, id);
    if (const auto result = softmax.run()) return result;
    if (why_not.empty()) why_not = softmax.why_not();
  }
  return std::nullopt;
}

}  // namespace deplo::rules::fusion
