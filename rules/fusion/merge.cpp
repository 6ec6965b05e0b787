// Merges producers into consumers as long as that is legal and pays off: the worklist of "A Principled ML Compiler
// Stack", part 1, on values instead of statements.
//   neg[a0] = negative(x[a0]);   exp[a0] = exp(neg[(a0 + 5)])   →   exp[a0] = exp(negative(x[(a0 + 5)]))
// σ need not be solved for: a kernel's output is indexed by its own free axes, so the index of a load of this output is
// σ. A reduce axis is bound by its reduction and moves with it. nest.h decides where statements stand.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "ir/tensor/inverse.h"
#include "ir/tensor/window.h"
#include "rules/fusion/guard.h"
#include "rules/fusion/loop_op.h"
#include "rules/rule.h"

namespace deplo::rules::fusion {

std::vector<std::size_t> consumers(const Fusion& fusion, const LoopOp& producer) {
  std::vector<std::size_t> result;
  for (const int reader : fusion.readers[static_cast<std::size_t>(producer.output)]) {
    const auto op = std::ranges::lower_bound(fusion.ops, reader, {}, &LoopOp::output);
    if (op != fusion.ops.end() && op->output == reader && std::ranges::binary_search(op->reads, producer.output))
      result.push_back(static_cast<std::size_t>(op - fusion.ops.begin()));
  }
  return result;
}

namespace {

/// Does one free axis alone walk the scanned dimension of the source, element by element from the first one on?
bool reads_in_order(const Value& load, int scan, const ir::Shape& source) {
  const auto along = static_cast<std::size_t>(scan);
  const ir::Expr& walked = load.index[along];
  if (walked.kind() != ir::Expr::Kind::variable || walked.name().size() != 1)
    return false;  // the names of other axes and gathered values, such as r0 and g1, have two letters
  for (std::size_t d = 0; d < source.size(); ++d)
    if (d != along && ir::depends_on(load.index[d], walked.name())) return false;
  return true;
}

}  // namespace

std::optional<LoopOp> splice(Fusion& fusion, const LoopOp& producer, const LoopOp& consumer) {
  if (!producer.axes.empty()) return std::nullopt;
  Values& values = fusion.values;
  const ir::Shape& shape = fusion.shape(producer);
  const int scan = scan_axis(values, {producer.root});
  bool legal = true;
  LoopOp merged = consumer;
  const auto in_place = [&](const Value& load) -> std::optional<ValueId> {
    if (load.kind != Value::Kind::load || load.tensor != producer.output) return std::nullopt;
    if ((!load.args.empty() && producer.cost.reductions > 0) || (scan >= 0 && !reads_in_order(load, scan, shape))) {
      legal = false;
      return std::nullopt;
    }
    ir::Substitution sigma;
    for (std::size_t d = 0; d < shape.size(); ++d)
      if (const ir::Expr axis = ir::tensor::coordinate(d); shape[d] > 1 && !(load.index[d] == axis))
        sigma.emplace_back(axis.name(), load.index[d]);
    return values.substitute(producer.root, sigma, fusion.shape(consumer), load.args);
  };
  merged.root = values.replace(consumer.root, in_place);
  for (Result& other : merged.others) other.root = values.replace(other.root, in_place);
  if (!legal) return std::nullopt;
  if (!scans_in_order(fusion, merged)) return std::nullopt;
  complete(fusion, merged);
  merged.inflation = inflation(fusion, merged, producer, consumer);
  return merged;
}

namespace {

/// Are the indices the kernel's axes in order, apart from zeros?
bool is_relabelling(const std::vector<ir::Expr>& index, const ir::Shape& shape) {
  std::vector<ir::Expr> walked, axes;
  for (const ir::Expr& e : index)
    if (!e.is_constant(0)) walked.push_back(e);
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (shape[d] > 1) axes.push_back(ir::tensor::coordinate(d));
  return walked == axes;
}

/// Merges kernels. Each step is one reason to merge two kernels. The steps are in one class because each of them
/// changes the list of kernels that the other steps walk.
class Merger {
 public:
  Merger(Fusion& fusion, bool guard) : fusion_(fusion), guard_(guard) {}

