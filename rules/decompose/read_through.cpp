#include "rules/decompose/read_through.h"

#include <algorithm>

namespace deplo::rules {

using ir::Expr;
using ir::ExprOp;
using ir::Shape;
namespace tensor = ir::tensor;
using tensor::IndexMap;

namespace {

// g1, g2, … are the only variables with more than a letter.
bool reads_value(const Expr& e) {
  if (e.kind() == Expr::Kind::variable) return e.name().size() > 1;
  return e.kind() == Expr::Kind::binary && (reads_value(e.lhs()) || reads_value(e.rhs()));
}

}  // namespace

bool gathers(const IndexMap& map) {
  return std::any_of(map.branches.begin(), map.branches.end(), [](const IndexMap::Branch& b) {
    return std::any_of(b.coordinates.begin(), b.coordinates.end(), reads_value);
  });
}

// A coordinate alone is replaced by an expression that is simple already: most maps only permute.
Expr at(const Expr& e, const Coordinates& coordinates, const Shape& shape) {
  if (e.kind() == Expr::Kind::constant) return e;
  if (e.kind() == Expr::Kind::variable) return coordinates[static_cast<std::size_t>(e.name()[0] - 'i')];
  ir::Substitution values;
  values.reserve(coordinates.size());
  for (std::size_t d = 0; d < coordinates.size(); ++d)
    values.emplace_back(tensor::coordinate(d).name(), coordinates[d]);
  return ir::simplify(ir::substitute(e, values), tensor::coordinate_ranges(shape));
}

namespace {

Expr both(const Expr& a, const Expr& b) {
  if (a.is_constant(1)) return b;
  return b.is_constant(1) ? a : Expr(ExprOp::land, a, b);
}

// The coordinate of a dimension of extent 1 is 0, so that equal maps are found to be equal.
Coordinates normal(const Coordinates& coordinates, const Shape& shape) {
  Coordinates result = coordinates;
  for (Expr& e : result)
    if (e.kind() == Expr::Kind::variable && e.name().size() == 1 &&
        shape[static_cast<std::size_t>(e.name()[0] - 'i')] == 1)
      e = 0;
  return result;
}

// The index map that a branch may read past: nullptr where there is none.
const IndexMap* passable(const tensor::Node& source, bool gather) {
  const auto* map = source.as<IndexMap>();
  if (map == nullptr || gathers(*map)) return nullptr;
  return gather && map->branches.size() > 1 ? nullptr : map;
}

class Reads {
 public:
  explicit Reads(const Shape& shape) : shape_(shape) {}

  // False where no later branch is ever reached.
  bool add(Read read) {
    if (read.condition.kind() != Expr::Kind::constant)
      read.condition = ir::simplify(read.condition, tensor::coordinate_ranges(shape_));
    if (read.condition.is_constant(0)) return true;
    const bool last = read.condition.kind() == Expr::Kind::constant;
    if (last) read.condition = 1;
    reads_.push_back(std::move(read));
    return !last;
  }

  std::vector<Read> finish() {
    const auto same = [](const Read& a, const Read& b) {
      return a.source == b.source && a.coordinates == b.coordinates;
    };
    while (reads_.size() > 1 && same(reads_[reads_.size() - 2], reads_.back())) reads_.erase(reads_.end() - 2);
    return std::move(reads_);
  }

 private:
  const Shape& shape_;
  std::vector<Read> reads_;
};

}  // namespace

std::vector<Read> read_through(const tensor::Graph& graph, const tensor::Node& node) {
  const auto& map = *node.as<IndexMap>();
  const Shape& shape = node.type.shape;
  const bool gather = gathers(map);
  Reads reads(shape);
  for (const IndexMap::Branch& b : map.branches) {
    const int id = node.args[static_cast<std::size_t>(b.arg)];
    const tensor::Node& source = graph.nodes[static_cast<std::size_t>(id)];
    const Coordinates here = normal(b.coordinates, shape);
    const IndexMap* inner = passable(source, gather);
    if (inner == nullptr) {
      if (!reads.add({id, here, b.condition})) break;
      continue;
    }
    bool open = true;
    for (const IndexMap::Branch& p : inner->branches) {
      Read read{source.args[static_cast<std::size_t>(p.arg)], {}, both(b.condition, at(p.condition, here, shape))};
      for (const Expr& e : p.coordinates) read.coordinates.push_back(at(e, here, shape));
      if (!(open = reads.add(std::move(read)))) break;
    }
    if (!open) break;
  }
  return reads.finish();
}

}  // namespace deplo::rules
