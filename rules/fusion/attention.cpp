// Attention in one kernel: scores, their softmax, and the product that the softmax weights.
//   s = q kᵀ;  m = max s;  l = sum e^(s - m);  p = e^(s - m) / l;  o = p v   →   o = one sweep over the keys
// No single merge pays off: a softmax inside a product would be computed for each of the product's columns. So the
// merges are tried together: first the kernels of the softmax, which become one reduction over loaded scores together
// with the product (online_softmax.cpp), and then the kernel that computes the scores.
#include <cmath>
#include <set>

#include "rules/fusion/guard.h"
#include "rules/fusion/loop_op.h"

namespace deplo::rules::fusion {
namespace {

bool exponentiates(const Values& values, const LoopOp& op) {
  return std::ranges::any_of(reachable(values, op.root), [&](ValueId id) {
    return values[id].kind == Value::Kind::assign && values[id].op == ir::Op::exp;
  });
}

/// The factor of a product with a constant; nullopt if `value` is not such a product, or if the factor is not a normal
/// number.
std::optional<double> scale_of(const Values& values, const Value& value) {
  const bool divides = value.op == ir::Op::divide;
  if (value.kind != Value::Kind::assign || value.dtype != ir::DType::f32 || (value.op != ir::Op::multiply && !divides))
    return std::nullopt;
  const Value& factor = values[value.args[1]];
  if (factor.kind != Value::Kind::constant) return std::nullopt;
  const double scale = divides ? 1 / factor.constant : factor.constant;
  if (!std::isnormal(static_cast<float>(scale))) return std::nullopt;  // 0 / 1e-40 is 0, but 0 * inf is NaN
  return scale;
}

/// Is the value a load times a constant?
bool scales(const Values& values, ValueId id) {
  return scale_of(values, values[id]) && values[values[id].args[0]].kind == Value::Kind::load;
}

/// Removes the constant factors of a product and multiplies `scale` by them.
ValueId without_scale(Values& values, ValueId id, double& scale) {
  Value value = values[id];
  if (const auto factor = scale_of(values, value)) {
    scale *= *factor;
    return without_scale(values, value.args[0], scale);
  }
  if (value.kind != Value::Kind::assign || value.op != ir::Op::multiply || value.dtype != ir::DType::f32) return id;
  for (ValueId& arg : value.args) arg = without_scale(values, arg, scale);
  return values.add(std::move(value));
}

bool finds_greatest(const Values& values, const LoopOp& op) {
  return std::ranges::any_of(reachable(values, op.root), [&](ValueId id) {
    return values[id].kind == Value::Kind::reduce && values[id].op == ir::Op::maximum;
  });
}

/// A kernel and the producers that have been merged into it.
class AttentionMerge {
 public:
  AttentionMerge(Fusion& fusion, std::size_t at) : fusion_(fusion), at_(at), merged_(fusion.ops[at]), taken_({at}) {
    found_.output = fusion.name(merged_.output);
  }

  /// Builds the merged kernel, but does not add it to the graph. Returns false if there is no attention, or if it stays
  /// several kernels.
  bool merge(bool guard) {
    if (!is_about_softmax(at_) || !becomes_one_sweep()) return false;
    if (!takes_in_scores()) return guard ? cannot(why_not_scores_) : false;
    take_in_scales();
    if (const std::string refused = guard ? refuse() : ""; !refused.empty())
      return cannot("the guard refuses one kernel: " + refused);
    says_ = found_.may_be_other = true;
    found_.kernels = taken_.size();
    return found_.fused = decide(guard);
  }

  /// Replaces the kernels in the graph by the merged one.
  void put() {
    fusion_.ops[at_] = merged_;
    taken_.erase(at_);
    for (const std::size_t i : std::vector(taken_.rbegin(), taken_.rend()))
      fusion_.ops.erase(fusion_.ops.begin() + static_cast<std::ptrdiff_t>(i));
  }

