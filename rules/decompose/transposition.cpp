#include "rules/decompose/transposition.h"

#include <algorithm>
#include <set>

#include "ir/tensor/inverse.h"

namespace deplo::rules {

using ir::Expr;
using ir::Shape;
namespace tensor = ir::tensor;

namespace {

// Returns the last two dimensions with more than one element, or fewer if the shape has fewer.
std::set<std::size_t> last_two(const Shape& shape) {
  std::set<std::size_t> result;
  for (std::size_t d = shape.size(); d-- > 0 && result.size() < 2;)
    if (shape[d] > 1) result.insert(d);
  return result;
}

bool parts_rows_and_columns(const std::vector<Expr>& coordinates, const Shape& source, const Shape& view) {
  const std::set<std::size_t> before = last_two(source), after = last_two(view);
  if (before.size() < 2) return false;
  const auto walked = [&](std::size_t dimension, std::size_t by) {
    return ir::depends_on(coordinates[dimension], tensor::coordinate(by).name());
  };
  const bool stay = std::ranges::all_of(
      before, [&](std::size_t d) { return std::ranges::any_of(after, [&](std::size_t by) { return walked(d, by); }); });
  return !stay && !walked(*before.rbegin(), *after.rbegin());
}

}  // namespace

std::optional<tensor::IndexMap> parting_inverse(const tensor::Graph& graph, const tensor::Node& node) {
  const auto* map = node.as<tensor::IndexMap>();
  if (map == nullptr || map->branches.size() > 1 || node.args.size() != 1) return std::nullopt;
  const Shape& source = graph.nodes[static_cast<std::size_t>(node.args[0])].type.shape;
  const std::vector<Expr>& coordinates = map->branches.front().coordinates;
  auto inverse = tensor::inverse(coordinates, source, node.type.shape);
  if (!inverse || !parts_rows_and_columns(coordinates, source, node.type.shape)) return std::nullopt;
  return tensor::IndexMap{{{0, std::move(*inverse), 1}}};
}

bool repeats_transposed_rows(const tensor::Graph& graph, const tensor::Node& node) {
  const auto single = [](const tensor::Node& n) {
    const auto* map = n.as<tensor::IndexMap>();
    return map != nullptr && map->branches.size() == 1 && n.args.size() == 1 ? &map->branches.front() : nullptr;
  };
  const auto argument = [&](const tensor::Node& n) -> const tensor::Node& {
    return graph.nodes[static_cast<std::size_t>(n.args[0])];
  };
  const tensor::IndexMap::Branch* rows = single(node);
  if (rows == nullptr || node.type.shape.size() < 3 || rows->coordinates.size() < 2) return false;
  const Shape& shape = node.type.shape;
  const std::size_t last = shape.size() - 1;
  const auto repeats = [&](const Expr& e) { return !ir::depends_on(e, tensor::coordinate(last).name()); };
  if (shape[last] == 1 || !std::ranges::all_of(rows->coordinates, repeats)) return false;
  if (rows->coordinates.back() != tensor::coordinate(last - 1)) return false;
  const tensor::Node& view = argument(node);
  const tensor::IndexMap::Branch* order = single(view);
  if (order == nullptr || argument(view).as<tensor::Input>() == nullptr) return false;
  const Expr walked = tensor::coordinate(view.type.shape.size() - 1);
  return tensor::inverse(order->coordinates, argument(view).type.shape, view.type.shape).has_value() &&
         !ir::depends_on(order->coordinates.back(), walked.name());
}

std::optional<std::size_t> walks_columns(const tensor::Graph& graph, const tensor::Node& node,
                                         const std::set<int>& products) {
  const auto* map = node.as<tensor::IndexMap>();
  if (map == nullptr) return std::nullopt;
  const tensor::IndexMap::Branch& first = map->branches.front();
  const int id = node.args[static_cast<std::size_t>(first.arg)];
  const tensor::Node& source = graph.nodes[static_cast<std::size_t>(id)];
  std::optional<std::size_t> columns;
  if (products.contains(id)) {
    for (std::size_t d = 0; d < source.type.shape.size(); ++d)
      if (source.type.shape[d] > 1) columns = d;
  } else {
    columns = walks_columns(graph, source, products);
  }
  if (!columns) return std::nullopt;
  for (std::size_t d = 0; d < node.type.shape.size(); ++d)
    if (first.coordinates[*columns] == tensor::coordinate(d)) return d;
  return std::nullopt;
}

tensor::IndexMap with_columns_late(const tensor::IndexMap& map, Shape& shape, std::size_t from) {
  const std::size_t to = shape.size() - 2;
  ir::Substitution moved = {{tensor::coordinate(from).name(), tensor::coordinate(to)}};
  for (std::size_t d = from + 1; d <= to; ++d)
    moved.emplace_back(tensor::coordinate(d).name(), tensor::coordinate(d - 1));
  std::rotate(shape.begin() + static_cast<std::ptrdiff_t>(from), shape.begin() + static_cast<std::ptrdiff_t>(from) + 1,
              shape.begin() + static_cast<std::ptrdiff_t>(to) + 1);
  tensor::IndexMap result = map;
  for (tensor::IndexMap::Branch& branch : result.branches) {
    for (Expr& e : branch.coordinates) e = ir::substitute(e, moved);
    branch.condition = ir::substitute(branch.condition, moved);
  }
  return result;
}

}  // namespace deplo::rules
