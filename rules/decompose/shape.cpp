// Index maps: nothing is computed.
#include <algorithm>
#include <numeric>

#include "rules/decompose/families.h"

namespace deplo::rules {

using ir::Expr;
using ir::ExprOp;
using ir::Shape;
using ir::tensor::coordinate;

namespace {

// Dimension d of the result is dimension order[d] of x.
int permuted(Emitter& e, const Call& call, const Dims& order) {
  const Coordinates from = identity(call.shape());
  Coordinates coordinates(order.size(), 0);
  for (std::size_t d = 0; d < order.size(); ++d) coordinates[static_cast<std::size_t>(order[d])] = from[d];
  return e.map(call.args[0], call.shape(), std::move(coordinates), "map");
}

}  // namespace

int transpose(Emitter& e, const Call& call) {
  Dims order(call.shape().size());
  std::iota(order.begin(), order.end(), 0);
  if (!order.empty())
    std::swap(order[static_cast<std::size_t>(call.node.integer("dim0"))],
              order[static_cast<std::size_t>(call.node.integer("dim1"))]);
  return permuted(e, call, order);
}

int permute(Emitter& e, const Call& call) { return permuted(e, call, call.node.integers("dims")); }

int reshape(Emitter& e, const Call& call) { return e.reshape(call.args[0], call.shape(), "map"); }

int expand(Emitter& e, const Call& call) {
  if (e.as_scalar(call.args[0]) != nullptr) return e.fill(call.args[0], call.shape(), "map");
  return e.broadcast(call.args[0], call.shape());
}

int slice(Emitter& e, const Call& call) {
  const auto dim = static_cast<std::size_t>(call.node.integer("dim"));
  Coordinates coordinates = identity(call.shape());
  coordinates[dim] = ir::simplify(coordinates[dim] * call.node.integer("step") + call.node.integer("start"));
  return e.map(call.args[0], call.shape(), std::move(coordinates), "map");
}

int select(Emitter& e, const Call& call) {
  Coordinates coordinates = identity(call.shape());
  coordinates.insert(coordinates.begin() + call.node.integer("dim"), call.node.integer("index"));
  return e.map(call.args[0], call.shape(), std::move(coordinates), "map");
}

namespace {

Expr clamp(const Expr& e, std::int64_t extent, const ir::Ranges& ranges) {
  return ir::simplify(Expr(ExprOp::max, ir::min(e, extent - 1), 0), ranges);
}

// Arguments one after the other along `dim`, each a branch. `extents`: along it; `own`: they have the dimension.
int joined(Emitter& e, const Call& call, const Dims& extents, bool own) {
  const auto dim = static_cast<std::size_t>(call.node.integer("dim"));
  const ir::Ranges ranges = ir::tensor::coordinate_ranges(call.shape());
  ir::tensor::IndexMap map;
  std::vector<int> args;
  std::int64_t begin = 0;
  for (std::size_t a = 0; a < call.args.size(); ++a) {
    Coordinates coordinates = identity(call.shape());
    const Expr along = coordinates[dim];
    const auto place = coordinates.begin() + static_cast<std::ptrdiff_t>(dim);
    if (own)
      *place = clamp(along - begin, extents[a], ranges);
    else
      coordinates.erase(place);
    begin += extents[a];
    const Expr condition = a + 1 == call.args.size() ? Expr(1) : ir::simplify(ir::less(along, begin), ranges);
    map.branches.push_back({static_cast<int>(a), std::move(coordinates), condition});
    args.push_back(e.convert(call.args[a], call.dtype()));
    if (e.as_scalar(args.back()) != nullptr) args.back() = e.fill(args.back(), {}, "item");
  }
  return e.add({call.node.name, call.node.type, std::move(map), std::move(args)});
}

}  // namespace

int cat(Emitter& e, const Call& call) {
  Dims extents;
  for (const int a : call.args) extents.push_back(e.extent(a, call.node.integer("dim")));
  return joined(e, call, extents, true);
}

int stack(Emitter& e, const Call& call) { return joined(e, call, Dims(call.args.size(), 1), false); }

}  // namespace deplo::rules