  /// What to report about the attention; nullopt if there is none.
  std::optional<FoundAttention> found() const { return says_ ? std::optional(found_) : std::nullopt; }

 private:
  bool cannot(std::string why) {
    found_.why = std::move(why);
    says_ = true;
    return false;
  }

  bool decide(bool guard) {
    const deplo::Value one = "fused", several = "split";
    const auto fixed = fusion_.decisions.fixed("attention");
    if (fixed) return *fixed == one;
    const bool pays = gain_.pays || !guard;
    const bool fuses = fusion_.decisions.take("attention", found_.output,
                                              pays ? std::vector{one, several} : std::vector{several, one}) == one;
    found_.why = fuses != pays ? "the graph's trail says so" : guard ? gain_.why : "nothing guards what is merged";
    return fuses;
  }

  bool becomes_one_sweep() {
    for (std::size_t i = at_; i-- > 0;)
      if (is_about_softmax(i) && !computes_scores(i)) take_in(i);
    split_axes(fusion_, merged_);
    std::string why_not;
    const auto root = online_softmax(fusion_.values, merged_.root, fusion_.shape(merged_), why_not);
    if (!root && why_not.empty() && has_kept_softmax_ && contracts(fusion_, fusion_.ops[at_]))
      why_not = "its probabilities are an output, or another kernel reads them";
    if (!root) return why_not.empty() ? false : cannot(why_not);
    merged_.root = *root;
    complete(fusion_, merged_);
    return true;
  }

  bool takes_in_scores() {
    const std::set<int> scores = read_by(true);
    bool contracts = false;
    why_not_scores_ = "its scores are read from memory";
    for (std::size_t i = at_; i-- > 0;) {
      const LoopOp& op = fusion_.ops[i];
      if (op.cost.reductions == 0 || !scores.contains(op.output)) continue;
      found_.scores = fusion_.shape(op);
      if (!gain_.pays) gain_ = attention_gain(fusion_, op);
      contracts |= take_in(i);
      why_not_scores_ = "its scores are an output, or another kernel reads them";
    }
    return contracts;
  }

  /// Does the kernel compute an e^x or a maximum, or does it read an e^x?
  bool is_about_softmax(std::size_t i) const {
    const LoopOp& one = fusion_.ops[i];
    return exponentiates(fusion_.values, one) || finds_greatest(fusion_.values, one) ||
           std::ranges::any_of(fusion_.ops, [&](const LoopOp& op) {
             return std::ranges::binary_search(one.reads, op.output) && exponentiates(fusion_.values, op);
           });
  }

  /// Does a taken kernel compute the maximum of this kernel's output? If so, a softmax in or before this kernel is a
  /// different one.
  bool computes_scores(std::size_t i) const {
    return std::ranges::any_of(taken_, [&](std::size_t taken) {
      const LoopOp& op = fusion_.ops[taken];
      return std::ranges::binary_search(op.reads, fusion_.ops[i].output) && finds_greatest(fusion_.values, op);
    });
  }

  bool take_in(std::size_t i) {
    LoopOp producer = fusion_.ops[i];
    const auto is_taken = [&](std::size_t consumer) { return taken_.contains(consumer); };
    if (fusion_.is_stored(producer.output) || !std::ranges::all_of(consumers(fusion_, producer), is_taken)) {
      has_kept_softmax_ |= std::ranges::binary_search(merged_.reads, producer.output) &&
                           exponentiates(fusion_.values, producer) && finds_greatest(fusion_.values, producer);
      return false;
    }
    // A value that is not stored need not be rounded, as in every merge. This also holds if the graph converts the
    // probabilities, as 16-bit models do after a softmax in f32.
    producer.root = unrounded(fusion_.values, producer.root, fusion_.type(producer.output).dtype);
    auto merged = splice(fusion_, producer, merged_);
    if (!merged) return false;
    merged_ = std::move(*merged);
    taken_.insert(i);
    return true;
  }

