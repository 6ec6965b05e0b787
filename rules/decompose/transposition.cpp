#include "rules/decompose/transposition.h"

#include <algorithm>
#include <set>

namespace deplo::rules {

using ir::Expr;
using ir::Shape;
namespace tensor = ir::tensor;

namespace {

const std::vector<Expr>& coordinates_of(const tensor::Node& map) {
  return map.as<tensor::IndexMap>()->branches.front().coordinates;
}

std::size_t dimension_of(const Expr& coordinate) { return static_cast<std::size_t>(coordinate.name()[0] - 'i'); }

// The last two dimensions with more than one element; fewer if there are none.
std::set<std::size_t> last_two(const Shape& shape) {
  std::set<std::size_t> result;
  for (std::size_t d = shape.size(); d-- > 0 && result.size() < 2;)
    if (shape[d] > 1) result.insert(d);
  return result;
}

}  // namespace

bool is_transposition(const tensor::Graph& graph, const tensor::Node& node) {
  const auto* map = node.as<tensor::IndexMap>();
  if (map == nullptr || map->branches.size() > 1 || node.args.size() != 1) return false;
  const Shape& source = graph.nodes[static_cast<std::size_t>(node.args[0])].type.shape;
  if (ir::element_count(source) != ir::element_count(node.type.shape)) return false;
  std::set<std::size_t> walked;
  for (std::size_t d = 0; d < source.size(); ++d) {
    const Expr& e = coordinates_of(node)[d];
    if (source[d] == 1) continue;
    if (e.kind() != Expr::Kind::variable || e.name().size() > 1 || dimension_of(e) >= node.type.shape.size())
      return false;
    if (node.type.shape[dimension_of(e)] != source[d] || !walked.insert(dimension_of(e)).second) return false;
  }
  return true;
}

bool parts_rows_and_columns(const tensor::Graph& graph, const tensor::Node& transposition) {
  const Shape& source = graph.nodes[static_cast<std::size_t>(transposition.args[0])].type.shape;
  std::set<std::size_t> images;
  const std::set<std::size_t> before = last_two(source), after = last_two(transposition.type.shape);
  for (const std::size_t d : before) images.insert(dimension_of(coordinates_of(transposition)[d]));
  return before.size() == 2 && images != after &&
         dimension_of(coordinates_of(transposition)[*before.rbegin()]) != *after.rbegin();
}

tensor::IndexMap inverse(const tensor::Node& transposition, const Shape& before) {
  const std::vector<Expr>& coordinates = coordinates_of(transposition);
  tensor::IndexMap::Branch branch{0, std::vector<Expr>(transposition.type.shape.size(), 0), 1};
  for (std::size_t d = 0; d < before.size(); ++d)
    if (before[d] > 1) branch.coordinates[dimension_of(coordinates[d])] = tensor::coordinate(d);
  return {{std::move(branch)}};
}

}  // namespace deplo::rules