  /// Runs each step only when the steps before it have nothing left to do. Products belong to the reduction that sums
  /// them. What follows a reduction becomes its epilogue before it becomes an operand of another kernel. Merges that
  /// cost nothing come before merges that repeat work.
  void run() {
    while (pass(&Merger::inline_view) || pass(&Merger::feed_reduction) || pass(&Merger::add_epilogue) ||
           pass(&Merger::merge_into_values) || pass(&Merger::merge_free) || pass(&Merger::merge_single) ||
           (guard_ && pass(&Merger::recompute)) || pass(&Merger::write_reshaped) || pass(&Merger::write_transposed) ||
           pass(&Merger::write_as_scanned) || pass(&Merger::attention) ||
           (guard_ && (pass(&Merger::merge_refused) || pass(&Merger::recompute_refused)))) {
      std::erase_if(fusion_.attentions, [](const auto& one) { return !one.second.fused; });  // they are tried again
    }
  }

 private:
  using Step = bool (Merger::*)(std::size_t producer);

  /// Visits consumers before their producers.
  bool pass(Step step) {
    bool changed = false;
    for (std::size_t i = fusion_.ops.size(); i-- > 0;) changed |= !is_dropped(fusion_.ops[i]) && (this->*step)(i);
    std::erase_if(fusion_.ops, is_dropped);
    return changed;
  }

  std::vector<std::size_t> consumers(const LoopOp& producer) const { return fusion::consumers(fusion_, producer); }
  bool is_stored(const LoopOp& op) const { return fusion_.is_stored(op.output); }
  /// Marks the kernel. It is removed at the end of the pass, because a recurrence has tens of thousands of kernels, of
  /// which most are dropped.
  void drop(std::size_t op) {
    fusion_.ops[op].root = ValueId::none;
    fusion_.ops[op].reads.clear();
  }
  static bool is_dropped(const LoopOp& op) { return op.root == ValueId::none; }

  /// Merges a copy or a coordinate into every consumer. Nothing is computed twice. A gather is a copy, too, unless a
  /// consumer would look its elements up too often.
  bool inline_view(std::size_t at) {
    const Value& root = fusion_.values[fusion_.ops[at].root];
    const bool is_coordinate = root.kind == Value::Kind::index && root.args.empty();
    if (root.kind != Value::Kind::load && !is_coordinate && root.kind != Value::Kind::constant) return false;
    if (root.kind == Value::Kind::load && take_in_source(at, root)) return true;
    if (guard_ && is_copied_first(at) && (kept_.contains(fusion_.ops[at].output) || !decide(fusion_.ops[at], false)))
      return false;
    const LoopOp producer = fusion_.ops[at];
    bool changed = false, all = true;
    for (const std::size_t i : consumers(producer)) {
      auto merged = splice(fusion_, producer, fusion_.ops[i]);
      if (guard_ && merged && repeats_lookups(fusion_, *merged, producer, fusion_.ops[i])) merged.reset();
      changed |= merged.has_value();
      all &= merged.has_value();
      if (merged) fusion_.ops[i] = *std::move(merged);
    }
    if (all && !is_stored(producer)) drop(at);
    return changed;
  }

  /// Does a consumer read this view of an input several times, along a dimension that is not the last one in memory?
  /// Then a copy is made first, so that the consumer reads in order. Examples: the channels of a convolution without
  /// padding and, on CPUs, the rows of A.T @ B.
  bool is_copied_first(std::size_t at) const {
    const LoopOp& view = fusion_.ops[at];
    const Value& root = fusion_.values[view.root];
    const ir::Shape& shape = fusion_.shape(view);
    const bool of_input = root.kind == Value::Kind::load && root.args.empty() && !root.index.empty() &&
                          fusion_.graph.nodes[static_cast<std::size_t>(root.tensor)].as<ir::tensor::Input>() != nullptr;
    if (!of_input || shape.empty() || ir::element_count(shape) != ir::element_count(fusion_.type(root.tensor).shape) ||
        ir::depends_on(root.index.back(), ir::tensor::coordinate(shape.size() - 1).name()))
      return false;
    return std::ranges::any_of(consumers(view), [&](std::size_t i) {
      const LoopOp& reader = fusion_.ops[i];
      const bool repeats = ir::element_count(fusion_.shape(reader)) > ir::element_count(shape);
      return std::ranges::any_of(reachable(fusion_.values, reader.root), [&](ValueId id) {
        return (repeats && reads_windows(fusion_.values[id], view.output)) ||
               (fusion_.target.cpu && repeats_rows(id, view.output, fusion_.shape(reader)));
      });
    });
  }

