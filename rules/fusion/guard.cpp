#include "rules/fusion/guard.h"

#include <algorithm>
#include <set>

#include "ir/tensor/window.h"
#include "rules/analysis/tile.h"
#include "rules/fusion/nest.h"

namespace deplo::rules::fusion {
namespace {

// Is the reduction a contraction, i.e. a reduction whose operands can be shared by tiles? It needs two operands a and
// b. a must depend on a free axis that b does not depend on, and the other way round. A softmax counts as one.
bool is_contraction(const Values& values, ValueId reduce) {
  if (values[reduce].kind == Value::Kind::softmax) return true;
  std::vector<std::uint32_t> operands;
  for (const ValueId id : reachable(values, reduce))
    if (values[id].kind == Value::Kind::load && !values.live(id).reduces.empty())
      operands.push_back(values.live(id).free);
  for (const std::uint32_t a : operands)
    for (const std::uint32_t b : operands)
      if ((a & ~b) != 0 && (b & ~a) != 0) return true;
  return false;
}

}  // namespace

bool has_rows_and_columns(const Fusion& fusion, const LoopOp& op) {
  std::vector<std::uint32_t> two;
  const ir::Shape& shape = fusion.shape(op);
  for (std::size_t d = shape.size(); d-- > 0 && two.size() < 2;)
    if (shape[d] > 1) two.push_back(std::uint32_t{1} << d);
  if (two.size() < 2) return false;
  const auto walks_one = [&](ValueId reduce, std::uint32_t one, std::uint32_t other) {
    return std::ranges::any_of(reachable(fusion.values, reduce), [&](ValueId id) {
      const Live& live = fusion.values.live(id);
      return fusion.values[id].kind == Value::Kind::load && !live.reduces.empty() && (live.free & one) != 0 &&
             (live.free & other) == 0;
    });
  };
  return std::ranges::any_of(reachable(fusion.values, op.root), [&](ValueId id) {
    return fusion.values[id].reduces() && walks_one(id, two[0], two[1]) && walks_one(id, two[1], two[0]);
  });
}

namespace {

// The number of operations from which the operands of an attention are computed: the operands of the product that
// computes a score, and the weights.
std::size_t operations_of_operands(const Fusion& fusion, const LoopOp& op) {
  const Values& values = fusion.values;
  const Nest nest(values, roots(op), fusion.shape(op));
  std::set<ValueId> operations;
  const auto add = [&](ValueId operand) {
    for (const ValueId id : reachable(values, operand))
      if (values[id].kind == Value::Kind::assign) operations.insert(id);
  };
  for (const ValueId id : nest.reductions()) {
    const std::vector<ValueId>& args = values[id].args;
    if (values[id].kind == Value::Kind::softmax)
      std::for_each(args.begin() + 1, args.end(), add);
    else if (nest.place(id).reduce >= 0)
      add(args[0]);
  }
  return operations.size();
}

// Does the kernel unpack numbers, such as 4-bit weights, for a consumer with few rows to multiply them with?
bool unpacks(const Fusion& fusion, const LoopOp& producer, const LoopOp& consumer) {
  const ir::TensorType& type = fusion.type(producer.output);
  const double written = static_cast<double>(ir::element_count(type.shape) * ir::bytes(type.dtype));
  if (producer.cost.reductions > 0 || written < least_unpacking * (producer.cost.bytes - written)) return false;
  const Values& values = fusion.values;
  const ir::Shape& shape = fusion.shape(consumer);
  std::int64_t max_times = 0;  // how often an element is computed
  for (const ValueId id : reachable(values, consumer.root)) {
    if (values[id].kind != Value::Kind::load || values[id].tensor != producer.output) continue;
    std::int64_t times = 1;
    for (std::size_t d = 0; d < shape.size(); ++d)
      if ((values.live(id).free >> d & 1) == 0) times *= shape[d];
    max_times = std::max(max_times, times);
  }
  return max_times > 0 && max_times <= max_rows_unpacked;
}

double growth(const LoopOp& merged, const LoopOp& producer, const LoopOp& consumer) {
  return merged.cost.work / (producer.cost.work + consumer.cost.work);
}

// Is the reduction a sum from which the scores of a softmax are computed?
bool belongs_to_scores(const Values& values, const Nest& nest, ValueId reduce) {
  return values[reduce].op == ir::Op::add && std::ranges::any_of(nest.reductions(), [&](ValueId id) {
           const Value& value = values[id];
           return value.kind == Value::Kind::softmax && value.axis == nest.place(reduce).reduce &&
                  std::ranges::count(reachable(values, value.args[0]), reduce) > 0;
         });
}

// The number of sums that a block holds for each score that it computes.
double sums_of_score(const Nest& nest, const Values& values, const Value& softmax) {
  const Place place{0, softmax.axis};
  return nest.executions(place) / nest.executions(place, values.live(softmax.args[0]).free);
}

std::optional<std::size_t> innermost(const ir::Shape& shape) {
  for (std::size_t d = shape.size(); d-- > 0;)
    if (shape[d] > 1) return d;
  return std::nullopt;
}

// Does the consumer's innermost axis walk the producer's innermost axis?
bool keeps_columns(const Fusion& fusion, const LoopOp& producer, const LoopOp& consumer) {
  const auto from = innermost(fusion.shape(producer)), to = innermost(fusion.shape(consumer));
  if (!from || !to) return true;
  return std::ranges::all_of(reachable(fusion.values, consumer.root), [&](ValueId id) {
    const Value& value = fusion.values[id];
    return value.kind != Value::Kind::load || value.tensor != producer.output ||
           ir::depends_on(value.index[*from], ir::tensor::coordinate(*to).name());
  });
}

// Is the output a padded tensor: a constant where a condition on coordinates does not hold?
bool is_padded(const Fusion& fusion, const LoopOp& op) {
  const Value& root = fusion.values[op.root];
  return root.kind == Value::Kind::assign && root.op == ir::Op::select &&
         fusion.values[root.args[0]].kind == Value::Kind::index &&
         fusion.values[root.args[2]].kind == Value::Kind::constant;
}

// Does the value load an element whose index is the sum of a free axis and a reduce axis?
bool is_of_window(const Values& values, ValueId id) {
  const Value& value = values[id];
  if (value.kind != Value::Kind::load || values.live(id).free == 0) return false;
  return std::ranges::any_of(value.index, [&](const ir::Expr& e) {
    return ir::tensor::sums_axes(e) && std::ranges::any_of(values.live(id).reduces, [&](int reduce) {
             return ir::depends_on(e, values.axis(reduce).name());
           });
  });
}

// Does the kernel reduce windows whose neighbours are neighbours in memory, or every second element? On CPUs such
// windows are the lanes of vectors.
bool pools_neighbours(const Fusion& fusion, const LoopOp& op, int tensor) {
  const auto column = innermost(fusion.shape(op));
  if (!fusion.target.cpu || !column) return false;
  return std::ranges::any_of(reachable(fusion.values, op.root), [&](ValueId id) {
    if (fusion.values[id].tensor != tensor || !is_of_window(fusion.values, id)) return false;
    const auto step = ir::coefficient(fusion.values[id].index.back(), ir::tensor::coordinate(*column).name());
    return step == 1 || step == 2;
  });
}

// Does the kernel sum products of elements of `tensor`, which it reads in windows?
bool multiplies_windows(const Fusion& fusion, const LoopOp& op, int tensor) {
  const Values& values = fusion.values;
  const auto is_window = [&](ValueId id) { return values[id].tensor == tensor && is_of_window(values, id); };
  return std::ranges::any_of(reachable(values, op.root), [&](ValueId id) {
    const Value& value = values[id];
    if (value.kind != Value::Kind::reduce || value.op != ir::Op::add) return false;
    const Value& summed = values[value.args[0]];
    return summed.kind == Value::Kind::assign && summed.op == ir::Op::multiply &&
           std::ranges::any_of(reachable(values, value.args[0]), is_window);
  });
}

// Does the innermost axis of a contraction walk an operand in steps that no vector load of a CPU supports, in any order
// of its dimensions? Vector loads support steps of one and two elements.
bool strides_columns(const Fusion& fusion, const LoopOp& op) {
  const auto column = innermost(fusion.shape(op));
  if (!fusion.target.cpu || !column || !contracts(fusion, op)) return false;
  return std::ranges::any_of(reachable(fusion.values, op.root), [&](ValueId id) {
    const Value& value = fusion.values[id];
    if (value.kind != Value::Kind::load || fusion.values.live(id).reduces.empty()) return false;
    return std::ranges::any_of(value.index, [&](const ir::Expr& e) {
      const auto step = ir::coefficient(e, ir::tensor::coordinate(*column).name());
      return step && *step > 2;
    });
  });
}

// Would the merge replace columns that fill vectors by lines of at most half a vector of the CPU? Longer lines cost
// less than two copies in another order (docs/performance.md, "Depthwise convolutions").
bool shortens_columns(const Fusion& fusion, const LoopOp& producer, const LoopOp& consumer) {
  const auto from = innermost(fusion.shape(producer)), to = innermost(fusion.shape(consumer));
  if (!fusion.target.cpu || !from || !to || !reduces_windows(fusion, producer) ||
      keeps_columns(fusion, producer, consumer))
    return false;
  const Values& values = fusion.values;
  const bool large = std::ranges::any_of(reachable(values, producer.root), [&](ValueId id) {
    return values[id].kind == Value::Kind::reduce && values.extent(values[id].axis) > max_elements_with_channels;
  });
  const std::int64_t lanes = fusion.target.vector_lanes;
  return !large && fusion.shape(producer)[*from] >= lanes && 2 * fusion.shape(consumer)[*to] <= lanes;
}

std::string refuse_shape(const Fusion& fusion, const LoopOp& op) {
  const Values& values = fusion.values;
  const Nest nest(values, roots(op), fusion.shape(op));
  int contractions = 0, products_of_scores = 0;
  for (const ValueId id : nest.reductions()) {
    const Place place = nest.place(id);
    if (place.reduce >= 0) {
      if (!belongs_to_scores(values, nest, id)) return "a reduction inside a reduction";
      if (++products_of_scores > 1) return "the scores contain more than one product";
      continue;
    }
    if (values[id].kind == Value::Kind::softmax && sums_of_score(nest, values, values[id]) > max_sums_of_score)
      return "a score has more sums than a block can hold";
    if (place.free != nest.parallel()) return "a reduction inside a sweep of a free axis";
    contractions += is_contraction(values, id) ? 1 : 0;
  }
  if (scan_axis(values, roots(op)) >= 0) return "";  // splice() lets no such kernel reduce, and its sweep is the scan
  if (contractions > 1) return "two contractions in one kernel";
  int sweeps = 0;
  double elements = 1;
  for (int d = nest.parallel(); d < nest.rank(); ++d) {
    const std::int64_t extent = fusion.shape(op)[static_cast<std::size_t>(d)];
    sweeps += extent > 1 ? 1 : 0;
    elements *= static_cast<double>(extent);
  }
  if (sweeps > 1) return "a sweep of more than one free axis inside a row";
  if (elements > longest_sweep) return "a sweep longer than a block should run";
  return "";
}

/// Returns the number of elements among which the kernel chooses by position.
std::size_t pieces(const Fusion& fusion, const LoopOp& op) {
  return static_cast<std::size_t>(std::ranges::count_if(reachable(fusion.values, roots(op)), [&](ValueId id) {
    const Value& value = fusion.values[id];
    return value.kind == Value::Kind::assign && value.op == ir::Op::select &&
           fusion.values[value.args[0]].kind == Value::Kind::index;
  }));
}

}  // namespace

bool reduces_windows(const Fusion& fusion, const LoopOp& op) {
  return std::ranges::any_of(reachable(fusion.values, op.root),
                             [&](ValueId id) { return is_of_window(fusion.values, id); });
}

bool contracts(const Fusion& fusion, const LoopOp& op) {
  const Nest nest(fusion.values, roots(op), fusion.shape(op));
  return std::ranges::any_of(nest.reductions(), [&](ValueId id) { return is_contraction(fusion.values, id); });
}

bool repeats_lookups(const Fusion& fusion, const LoopOp& merged, const LoopOp& producer, const LoopOp& consumer) {
  return merged.cost.scattered > max_lookup_growth * (producer.cost.lookups + consumer.cost.lookups) &&
         !unpacks(fusion, producer, consumer);
}

double inflation(const Fusion& fusion, const LoopOp& merged, const LoopOp& producer, const LoopOp& consumer) {
  const double more = unpacks(fusion, producer, consumer) ? 1 : std::max(1.0, growth(merged, producer, consumer));
  return more * std::max(producer.inflation, consumer.inflation);
}

Refusal refuse(const Fusion& fusion, const LoopOp& merged, const LoopOp& producer, const LoopOp& consumer) {
  if (std::string fault = refuse_shape(fusion, merged); !fault.empty()) return {fault};
  if (merged.cost.reductions > producer.cost.reductions + consumer.cost.reductions)
    return {"a reduction would run more often"};
  if (merged.inflation > max_inflation) return {"too much work would be repeated"};
  if (const std::size_t chosen = pieces(fusion, merged);
      chosen > max_pieces && chosen > pieces(fusion, producer) && chosen > pieces(fusion, consumer))
    return {"an element would be chosen among too many by its position"};
  const bool redone = growth(merged, producer, consumer) > max_contraction_growth && contracts(fusion, merged);
  if ((redone && !unpacks(fusion, producer, consumer)) ||
      operations_of_operands(fusion, merged) >
          operations_of_operands(fusion, producer) + operations_of_operands(fusion, consumer))
    return {"an operand of a contraction would be computed for every product", true};
  if (repeats_lookups(fusion, merged, producer, consumer)) return {"elements would be looked up for every use", true};
  if (is_padded(fusion, producer) &&
      (multiplies_windows(fusion, consumer, producer.output) || pools_neighbours(fusion, consumer, producer.output)))
    return {"each window would have to test for padding", true};
  if (strides_columns(fusion, merged) && !strides_columns(fusion, producer) && !strides_columns(fusion, consumer))
    return {"neighbouring columns would not be adjacent in memory", true};
  if (shortens_columns(fusion, producer, consumer)) return {"lines would not fill vectors, as columns do", true};
  if (has_rows_and_columns(fusion, producer) && !has_rows_and_columns(fusion, merged) &&
      !keeps_columns(fusion, producer, consumer))
    return {"the rows and columns of a contraction would be split", true};
  return {};
}

namespace {

// Are the sizes large enough for matrix instructions (m16n8k16)? There must be at least as many rows and keys as an
// instruction has, and the depth of each sum must be a multiple of the instruction's depth.
bool multiplies_by_atoms(const Fusion& fusion, const LoopOp& scores) {
  constexpr std::int64_t deep = 16;
  const ir::Shape& shape = fusion.shape(scores);
  if (shape.size() < 2 || shape.back() < deep || shape.end()[-2] < deep) return false;
  return std::ranges::all_of(reachable(fusion.values, scores.root), [&](ValueId id) {
    const Value& value = fusion.values[id];
    return value.kind != Value::Kind::reduce || fusion.values.extent(value.axis) % deep == 0;
  });
}

// Does the attention have deep heads on a GPU whose tensor cores do not multiply f32? A thread's sums then leave few
// warps per unit. On an H200, three kernels took 0.25 to 0.64 of the time of one kernel with heads of 128. With heads
// of 64 they took 0.62 to 1; one kernel is used there because it needs less memory (docs/performance.md, "On an H200").
// A few queries read the keys only once in any case.
bool is_slow_in_f32(const Fusion& fusion, const LoopOp& scores) {
  constexpr std::int64_t deep = 128, queries = 16;
  const ir::Shape& shape = fusion.shape(scores);
  if (!fusion.target.mma || shape.size() < 2 || shape.end()[-2] < queries) return false;
  return std::ranges::any_of(reachable(fusion.values, scores.root), [&](ValueId id) {
    const Value& value = fusion.values[id];
    return value.kind == Value::Kind::reduce && fusion.values.extent(value.axis) >= deep;
  });
}

}  // namespace

AttentionGain attention_gain(const Fusion& fusion, const LoopOp& scores) {
  const auto is_f32 = [&](int tensor) { return fusion.type(tensor).dtype == ir::DType::f32; };
  if (std::ranges::none_of(scores.reads, is_f32)) {
    if (!fusion.target.mma) return {false, "its operands are 16-bit and the target has no tensor cores"};
    if (!multiplies_by_atoms(fusion, scores)) return {false, "its sizes do not fit the instructions of tensor cores"};
    return {true, "tensor cores multiply its 16-bit operands"};
  }
  if (is_slow_in_f32(fusion, scores)) return {false, "its heads of f32 are deep"};
  return {true, "its scores of f32 stay on the chip"};
}

std::string refuse_attention(const Fusion& fusion, const LoopOp& merged, const Cost& before) {
  if (std::string fault = refuse_shape(fusion, merged); !fault.empty()) return fault;
  if (merged.cost.reductions > before.reductions) return "a reduction would run more often";
  if (merged.inflation > max_inflation) return "too much work would be repeated";
  return "";
}

}  // namespace deplo::rules::fusion