  /// If q or k are scaled before their product, moves the scale out of the sum, so that q and k are loaded instead of
  /// computed.
  void take_in_scales() {
    Values& values = fusion_.values;
    const std::set<int> scores = read_by(true), weights = read_by(false);
    for (std::size_t i = at_; i-- > 0;) {
      const LoopOp& op = fusion_.ops[i];
      if (scores.contains(op.output) && !weights.contains(op.output) && scales(values, op.root)) take_in(i);
    }
    merged_.root = values.replace(merged_.root, [&](const Value& value) -> std::optional<ValueId> {
      if (value.kind != Value::Kind::reduce || value.op != ir::Op::add) return std::nullopt;
      Value sum = value;
      double scale = 1;
      sum.args[0] = without_scale(values, value.args[0], scale);
      if (scale == 1) return std::nullopt;
      const ValueId factor = values.add({.constant = scale});
      return values.add({.kind = Value::Kind::assign, .op = ir::Op::multiply, .args = {values.add(sum), factor}});
    });
    complete(fusion_, merged_);
  }

  /// The tensors from which the scores of the softmax (`scores`), or else its weights, are computed.
  std::set<int> read_by(bool scores) const {
    const Values& values = fusion_.values;
    std::set<int> tensors;
    for (const ValueId softmax : reachable(values, merged_.root)) {
      if (values[softmax].kind != Value::Kind::softmax) continue;
      const std::vector<ValueId>& args = values[softmax].args;
      for (std::size_t i = 0; i < args.size(); ++i)
        for (const ValueId id : reachable(values, args[i]))
          if ((i == 0) == scores && values[id].kind == Value::Kind::load) tensors.insert(values[id].tensor);
    }
    return tensors;
  }

  /// Does a loaded index choose an element that a score is computed from, as in a table of relative position biases?
  /// CPUs would process the keys of such scores one by one.
  bool scores_gather() const {
    const Values& values = fusion_.values;
    for (const ValueId softmax : reachable(values, merged_.root))
      if (values[softmax].kind == Value::Kind::softmax)
        for (const ValueId id : reachable(values, values[softmax].args[0])) {
          const Value& value = values[id];
          const auto of_key = [&](ValueId arg) {
            return std::ranges::count(values.live(arg).reduces, values[softmax].axis) > 0;
          };
          if (value.kind == Value::Kind::load && std::ranges::any_of(value.args, of_key)) return true;
        }
    return false;
  }

  std::string refuse() {
    if (fusion_.target.cpu && scores_gather()) return "its scores use a gather, which cannot read the keys as vectors";
    Cost before;
    merged_.inflation = 1;
    for (const std::size_t i : taken_) {
      before.work += fusion_.ops[i].cost.work;
      before.reductions += fusion_.ops[i].cost.reductions;
      merged_.inflation = std::max(merged_.inflation, fusion_.ops[i].inflation);
    }
    merged_.inflation *= std::max(1.0, merged_.cost.work / before.work);
    return refuse_attention(fusion_, merged_, before);
  }

  Fusion& fusion_;
  std::size_t at_;
  LoopOp merged_;
  std::set<std::size_t> taken_;    // indices of merged kernels
  bool has_kept_softmax_ = false;  // a kernel outside `taken_` reads the softmax's result
  std::string why_not_scores_;
  AttentionGain gain_;
  FoundAttention found_;
  bool says_ = false;
};

}  // namespace

bool merge_attention(Fusion& fusion, std::size_t at, bool guard) {
  AttentionMerge attempt(fusion, at);
  const bool merges = attempt.merge(guard);
  if (const auto found = attempt.found()) fusion.attentions.insert_or_assign(fusion.ops[at].output, *found);
  if (merges) attempt.put();
  return merges;
}

}  // namespace deplo::rules::fusion
