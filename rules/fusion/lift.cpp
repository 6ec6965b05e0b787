// Turns every node of Tensor IR into a kernel of its own.
//   s = sum(x, axis=-1) -> (4, 1)   →
//   for a0 in 0..4: # free { for a1 in 0..8: # reduce { … acc0 <- add(acc0, x[a0, a1]) } s[a0, 0] = acc0 }
#include <algorithm>
#include <unordered_set>

#include "core/mapped.h"
#include "ir/tensor/emitter.h"
#include "ir/types/float16.h"
#include "rules/fusion/loop_op.h"

namespace deplo::rules::fusion {
namespace {

using ir::tensor::identity;
using ir::tensor::Node;

class Lifter {
 public:
  explicit Lifter(Fusion& fusion) : fusion_(fusion), values_(fusion.values) {}

  ValueId operator()(const Node& node) {
    if (node.as<ir::tensor::Elementwise>() != nullptr) return elementwise(node);
    if (const auto* coordinate = node.as<ir::tensor::Coordinate>()) return whole(node, coordinate->value);
    if (const auto* reduction = node.as<ir::tensor::Reduction>()) return reduce(node, *reduction);
    if (const auto* scan = node.as<ir::tensor::Scan>()) return this->scan(node, *scan);
    return map(node, *node.as<ir::tensor::IndexMap>());
  }

 private:
  ValueId load(int tensor, std::vector<ir::Expr> index, std::vector<ValueId> args = {}) {
    const Node& node = fusion_.graph.nodes[static_cast<std::size_t>(tensor)];
    Value value;
    value.dtype = ir::value_type(node.type.dtype);
    if (const auto* scalar = node.as<ir::tensor::Scalar>()) {
      value.constant = scalar->value;
    } else {
      value.kind = Value::Kind::load;
      value.tensor = tensor;
      value.index = std::move(index);
      value.args = std::move(args);
    }
    return values_.add(std::move(value));
  }

  ValueId index(ir::Expr e, ir::DType dtype) {
    return values_.add({.kind = Value::Kind::index, .dtype = dtype, .index = {std::move(e)}});
  }

  ValueId whole(const Node& node, const ir::Expr& value) {
    Value result{.kind = Value::Kind::index, .dtype = node.type.dtype, .index = {value}};
    for (const int arg : node.args) result.args.push_back(load(arg, identity(node.type.shape)));
    return values_.add(std::move(result));
  }

  ValueId elementwise(const Node& node) {
    Value value{.kind = Value::Kind::assign,
                .dtype = ir::value_type(node.type.dtype),
                .op = node.as<ir::tensor::Elementwise>()->op};
    for (const int arg : node.args) value.args.push_back(load(arg, identity(node.type.shape)));
    return value.op == ir::Op::copy ? conversion(node, std::move(value)) : values_.add(std::move(value));
  }

  // A conversion between float types leaves the value as it is, because all floats are f32 in kernels.
  ValueId conversion(const Node& node, Value copy) {
    const ir::DType from = fusion_.type(node.args[0]).dtype, to = node.type.dtype;
    if (from != to && ir::value_type(from) == ir::value_type(to)) return copy.args[0];
    return values_.add(std::move(copy));
  }

  ValueId reduce(const Node& node, const ir::tensor::Reduction& reduction) {
    const ir::Shape& shape = fusion_.type(node.args[0]).shape;
    const auto d = static_cast<std::size_t>(reduction.axis);
    std::vector<ir::Expr> at = identity(shape);
    if (shape[d] == 1) return load(node.args[0], std::move(at));
    const int axis = values_.new_axis(shape[d]);
    at[d] = values_.axis(axis);
    const ValueId element = load(node.args[0], std::move(at));
    return values_.add({.kind = Value::Kind::reduce,
                        .dtype = ir::value_type(node.type.dtype),
                        .op = reduction.op,
                        .axis = axis,
                        .args = {element}});
  }

  ValueId scan(const Node& node, const ir::tensor::Scan& scan) {
    const ValueId element = load(node.args[0], identity(node.type.shape));
    if (node.type.shape.back() == 1) return element;
    return values_.add({.kind = Value::Kind::scan,
                        .dtype = ir::value_type(node.type.dtype),
                        .op = scan.op,
                        .axis = static_cast<int>(node.type.shape.size()) - 1,
                        .args = {element}});
  }

