// A stack of the outputs of 512 steps would be a kernel with 512 arguments and as many conditions for each element:
//   y = where (i < 1): h0[j, k] else where (i < 2): h1[j, k] …   →   h0 lies in y from byte 0 on, h1 from 4096 on, …
// If steps are joined along another dimension, they are first stacked along the first one, and the stack is transposed.
// If the pieces cannot follow each other in memory, groups of neighbours are joined first:
//   y = where (j < 1): a[i, k] …   →   y_0 = where (j < 1): a[i, k] … (32 of them);  y = where (j < 32): y_0[i, j, k] …
#include "rules/fusion/stacks.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/tensor/emitter.h"

namespace deplo::rules::fusion {
namespace {

using ir::Expr;
using ir::tensor::IndexMap;
using ir::tensor::Node;

/// A kernel with more arguments would choose among as many loads for each element, and take longer to compile than to
/// run.
constexpr std::size_t max_arguments = 32;

/// A join along one dimension: branch b covers the places from begin(b) up to ends[b].
struct Join {
  std::size_t dim = 0;
  std::vector<std::int64_t> ends;
  std::int64_t begin(std::size_t branch) const { return branch == 0 ? 0 : ends[branch - 1]; }
};

/// The dimension d and the constant c of a condition `coordinate(d) < c`.
std::optional<std::pair<std::size_t, std::int64_t>> limit(const Expr& condition, std::size_t rank) {
  if (condition.kind() != Expr::Kind::binary || condition.op() != ir::ExprOp::lt ||
      condition.rhs().kind() != Expr::Kind::constant)
    return std::nullopt;
  for (std::size_t d = 0; d < rank; ++d)
    if (condition.lhs() == ir::tensor::coordinate(d)) return std::pair{d, condition.rhs().value()};
  return std::nullopt;
}

std::optional<Join> join_of(const Node& node) {
  const auto* map = node.as<IndexMap>();
  if (map == nullptr || map->branches.size() <= ir::tensor::max_composed_branches) return std::nullopt;
  Join join;
  for (std::size_t b = 0; b + 1 < map->branches.size(); ++b) {
    const auto found = limit(map->branches[b].condition, node.type.shape.size());
    if (!found || (b > 0 && (found->first != join.dim || found->second <= join.ends.back()))) return std::nullopt;
    join.dim = found->first;
    join.ends.push_back(found->second);
  }
  join.ends.push_back(node.type.shape[join.dim]);
  return join;
}

/// The offset, in elements, of an element in row-major memory.
Expr place_of(const std::vector<Expr>& coordinates, const ir::Shape& shape) {
  Expr place = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) place = std::move(place) * shape[d] + coordinates[d];
  return place;
}

class Finder {
 public:
  Finder(const ir::tensor::Graph& graph, const Target& target) : old_(graph), alignment_(part_alignment(target)) {
    for (const Node& node : graph.nodes) names_.insert(node.name);
  }

  Stacks run() {
    const std::set<int> outputs(old_.outputs.begin(), old_.outputs.end());
    std::vector<int> at;  // for each node of the old graph: its number in the new one
    for (std::size_t i = 0; i < old_.nodes.size(); ++i) {
      Node node = old_.nodes[i];
      for (int& arg : node.args) arg = at[static_cast<std::size_t>(arg)];
      at.push_back(add(std::move(node)));
      if (outputs.contains(static_cast<int>(i))) outputs_.insert(at.back());
    }
    for (const int output : old_.outputs) made_.graph.outputs.push_back(at[static_cast<std::size_t>(output)]);
    return std::move(made_);
  }

 private:
  int append(Node node) {
    made_.graph.nodes.push_back(std::move(node));
    return static_cast<int>(made_.graph.nodes.size()) - 1;
  }

  int add(Node node) {
    const std::optional<Join> join = join_of(node);
    if (!join) return append(std::move(node));
    if (const auto offsets = offsets_of(node, *join)) return in_place(std::move(node), *offsets);
    if (join->dim > 0) {
      Node first = with_dimension_first(node, join->dim);
      if (const auto offsets = offsets_of(first, {0, join->ends})) {
        first.name = fresh(node.name);
        node.op = moved_back(node.type.shape, join->dim);
        node.args = {in_place(std::move(first), *offsets)};
        return append(std::move(node));
      }
    }
    return append(node.args.size() > max_arguments ? by_neighbours(std::move(node), *join) : node);
  }