  /// Is the tensor read along its last dimension once for each of many columns, as a matmul reads its rows?
  bool repeats_rows(ValueId id, int tensor, const ir::Shape& shape) const {
    const Value& load = fusion_.values[id];
    const Live& live = fusion_.values.live(id);
    if (load.kind != Value::Kind::load || load.tensor != tensor || shape.size() < 2) return false;
    const std::size_t columns = shape.size() - 1;
    if (shape[columns] < least_side_of_copy || (live.free >> columns & 1) != 0) return false;
    const bool sums = !live.reduces.empty();
    const ir::Expr along = sums ? fusion_.values.axis(live.reduces.back()) : ir::tensor::coordinate(columns - 1);
    const std::int64_t length = sums ? fusion_.values.extent(live.reduces.back()) : shape[columns - 1];
    return load.index.back() == along && length >= least_side_of_copy;
  }

  static bool reads_windows(const Value& load, int tensor) {
    return load.kind == Value::Kind::load && load.tensor == tensor &&
           std::ranges::any_of(load.index, ir::tensor::sums_axes);
  }

  /// If a copy only adds or drops dimensions of extent 1, and no other kernel reads its source, computes the source in
  /// the copy's shape. Example: sum(…, keepdim=True) and then [i, na, j].
  bool take_in_source(std::size_t at, const Value& load) {
    LoopOp& view = fusion_.ops[at];
    if (!load.args.empty() || !is_relabelling(load.index, fusion_.shape(view))) return false;
    const auto source = std::ranges::lower_bound(fusion_.ops, load.tensor, {}, &LoopOp::output);
    if (source == fusion_.ops.end() || source->output != load.tensor || is_stored(*source) ||
        consumers(*source).size() != 1)
      return false;
    const bool wider = ir::bytes(fusion_.type(view.output).dtype) > ir::bytes(fusion_.type(source->output).dtype);
    if (wider) return false;  // results stored in 16 bits stay in 16 bits
    const auto merged = splice(fusion_, *source, view);
    if (!merged) return false;
    view = *merged;
    drop(static_cast<std::size_t>(source - fusion_.ops.begin()));
    return true;
  }

  /// Calls splice only once for each pair of kernels, because every pass tries merges that were refused before.
  const std::optional<LoopOp>& spliced(const LoopOp& producer, const LoopOp& consumer) {
    const Pair key = {producer.output, producer.root, consumer.output, consumer.root};
    const auto known = spliced_.find(key);
    if (known != spliced_.end()) return known->second;
    return spliced_.emplace(key, splice(fusion_, producer, consumer)).first->second;
  }

  /// The only consumer of a kernel; nullptr if there are several, or if the output must be stored.
  LoopOp* only_consumer(const LoopOp& producer) {
    const auto readers = consumers(producer);
    return readers.size() == 1 && !is_stored(producer) ? &fusion_.ops[readers[0]] : nullptr;
  }

  static constexpr double no_growth = 1;

  bool merge_into(LoopOp* consumer, std::size_t at, double max_growth) {
    if (consumer == nullptr) return false;
    const LoopOp& producer = fusion_.ops[at];
    const std::optional<LoopOp> merged = spliced(producer, *consumer);
    if (!merged) return false;
    const double before = std::max(producer.inflation, consumer->inflation);
    if (guard_ &&
        (merged->inflation > before * max_growth || !refuse(fusion_, *merged, producer, *consumer).why.empty()))
      return false;
    if (guard_ && (kept_.contains(producer.output) || (max_growth > no_growth && !decide(producer, true))))
      return false;
    *consumer = *merged;
    drop(at);
    return true;
  }

  /// Decides whether the output of a kernel is computed where it is read. `first`: the heuristic's choice.
  bool decide(const LoopOp& producer, bool first) {
    const Fork fork = on_off_fork("merge", first);
    const bool merges =
        fusion_.decisions.take(fork.knob, fusion_.name(producer.output), fork.options) == deplo::Value{std::int64_t{1}};
    if (!merges) kept_.insert(producer.output);
    return merges;
  }

  /// Merges a pair that the guard refuses by its cost, if a decision asks for it. Runs when all earlier steps are done.
  bool merge_refused(std::size_t at) {
    const LoopOp& producer = fusion_.ops[at];
    LoopOp* const consumer = only_consumer(producer);
    if (consumer == nullptr || kept_.contains(producer.output)) return false;
    const std::optional<LoopOp> merged = spliced(producer, *consumer);
    if (!merged || !refuse(fusion_, *merged, producer, *consumer).by_cost || !decide(producer, false)) return false;
    *consumer = *merged;
    drop(at);
    return true;
  }

