#include "rules/decompose/read_through.h"

#include <algorithm>

#include "ir/tensor/window.h"

namespace deplo::rules {

using ir::Expr;
using ir::ExprOp;
using ir::Shape;
namespace tensor = ir::tensor;
using tensor::IndexMap;

namespace {

// Returns whether the expression contains the value of an argument: g1, g2, … Other variables have a single letter.
bool reads_value(const Expr& e) {
  if (e.kind() == Expr::Kind::variable) return e.name().size() > 1;
  return e.kind() == Expr::Kind::binary && (reads_value(e.lhs()) || reads_value(e.rhs()));
}

}  // namespace

bool gathers(const IndexMap& map) {
  return std::ranges::any_of(map.branches,
                             [](const IndexMap::Branch& b) { return std::ranges::any_of(b.coordinates, reads_value); });
}

// A single variable is replaced without simplification: its replacement is already simple, and most maps only permute.
Expr at(const Expr& e, const Coordinates& coordinates, const ir::Ranges& ranges) {
  if (e.kind() == Expr::Kind::constant) return e;
  if (e.kind() == Expr::Kind::variable) return coordinates[static_cast<std::size_t>(e.name()[0] - 'i')];
  ir::Substitution values;
  values.reserve(coordinates.size());
  for (std::size_t d = 0; d < coordinates.size(); ++d)
    values.emplace_back(tensor::coordinate(d).name(), coordinates[d]);
  return ir::simplify(ir::substitute(e, values), ranges);
}

namespace {

// Narrows the ranges to where the condition holds, or to where it does not hold. The condition is x < c, c < x or, if
// it holds, a conjunction of these. Other conditions change nothing.
void narrow(ir::Ranges& ranges, const Expr& condition, bool holds) {
  if (condition.kind() != Expr::Kind::binary) return;
  const Expr &l = condition.lhs(), &r = condition.rhs();
  if (condition.op() == ExprOp::land && holds) {
    narrow(ranges, l, true);
    narrow(ranges, r, true);
  }
  if (condition.op() != ExprOp::lt) return;
  for (auto& [name, range] : ranges) {
    if (l == ir::var(name) && r.kind() == Expr::Kind::constant)
      holds ? range.high = std::min(range.high, r.value() - 1) : range.low = std::max(range.low, r.value());
    if (r == ir::var(name) && l.kind() == Expr::Kind::constant)
      holds ? range.low = std::max(range.low, l.value() + 1) : range.high = std::min(range.high, l.value());
  }
}

// Returns the conjunction of the two conditions. Where one of them holds, the other may already be decided.
Expr both(const Expr& outer, const Expr& inner, const ir::Ranges& ranges) {
  if (inner.is_constant(1)) return outer.is_constant(1) ? outer : ir::simplify(outer, ranges);
  ir::Ranges where = ranges;
  narrow(where, outer, true);
  const Expr rest = ir::simplify(inner, where);
  if (rest.kind() == Expr::Kind::constant) return rest.is_constant(0) ? rest : ir::simplify(outer, ranges);
  where = ranges;
  narrow(where, rest, true);
  const Expr first = ir::simplify(outer, where);
  return first.is_constant(1) ? rest : Expr(ExprOp::land, outer, rest);
}

// Replaces the coordinate of each dimension of extent 1 by 0, so that equal maps compare equal.
Coordinates normal(const Coordinates& coordinates, const Shape& shape) {
  Coordinates result = coordinates;
  for (Expr& e : result)
    if (e.kind() == Expr::Kind::variable && e.name().size() == 1 &&
        shape[static_cast<std::size_t>(e.name()[0] - 'i')] == 1)
      e = 0;
  return result;
}

// Returns the source's index map if a branch can be merged with it, otherwise nullptr.
const IndexMap* passable(const tensor::Node& source, bool gather) {
  const auto* map = source.as<IndexMap>();
  if (map == nullptr || gathers(*map)) return nullptr;
  return gather && map->branches.size() > 1 ? nullptr : map;
}

// Collects branches, and the ranges of the coordinates that no branch so far covers.
class Reads {
 public:
  explicit Reads(ir::Ranges ranges) : open_(std::move(ranges)) {}

  std::size_t size() const { return reads_.size(); }

  // Adds a read that happens where both its own condition and `outer` hold.
  void add(Read read, const Expr& outer) {
    if (closed_) return;
    read.condition = both(outer, read.condition, open_);
    if (read.condition.is_constant(0)) return;
    closed_ = read.condition.kind() == Expr::Kind::constant;
    if (closed_) read.condition = 1;
    narrow(open_, read.condition, false);
    reads_.push_back(std::move(read));
  }