  int in_place(Node node, const std::vector<std::int64_t>& offsets) {
    const std::vector<int> pieces = node.args;
    const int whole = append(std::move(node));
    made_.wholes.insert(whole);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      made_.parts[pieces[i]] = {whole, offsets[i]};
      made_.stored.insert(pieces[i]);
    }
    return whole;
  }

  /// The join with its joined dimension moved to the front. The steps of torch.stack(hs, 1) then follow each other in
  /// memory.
  static Node with_dimension_first(Node node, std::size_t dim) {
    const auto moved = [dim](std::size_t d) { return d == dim ? 0 : d < dim ? d + 1 : d; };
    ir::Shape& shape = node.type.shape;
    std::rotate(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(dim),
                shape.begin() + static_cast<std::ptrdiff_t>(dim) + 1);
    ir::Substitution to;
    for (std::size_t d = 0; d < shape.size(); ++d)
      to.emplace_back(ir::tensor::coordinate(d).name(), ir::tensor::coordinate(moved(d)));
    IndexMap map = *node.as<IndexMap>();
    for (IndexMap::Branch& branch : map.branches) {
      for (Expr& e : branch.coordinates) e = ir::substitute(e, to);
      branch.condition = ir::substitute(branch.condition, to);
    }
    node.op = std::move(map);
    return node;
  }

  /// The map that moves the first dimension of a tensor back to `dim`.
  static IndexMap moved_back(const ir::Shape& shape, std::size_t dim) {
    std::vector<Expr> coordinates = ir::tensor::identity(shape);
    std::rotate(coordinates.begin(), coordinates.begin() + static_cast<std::ptrdiff_t>(dim),
                coordinates.begin() + static_cast<std::ptrdiff_t>(dim) + 1);
    return {{{0, std::move(coordinates), 1}}};
  }