  /// The index in the shape `to` of the element at the kernel's own coordinates in the shape `from`.
  std::vector<ir::Expr> reshape_index(const ir::Shape& from, const ir::Shape& to) const {
    ir::Expr place = 0;
    for (std::size_t d = 0; d < from.size(); ++d)
      place = std::move(place) * from[d] + (from[d] > 1 ? ir::tensor::coordinate(d) : 0);
    std::vector<ir::Expr> index(to.size());
    std::int64_t stride = 1;
    for (std::size_t d = to.size(); d-- > 0; stride *= to[d])
      index[d] = fusion_.values.substitute(place / stride % to[d], {}, from);
    return index;
  }

  /// If the elementwise operations of a consumer see a kernel's rows in other dimensions, merges them into the kernel.
  /// It keeps its axes and writes each element where the operations would. Example: a group norm scales a group of
  /// channels in the sweep that normalises it.
  bool write_reshaped(std::size_t at) {
    const LoopOp& producer = fusion_.ops[at];
    LoopOp* const consumer = only_consumer(producer);
    if (!guard_ || consumer == nullptr || kept_.contains(producer.output) || producer.cost.reductions == 0 ||
        consumer->cost.reductions > 0 || !producer.axes.empty() || !consumer->axes.empty())
      return false;
    const ir::Shape &rows = fusion_.shape(producer), &shape = fusion_.shape(*consumer);
    if (ir::element_count(rows) != ir::element_count(shape)) return false;
    const std::vector<ir::Expr>* const read = only_index(*consumer, producer.output);
    return read != nullptr && *read == reshape_index(shape, rows) &&
           merge_along(at, *consumer, reshape_index(rows, shape));
  }

  /// The index at which all loads of the tensor read it. nullptr if there are several, or if a loaded value chooses the
  /// element.
  const std::vector<ir::Expr>* only_index(const LoopOp& op, int tensor) const {
    const std::vector<ir::Expr>* index = nullptr;
    for (const ValueId id : reachable(fusion_.values, op.root)) {
      const Value& load = fusion_.values[id];
      if (load.kind != Value::Kind::load || load.tensor != tensor) continue;
      if (!load.args.empty() || (index != nullptr && *index != load.index)) return nullptr;
      index = &load.index;
    }
    return index;
  }

  /// Merges a producer into a consumer that takes over the producer's axes. The merged kernel writes the element at
  /// `index`.
  bool merge_along(std::size_t at, LoopOp& consumer, std::vector<ir::Expr> index) {
    const LoopOp& producer = fusion_.ops[at];
    LoopOp moved = consumer;
    moved.axes = fusion_.shape(producer);
    ir::Substitution sigma;
    for (std::size_t d = 0; d < index.size(); ++d) sigma.emplace_back(ir::tensor::coordinate(d).name(), index[d]);
    moved.index = std::move(index);
    moved.root = fusion_.values.substitute(consumer.root, sigma, moved.axes);
    const std::optional<LoopOp> merged = splice(fusion_, producer, moved);
    if (!merged || !refuse(fusion_, *merged, producer, moved).why.empty()) return false;
    consumer = *merged;
    drop(at);
    return true;
  }

  /// If elementwise operations read a scan in an order other than that of its lines, merges them into the scan, which
  /// keeps its axes. Such scans run along a dimension other than the last, or are reversed, or scan parts of a line.
  bool write_as_scanned(std::size_t at) {
    const LoopOp& producer = fusion_.ops[at];
    LoopOp* const consumer = only_consumer(producer);
    if (consumer == nullptr || kept_.contains(producer.output) || scan_axis(fusion_.values, {producer.root}) < 0 ||
        consumer->cost.reductions > 0 || !producer.axes.empty() || !consumer->axes.empty())
      return false;
    const std::vector<ir::Expr>* const read = only_index(*consumer, producer.output);
    if (read == nullptr) return false;
    auto index = ir::tensor::inverse(*read, fusion_.shape(producer), fusion_.shape(*consumer));
    return index && merge_along(at, *consumer, std::move(*index));
  }