  std::vector<Read> finish() {
    const auto same = [](const Read& a, const Read& b) {
      return a.source == b.source && a.coordinates == b.coordinates;
    };
    while (reads_.size() > 1 && same(reads_[reads_.size() - 2], reads_.back())) reads_.erase(reads_.end() - 2);
    return std::move(reads_);
  }

 private:
  ir::Ranges open_;
  bool closed_ = false;
  std::vector<Read> reads_;
};

// Chains of reshapes could double an expression at each step, and chains of concatenations the branches. A map that
// would exceed this limit is not merged.
constexpr int max_terms = 64;

bool is_small(const Coordinates& coordinates) {
  return std::ranges::all_of(coordinates, [](const Expr& e) { return terms(e, max_terms) <= max_terms; });
}

// Returns whether the node reorders an input of the graph so that the input's last dimension is not the node's last.
bool reorders_input(const tensor::Graph& graph, const tensor::Node& node) {
  const tensor::Node& source = graph.nodes[static_cast<std::size_t>(node.args[0])];
  const auto& coordinates = node.as<IndexMap>()->branches.front().coordinates;
  return source.as<tensor::Input>() != nullptr && !coordinates.empty() && !node.type.shape.empty() &&
         source.type.shape.back() > 1 && ir::element_count(source.type.shape) == ir::element_count(node.type.shape) &&
         !ir::depends_on(coordinates.back(), tensor::coordinate(node.type.shape.size() - 1).name());
}

// Returns whether the coordinates read windows: some elements several times, at the sum of two coordinates.
bool reads_windows(const Coordinates& coordinates, const Shape& shape, const Shape& source) {
  return ir::element_count(shape) > ir::element_count(source) && std::ranges::any_of(coordinates, tensor::sums_axes);
}

// Returns the reads through the branches of `inner` at `here`; empty if an expression becomes too large.
std::vector<Read> pass(const tensor::Node& source, const IndexMap& inner, const Coordinates& here,
                       const ir::Ranges& ranges) {
  std::vector<Read> reads;
  for (const IndexMap::Branch& p : inner.branches) {
    Read& read = reads.emplace_back();
    read.source = source.args[static_cast<std::size_t>(p.arg)];
    for (const Expr& e : p.coordinates) read.coordinates.push_back(at(e, here, ranges));
    read.condition = at(p.condition, here, ranges);
    if (!is_small(read.coordinates) || terms(read.condition, max_terms) > max_terms) return {};
  }
  return reads;
}

// Returns whether the reads stay within the limit on branches. A slice of many joined tensors may read only few of
// them.
bool fits(Reads reads, const std::vector<Read>& more, const Expr& outer) {
  for (const Read& read : more) reads.add(read, outer);
  return reads.size() <= tensor::max_composed_branches;
}

}  // namespace

int terms(const Expr& e, int limit) {
  if (e.kind() != Expr::Kind::binary) return 1;
  const int left = terms(e.lhs(), limit);
  return left > limit ? left : 1 + left + terms(e.rhs(), limit - left);
}

std::vector<Read> read_through(const tensor::Graph& graph, const tensor::Node& node) {
  const auto& map = *node.as<IndexMap>();
  const ir::Ranges ranges = tensor::coordinate_ranges(node.type.shape);
  const bool gather = gathers(map);
  Reads reads(ranges);
  for (const IndexMap::Branch& b : map.branches) {
    const int id = node.args[static_cast<std::size_t>(b.arg)];
    const tensor::Node& source = graph.nodes[static_cast<std::size_t>(id)];
    Coordinates here = normal(b.coordinates, node.type.shape);
    const IndexMap* inner = passable(source, gather);
    std::vector<Read> passed;
    const bool grows = inner != nullptr && inner->branches.size() > 1 && map.branches.size() > 1;
    // Fusion decides whether a padded tensor, or an input in another order, is in memory before windows are read from
    // it.
    const bool windows = inner != nullptr && (inner->branches.size() > 1 || reorders_input(graph, source)) &&
                         reads_windows(here, node.type.shape, source.type.shape);
    if (inner != nullptr && !windows &&
        !(grows && reads.size() + inner->branches.size() > tensor::max_composed_branches))
      passed = pass(source, *inner, here, ranges);
    if (inner != nullptr && inner->branches.size() > tensor::max_composed_branches && !fits(reads, passed, b.condition))
      passed.clear();
    if (passed.empty()) passed.push_back({id, std::move(here), 1});
    for (Read& read : passed) reads.add(std::move(read), b.condition);
  }
  return reads.finish();
}

}  // namespace deplo::rules