  /// The offset in bytes of each argument in the node's memory; nullopt if the arguments cannot all be computed there.
  std::optional<std::vector<std::int64_t>> offsets_of(const Node& node, const Join& join) const {
    const auto& branches = node.as<IndexMap>()->branches;
    const ir::Shape& shape = node.type.shape;
    if (branches.size() != node.args.size()) return std::nullopt;  // an argument occurs twice
    std::int64_t row = ir::bytes(node.type.dtype);                 // bytes of one place of the joined dimension
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (d < join.dim && shape[d] > 1) return std::nullopt;
      if (d > join.dim) row *= shape[d];
    }
    std::vector<std::int64_t> offsets(node.args.size());
    for (std::size_t b = 0; b < branches.size(); ++b) {
      const auto arg = static_cast<std::size_t>(branches[b].arg);
      offsets[arg] = join.begin(b) * row;
      if (offsets[arg] % alignment_ != 0 || !is_piece(node, join, b)) return std::nullopt;
    }
    return offsets;
  }

  /// Is the argument of the branch, as a whole and in its order in memory, the branch's part of the result?
  bool is_piece(const Node& node, const Join& join, std::size_t branch) const {
    const IndexMap::Branch& read = node.as<IndexMap>()->branches[branch];
    const int id = node.args[static_cast<std::size_t>(read.arg)];
    const Node& piece = made_.graph.nodes[static_cast<std::size_t>(id)];
    if (ir::tensor::is_leaf(piece) || outputs_.contains(id) || made_.parts.contains(id) || made_.wholes.contains(id) ||
        piece.type.dtype != node.type.dtype)
      return false;
    ir::Shape rows = node.type.shape;
    rows[join.dim] = join.ends[branch] - join.begin(branch);
    if (ir::element_count(piece.type.shape) != ir::element_count(rows)) return false;
    const std::vector<Expr> own = ir::tensor::identity(rows);
    const Expr axis = ir::tensor::coordinate(join.dim);
    // The result's coordinate in terms of the piece's.
    const ir::Substitution shifted = {{axis.name(), axis + join.begin(branch)}};
    std::vector<Expr> coordinates = read.coordinates;
    for (Expr& e : coordinates) e = ir::substitute(e, shifted);
    const Expr distance = place_of(coordinates, piece.type.shape) - place_of(own, rows);
    return ir::simplify(distance, ir::tensor::coordinate_ranges(rows)).is_constant(0);
  }

  /// Joins groups of neighbours first, and then these joins. The groups are added to the graph.
  Node by_neighbours(Node node, Join join) {
    while (node.as<IndexMap>()->branches.size() > max_arguments) {
      IndexMap outer;
      std::vector<int> args;
      std::vector<std::int64_t> ends;
      const std::size_t count = join.ends.size();
      for (std::size_t first = 0; first < count; first += max_arguments) {
        const std::size_t last = std::min(first + max_arguments, count) - 1;
        const int neighbours = append(part_of(node, join, first, last));
        made_.stored.insert(neighbours);
        std::vector<Expr> coordinates = ir::tensor::identity(node.type.shape);
        coordinates[join.dim] = coordinates[join.dim] - join.begin(first);
        const Expr end = last + 1 == count ? Expr(1) : ir::less(ir::tensor::coordinate(join.dim), join.ends[last]);
        outer.branches.push_back({static_cast<int>(args.size()), clamped(coordinates, node, join, first, last), end});
        args.push_back(neighbours);
        ends.push_back(join.ends[last]);
      }
      node.op = std::move(outer);
      node.args = std::move(args);
      join.ends = std::move(ends);
    }
    return node;
  }

  /// Clamps the coordinates, because they must be in range even if the branch's condition is false.
  static std::vector<Expr> clamped(std::vector<Expr> coordinates, const Node& node, const Join& join, std::size_t first,
                                   std::size_t last) {
    const std::int64_t extent = join.ends[last] - join.begin(first);
    const ir::Ranges ranges = ir::tensor::coordinate_ranges(node.type.shape);
    coordinates[join.dim] = ir::simplify(min(Expr(ir::ExprOp::max, coordinates[join.dim], 0), extent - 1), ranges);
    return coordinates;
  }

  /// The branches from `first` to `last` as a tensor of their own.
  Node part_of(const Node& node, const Join& join, std::size_t first, std::size_t last) {
    Node part{fresh(node.name), node.type, IndexMap{}, {}};
    const std::int64_t begin = join.begin(first);
    part.type.shape[join.dim] = join.ends[last] - begin;
    const ir::Ranges ranges = ir::tensor::coordinate_ranges(part.type.shape);
    const Expr axis = ir::tensor::coordinate(join.dim);
    const ir::Substitution shifted = {{axis.name(), axis + begin}};
    IndexMap map;
    for (std::size_t b = first; b <= last; ++b) {
      IndexMap::Branch branch = node.as<IndexMap>()->branches[b];
      for (Expr& e : branch.coordinates) e = ir::simplify(ir::substitute(e, shifted), ranges);
      branch.condition = b == last ? Expr(1) : ir::less(axis, join.ends[b] - begin);
      const int arg = node.args[static_cast<std::size_t>(branch.arg)];
      const auto found = std::ranges::find(part.args, arg);
      branch.arg = static_cast<int>(found - part.args.begin());
      if (found == part.args.end()) part.args.push_back(arg);
      map.branches.push_back(std::move(branch));
    }
    part.op = std::move(map);
    return part;
  }

  std::string fresh(const std::string& name) {
    for (std::size_t i = 0;; ++i)
      if (std::string made = name + "_" + std::to_string(i); names_.insert(made).second) return made;
  }

  const ir::tensor::Graph& old_;
  Stacks made_;
  std::int64_t alignment_;
  std::set<int> outputs_;  // outputs in the new graph
  std::set<std::string, std::less<>> names_;
};

}  // namespace

/// PoCL's buffers begin at multiples of 128 bytes (CL_DEVICE_MEM_BASE_ADDR_ALIGN), which is also the size of a line of
/// a GPU's L2 cache. NVIDIA's OpenCL requires 512.
std::int64_t part_alignment(const Target& target) {
  return !target.cpu && target.dialect == Dialect::opencl ? 512 : 128;
}

Stacks find_stacks(const ir::tensor::Graph& graph, const Target& target) { return Finder(graph, target).run(); }

}  // namespace deplo::rules::fusion
