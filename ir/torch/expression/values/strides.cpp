#include "ir/torch/expression/values/strides.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/mapped.h"
#include "core/text/one_of.h"

namespace deplo::ir::torch::python {
namespace {

constexpr std::array views = std::to_array<std::string_view>(
    {"expand", "permute", "reshape", "select", "slice", "squeeze", "transpose", "unsqueeze", "windows"});

std::int64_t& at(Shape& list, std::int64_t i) { return list[static_cast<std::size_t>(i)]; }
std::int64_t at(const Shape& list, std::int64_t i) { return list[static_cast<std::size_t>(i)]; }

bool is_view(const Node& node) { return node.kind == Node::Kind::call && is_one_of(node.op, views); }

// Whether strides give the same elements. They may differ along dimensions of one element.
bool are_alike(const Shape& shape, const Shape& strides, const Shape& others) {
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (shape[d] != 1 && strides[d] != others[d]) return false;
  return true;
}

bool are_contiguous(const Shape& shape, const Shape& strides) {
  return are_alike(shape, strides, row_major_strides(shape));
}

/// Returns the strides of a view of another shape; nullopt if no strides give it, so that a reshape copies. Dimensions
/// that are contiguous with each other can be split and joined as one.
std::optional<Shape> strides_of_view(const Shape& from, const Shape& strides, const Shape& to) {
  if (element_count(to) == 0) return row_major_strides(to);
  Shape result(to.size(), 1);
  std::size_t next = to.size();  // the dimensions of the view from here on have strides
  for (std::size_t d = from.size(); d > 0;) {
    const std::int64_t step = strides[d - 1];
    std::int64_t count = from[--d];
    while (d > 0 && (from[d - 1] == 1 || strides[d - 1] == count * step)) count *= from[--d];
    std::int64_t taken = 1;
    while (next > 0 && (taken < count || to[next - 1] == 1)) {
      result[--next] = taken * step;
      taken *= to[next];
    }
    if (taken != count) return std::nullopt;
  }
  return result;
}

/// Returns the strides of a view other than a reshape. `shape`, `strides`: of its argument.
std::optional<Shape> strides_of_part(const Node& view, const Shape& shape, Shape strides) {
  if (view.op == "transpose") {
    if (!strides.empty()) std::swap(at(strides, view.integer("dim0")), at(strides, view.integer("dim1")));
  } else if (view.op == "permute") {
    return mapped(view.integers("dims"), [&](std::int64_t dim) { return at(strides, dim); });
  } else if (view.op == "select") {
    strides.erase(strides.begin() + view.integer("dim"));
  } else if (view.op == "slice") {
    at(strides, view.integer("dim")) *= view.integer("step");
  } else if (view.op == "unsqueeze") {
    const std::int64_t dim = view.integer("dim");
    const bool is_last = dim == static_cast<std::int64_t>(shape.size());
    strides.insert(strides.begin() + dim, is_last ? 1 : at(shape, dim) * at(strides, dim));
  } else if (view.op == "squeeze") {
    Shape kept;
    for (std::size_t d = 0; d < shape.size(); ++d)
      if (std::ranges::count(view.integers("dims"), static_cast<std::int64_t>(d)) == 0) kept.push_back(strides[d]);
    return kept;
  } else if (view.op == "expand") {
    const std::size_t added = view.type.shape.size() - shape.size();
    strides.insert(strides.begin(), added, 0);
    for (std::size_t d = added; d < strides.size(); ++d)
      if (shape[d - added] != view.type.shape[d]) strides[d] = 0;
  } else {
    return std::nullopt;  // windows
  }
  return strides;
}

/// Returns the strides of a tensor that is expanded to a shape.
Shape expanded(const Shape& from, Shape strides, const Shape& to) {
  const std::size_t added = to.size() - from.size();
  strides.insert(strides.begin(), added, 0);
  for (std::size_t d = added; d < to.size(); ++d)
    if (from[d - added] != to[d]) strides[d] = 0;
  return strides;
}

/// Whether dimension a is inside of dimension b in memory (1), outside (-1), or neither (0), by the first tensor that
/// has both.
int compare(const Shape& shape, const std::vector<Shape>& strides, std::int64_t a, std::int64_t b) {
  for (const Shape& s : strides) {
    const std::int64_t x = at(s, a), y = at(s, b);
    if (x == 0 || y == 0) continue;
    if (x != y) return x < y ? 1 : -1;
    if (at(shape, b) > at(shape, a)) return 1;
  }
  return 0;
}

/// Returns the strides that PyTorch's TensorIterator gives a new result, from the strides of the expanded arguments. It
/// sorts the dimensions by insertion, because some pairs of dimensions have no order.
Shape elementwise_strides(const Shape& shape, const std::vector<Shape>& strides) {
  const auto rank = static_cast<std::int64_t>(shape.size());
  Shape order;  // the innermost dimension first
  for (std::int64_t d = rank; d-- > 0;) order.push_back(d);
  for (std::int64_t i = 1; i < rank; ++i) {
    std::int64_t moved = i;
    for (std::int64_t j = i; j-- > 0;) {
      const int order_of_both = compare(shape, strides, at(order, moved), at(order, j));
      if (order_of_both < 0) break;
      if (order_of_both == 0) continue;
      std::swap(at(order, j), at(order, moved));
      moved = j;
    }
  }
  Shape result(shape.size());
  std::int64_t step = 1;
  for (const std::int64_t d : order) {
    at(result, d) = step;
    step *= std::max<std::int64_t>(at(shape, d), 1);
  }
  return result;
}

}  // namespace

const std::optional<Shape>& Strides::of(const Builder& builder, Id last) {
  // In the order of the nodes, so that arguments come first.
  for (auto id = static_cast<Id>(known_.size()); id <= last; ++id) {
    const Node& node = builder.node(id);
    std::optional<Shape> strides;
    const auto is_plain = [&](Id arg) { return is_contiguous(builder, arg) == true; };
    if (is_view(node)) {
      const Shape& shape = builder.type(node.args[0]).shape;
      if (const std::optional<Shape>& from = known_[static_cast<std::size_t>(node.args[0])])
        strides =
            node.op == "reshape" ? strides_of_view(shape, *from, node.type.shape) : strides_of_part(node, shape, *from);
      if (node.op == "reshape" && !strides && sharing(builder, id) == Sharing::own)
        strides = row_major_strides(node.type.shape);
    } else if (node.op != "scaled_dot_product_attention" && std::ranges::all_of(node.args, is_plain)) {
      strides = row_major_strides(node.type.shape);
    }
    known_.push_back(std::move(strides));
  }
  return known_[static_cast<std::size_t>(last)];
}

void Strides::set_as(const Builder& builder, Id node, Id other) {
  of(builder, std::max(node, other));
  known_[static_cast<std::size_t>(node)] = known_[static_cast<std::size_t>(other)];
}

void Strides::set_elementwise(const Builder& builder, Id node, const std::vector<Id>& args) {
  of(builder, node);
  const Shape& shape = builder.type(node).shape;
  std::vector<Shape> strides;
  bool contiguous = true;
  for (const Id arg : args) {
    const std::optional<Shape>& own = of(builder, arg);
    const Shape& from = builder.type(arg).shape;
    if (from.empty()) continue;
    if (!own || from.size() > shape.size()) return;
    strides.push_back(expanded(from, *own, shape));
    contiguous = contiguous && are_contiguous(shape, strides.back());
  }
  known_[static_cast<std::size_t>(node)] = contiguous ? row_major_strides(shape) : elementwise_strides(shape, strides);
}

void Strides::set_strided(const Builder& builder, Id node, const Shape& strides, bool may_share) {
  of(builder, node);
  known_[static_cast<std::size_t>(node)] = strides;
  if (may_share) may_share_.insert(node);
}

std::optional<std::int64_t> Strides::offset(const Builder& builder, Id id) {
  const Node& view = builder.node(id);
  if (view.op != "select" && view.op != "slice") return 0;
  const std::optional<Shape>& strides = of(builder, view.args[0]);
  if (!strides) return std::nullopt;
  return view.integer(view.op == "select" ? "index" : "start") * at(*strides, view.integer("dim"));
}

Sharing Strides::sharing(const Builder& builder, Id id) {
  if (may_share_.contains(id)) return Sharing::unknown;
  const Node& node = builder.node(id);
  if (!is_view(node)) return Sharing::own;
  if (node.op != "reshape" || is_shared(id)) return Sharing::shared;
  const std::optional<Shape>& from = of(builder, node.args[0]);
  if (!from) return Sharing::unknown;
  return strides_of_view(builder.type(node.args[0]).shape, *from, node.type.shape) ? Sharing::shared : Sharing::own;
}

std::optional<bool> Strides::lies_as(const Builder& builder, Id node, const Shape& strides) {
  const std::optional<Shape>& own = of(builder, node);
  return own ? std::optional(are_alike(builder.type(node).shape, *own, strides)) : std::nullopt;
}

std::optional<bool> Strides::is_contiguous(const Builder& builder, Id node) {
  return lies_as(builder, node, row_major_strides(builder.type(node).shape));
}

std::optional<bool> Strides::repeats(const Builder& builder, Id node) {
  const std::optional<Shape>& strides = of(builder, node);
  if (!strides) return std::nullopt;
  const Shape& shape = builder.type(node).shape;
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (shape[d] > 1 && (*strides)[d] == 0) return true;
  return false;
}

}  // namespace deplo::ir::torch::python