  /// If an output of the graph is the result of a contraction in another order of dimensions, lets the contraction
  /// write it directly. The contraction's axes keep their order. CPUs then write single lanes, which takes little time
  /// compared with the sums. GPUs copy the result instead, after it was written in order.
  bool write_transposed(std::size_t at) {
    const LoopOp& producer = fusion_.ops[at];
    LoopOp* const consumer = only_consumer(producer);
    if (!guard_ || consumer == nullptr || !fusion_.is_output(*consumer) || kept_.contains(producer.output) ||
        !producer.axes.empty())
      return false;
    const Value& view = fusion_.values[consumer->root];
    const bool has_columns = has_rows_and_columns(fusion_, producer) || reduces_windows(fusion_, producer);
    if (view.kind != Value::Kind::load || !view.args.empty() || !has_columns) return false;
    const ir::Shape shape = fusion_.shape(producer);
    std::optional<std::vector<ir::Expr>> index = ir::tensor::inverse(view.index, shape, fusion_.shape(*consumer));
    if (!index || !decide(producer, fusion_.target.cpu)) return false;
    LoopOp merged = producer;
    merged.output = consumer->output;
    merged.axes = shape;
    merged.index = std::move(*index);
    *consumer = std::move(merged);
    drop(at);
    return true;
  }

  bool feed_reduction(std::size_t at) {
    LoopOp* consumer = only_consumer(fusion_.ops[at]);
    const bool fits = consumer != nullptr && fusion_.values[consumer->root].kind == Value::Kind::reduce;
    return fits && merge_into(consumer, at, no_growth);
  }
  bool add_epilogue(std::size_t at) {
    LoopOp* consumer = only_consumer(fusion_.ops[at]);
    const bool fits = consumer != nullptr && consumer->cost.reductions == 0 && fusion_.ops[at].cost.reductions > 0;
    return fits && merge_into(consumer, at, no_growth);
  }
  /// Merges into consumers that compute something, not into a copy in another order. So a consumer that reads a
  /// contraction several times (x * sigmoid(x)) first becomes one kernel, and then the contraction's epilogue.
  bool merge_into_values(std::size_t at) {
    LoopOp* consumer = only_consumer(fusion_.ops[at]);
    const bool computes = consumer != nullptr && fusion_.values[consumer->root].kind != Value::Kind::load;
    return computes && merge_into(consumer, at, no_growth);
  }
  bool merge_free(std::size_t at) { return merge_into(only_consumer(fusion_.ops[at]), at, no_growth); }
  bool merge_single(std::size_t at) { return merge_into(only_consumer(fusion_.ops[at]), at, max_inflation); }

  /// Computes a producer without reductions in each of its consumers, if that moves fewer bytes.
  bool recompute(std::size_t at) { return recompute(at, true); }
  /// The same although it moves more bytes. Runs when all earlier steps are done.
  bool recompute_refused(std::size_t at) { return recompute(at, false); }

  bool recompute(std::size_t at, bool if_fewer_bytes) {
    const LoopOp& producer = fusion_.ops[at];
    const auto readers = consumers(producer);
    if (producer.cost.reductions > 0 || readers.empty() || kept_.contains(producer.output)) return false;
    double before = is_stored(producer) ? 0 : producer.cost.bytes, after = 0;
    std::vector<LoopOp> merged;
    for (const std::size_t i : readers) {
      const LoopOp& consumer = fusion_.ops[i];
      std::optional<LoopOp> one = spliced(producer, consumer);
      if (!one || !refuse(fusion_, *one, producer, consumer).why.empty()) return false;
      before += consumer.cost.bytes;
      after += one->cost.bytes;
      merged.push_back(std::move(*one));
    }
    if ((after <= before) != if_fewer_bytes || !decide(producer, if_fewer_bytes)) return false;
    for (std::size_t i = 0; i < readers.size(); ++i) fusion_.ops[readers[i]] = std::move(merged[i]);
    if (!is_stored(fusion_.ops[at])) drop(at);
    return true;
  }

  bool attention(std::size_t at) { return at < fusion_.ops.size() && merge_attention(fusion_, at, guard_); }

  Fusion& fusion_;
  bool guard_;
  std::set<int> kept_;                                  // outputs that a decision keeps in memory
  using Pair = std::tuple<int, ValueId, int, ValueId>;  // output and root of producer and consumer
  std::map<Pair, std::optional<LoopOp>> spliced_;
};

}  // namespace

void merge(Fusion& fusion, bool guard) { Merger(fusion, guard).run(); }

}  // namespace deplo::rules::fusion