  // Selects the first branch whose condition holds. The select of the last branch is innermost.
  ValueId map(const Node& node, const ir::tensor::IndexMap& map) {
    std::vector<ValueId> gathered;
    for (std::size_t i = 1; gathers(map) && i < node.args.size(); ++i)
      gathered.push_back(load(node.args[i], identity(node.type.shape)));
    ValueId result = ValueId::none;
    for (std::size_t b = map.branches.size(); b-- > 0;) {
      const auto& branch = map.branches[b];
      const ValueId element = load(node.args[static_cast<std::size_t>(branch.arg)], branch.coordinates, gathered);
      if (result == ValueId::none || branch.condition.is_constant(1)) {
        result = element;
        continue;
      }
      const ValueId condition = index(branch.condition, ir::DType::boolean);
      result = values_.add({.kind = Value::Kind::assign,
                            .dtype = ir::value_type(node.type.dtype),
                            .op = ir::Op::select,
                            .args = {condition, element, result}});
    }
    return result;
  }

  // Does a coordinate contain a gathered value, g1 (the value of args[1]) or another one?
  static bool gathers(const ir::tensor::IndexMap& map) {
    std::vector<std::string> names;
    for (const auto& branch : map.branches)
      for (const ir::Expr& e : branch.coordinates) ir::collect_variables(e, names);
    return std::any_of(names.begin(), names.end(), [](const std::string& name) { return name[0] == 'g'; });
  }

  Fusion& fusion_;
  Values& values_;
};

}  // namespace

std::vector<ir::Expr> written(const Fusion& fusion, const LoopOp& op, int tensor) {
  return tensor == op.output && !op.axes.empty() ? op.index : identity(fusion.type(tensor).shape);
}

void replace_axes(Fusion& fusion, LoopOp& op, const ir::Substitution& sigma, ir::Shape axes) {
  op.index = written(fusion, op, op.output);
  for (ir::Expr& e : op.index) e = fusion.values.substitute(e, sigma, axes);
  op.root = fusion.values.substitute(op.root, sigma, axes);
  op.axes = std::move(axes);
}

std::vector<Result> results(const LoopOp& op) {
  std::vector<Result> all = op.others;
  all.push_back({op.output, op.root});
  return all;
}

bool computes(const LoopOp& op, int tensor) {
  return op.output == tensor || std::ranges::count(op.others, tensor, &Result::output) > 0;
}

std::vector<ValueId> roots(const LoopOp& op) { return mapped(results(op), &Result::root); }

std::vector<ValueId> reachable(const Values& values, const std::vector<ValueId>& roots) {
  std::vector<ValueId> result;
  std::unordered_set<ValueId> seen;  // a set, because only few values of the table are reachable
  const std::function<void(ValueId)> visit = [&](ValueId id) {
    if (!seen.insert(id).second) return;
    for (const ValueId arg : values[id].args) visit(arg);
    result.push_back(id);
  };
  for (const ValueId root : roots) visit(root);
  return result;
}

std::vector<ValueId> reachable(const Values& values, ValueId root) { return reachable(values, std::vector{root}); }

ValueId unrounded(const Values& values, ValueId id, ir::DType stored) {
  const Value& value = values[id];
  const bool rounds =
      value.kind == Value::Kind::assign && ((value.op == ir::Op::round_f16 && stored == ir::DType::f16) ||
                                            (value.op == ir::Op::round_bf16 && stored == ir::DType::bf16));
  return rounds ? value.args[0] : id;
}

int scan_axis(const Values& values, const std::vector<ValueId>& roots) {
  for (const ValueId id : reachable(values, roots))
    if (values[id].kind == Value::Kind::scan) return values[id].axis;
  return -1;
}

bool scans_in_order(const Fusion& fusion, const LoopOp& op) {
  const ir::Shape& shape = fusion.shape(op);
  int last = static_cast<int>(shape.size()) - 1;
  while (last > 0 && shape[static_cast<std::size_t>(last)] == 1) --last;
  bool scans = false, others = false;
  for (const ValueId id : reachable(fusion.values, roots(op))) {
    const Value& value = fusion.values[id];
    const bool in_order = value.kind == Value::Kind::scan && value.axis == last;
    scans |= value.kind == Value::Kind::scan;
    others |= value.kind == Value::Kind::scatter || (value.accumulates() && !in_order);
  }
  return !scans || !others;
}

void lift(Fusion& fusion) {
  Lifter lifter(fusion);
  for (std::size_t i = 0; i < fusion.graph.nodes.size(); ++i) {
    const Node& node = fusion.graph.nodes[i];
    if (is_leaf(node) || fusion.stacks.wholes.contains(static_cast<int>(i))) continue;
    LoopOp op{.output = static_cast<int>(i), .root = lifter(node)};
    complete(fusion, op);
    fusion.ops.push_back(std::move(op));
  }
}

}  // namespace deplo::rules::fusion
