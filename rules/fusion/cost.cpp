// The cost of a kernel, counted on its loop nest.
#include <algorithm>
#include <map>

#include "rules/fusion/nest.h"

#include "rules/fusion/loop_op.h"

namespace deplo::rules::fusion {
namespace {

// The number of elements that a load reads in total: the product of the ranges of its indices. 1 if it depends on no
// axis.
double touched(const Fusion& fusion, const Value& load, const ir::Shape& shape) {
  const Values& values = fusion.values;
  double count = 1;
  const ir::Shape& extents = fusion.type(load.tensor).shape;
  for (std::size_t d = 0; d < load.index.size(); ++d) {
    const auto range = ir::bounds(load.index[d], values.ranges(load.index[d], shape));
    const double width = range ? static_cast<double>(range->high - range->low) + 1 : static_cast<double>(extents[d]);
    count *= std::min(width, static_cast<double>(extents[d]));
  }
  return count;
}

double size_of(const ir::TensorType& type) {
  return static_cast<double>(ir::element_count(type.shape) * ir::bytes(type.dtype));
}

double bytes(const Fusion& fusion, const LoopOp& op, const std::vector<ValueId>& order) {
  std::map<int, double> elements;
  for (const ValueId id : order)
    if (fusion.values[id].kind == Value::Kind::load)
      elements[fusion.values[id].tensor] += touched(fusion, fusion.values[id], fusion.shape(op));
  double sum = 0;
  for (const Result& result : results(op)) sum += size_of(fusion.type(result.output));
  for (const auto& [tensor, count] : elements)
    sum += std::min(count * static_cast<double>(ir::bytes(fusion.type(tensor).dtype)), size_of(fusion.type(tensor)));
  return sum;
}

bool is_work(const Value& value) {
  return value.kind == Value::Kind::load || value.kind == Value::Kind::reduce || value.kind == Value::Kind::scan ||
         (value.kind == Value::Kind::assign && value.op != ir::Op::copy);
}

// The bit of the last free axis that has several elements; 0 if there is none.
std::uint32_t last_axis(const ir::Shape& shape) {
  for (std::size_t d = shape.size(); d-- > 0;)
    if (shape[d] > 1) return std::uint32_t{1} << d;
  return 0;
}

// Do the loaded indices of a lookup differ between neighbours, i.e. along the last axis or in a reduction? The elements
// of a row that is looked up share theirs.
bool is_scattered(const Values& values, const Value& lookup, std::uint32_t neighbours) {
  return std::ranges::any_of(lookup.args, [&](ValueId index) {
    const Live& live = values.live(index);
    return (live.free & neighbours) != 0 || !live.reduces.empty();
  });
}

// For each score: a difference, its exponential and the maximum. For each weight: a product, unless the weight is 1,
// and a sum.
void count_softmax(const Values& values, const Nest& nest, const Value& softmax, Cost& cost) {
  for (const ValueId arg : softmax.args) {
    const std::uint32_t free = values.live(softmax.args[0]).free | values.live(arg).free;
    const double count = nest.executions(Place{0, softmax.axis}, free);
    const bool is_score = arg == softmax.args[0], counts = values[arg].kind == Value::Kind::constant;
    cost.work += count * (is_score ? 3 : counts ? 1 : 2);
    cost.reductions += count;
  }
}

}  // namespace

void complete(Fusion& fusion, LoopOp& op) {
  const Nest nest(fusion.values, roots(op), fusion.shape(op));
  op.reads.clear();
  op.cost = {};
  const std::uint32_t neighbours = last_axis(fusion.shape(op));
  for (const ValueId id : nest.values()) {
    const Value& value = fusion.values[id];
    if (value.kind == Value::Kind::load) op.reads.push_back(value.tensor);
    if (value.kind == Value::Kind::softmax) count_softmax(fusion.values, nest, value, op.cost);
    if (!is_work(value)) continue;
    const bool reduces = value.kind == Value::Kind::reduce;
    const double count = nest.executions(id) * (reduces ? static_cast<double>(fusion.values.extent(value.axis)) : 1);
    op.cost.work += count;
    if (value.accumulates()) op.cost.reductions += count;
    if (value.kind != Value::Kind::load || value.args.empty()) continue;
    op.cost.lookups += count;
    if (is_scattered(fusion.values, value, neighbours)) op.cost.scattered += count;
  }
  std::sort(op.reads.begin(), op.reads.end());
  op.reads.erase(std::unique(op.reads.begin(), op.reads.end()), op.reads.end());
  for (const int tensor : op.reads) fusion.readers[static_cast<std::size_t>(tensor)].insert(op.output);
  for (const Result& result : results(op))
    op.cost.work += static_cast<double>(ir::element_count(fusion.type(result.output).shape));
  op.cost.bytes = bytes(fusion, op, nest.values());
}

}  // namespace deplo::rules::fusion
