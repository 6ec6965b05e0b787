#include "ir/torch/operations/infer.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "core/text/text.h"

namespace deplo::ir::torch {
namespace {

int category(DType t) { return t == DType::boolean ? 0 : is_integer(t) ? 1 : 2; }

// The priority in promotion: tensors with dimensions come first, then tensors without dimensions, then Python numbers.
int priority(const Node& node) {
  if (node.kind == Node::Kind::scalar) return 0;
  return node.type.shape.empty() ? 1 : 2;
}

std::string describe(const Inference& call) {
  std::string text = call.size() == 0 ? "no arguments" : "";
  for (std::size_t i = 0; i < call.size(); ++i) {
    if (i > 0) text += i + 1 == call.size() ? " and " : ", ";
    text += print(call.type(i));
  }
  return text;
}

}  // namespace

void Inference::expected(std::string_view what) const { expected(what, describe(*this)); }

void Inference::expected(std::string_view what, std::string_view found) const {
  throw Error(fmt::format("{}: expected {}, found {}", op(), what, found));
}

std::int64_t Inference::wrapped(std::string_view attribute, std::int64_t dim, std::int64_t rank) const {
  if (rank == 0) expected(fmt::format("a tensor with a dimension {}", dim));
  if (dim < -rank || dim >= rank)
    expected(fmt::format("{} from {} to {}", attribute, -rank, rank - 1), std::to_string(dim));
  return dim < 0 ? dim + rank : dim;
}

std::int64_t Inference::normalise_dim(std::string_view attribute, std::int64_t rank) const {
  const std::int64_t dim = wrapped(attribute, node_.integer(attribute), rank);
  set(attribute, dim);
  return dim;
}

Shape Inference::normalise_dims(std::int64_t rank) const {
  Shape dims = node_.integers("dims");
  for (std::int64_t& dim : dims) dim = wrapped("dims", dim, rank);
  Shape sorted = dims;
  std::ranges::sort(sorted);
  if (std::ranges::adjacent_find(sorted) != sorted.end())
    expected("each dimension once", print_list(node_.integers("dims")));
  set("dims", dims);
  return dims;
}

void check_type(std::string_view who, const TensorType& type) {
  if (type.shape.size() > max_dimensions)
    throw Error(fmt::format("{}: expected at most {} dimensions, found {}", who, max_dimensions, type.shape.size()));
  std::int64_t count = 1;
  for (const std::int64_t extent : type.shape) {
    if (extent < 0) throw Error(fmt::format("{}: expected extents of at least 0, found {}", who, print(type.shape)));
    if (extent > max_elements / count)
      throw Error(fmt::format("{}: expected at most 2^40 elements, found {}", who, print(type.shape)));
    count *= std::max<std::int64_t>(extent, 1);
  }
}

std::string print_list(std::span<const std::int64_t> list) { return fmt::format("[{}]", join(list, ", ")); }

Shape broadcast(std::string_view op, const Shape& a, const Shape& b) {
  const std::size_t rank = std::max(a.size(), b.size());
  Shape result(rank, 1);
  for (std::size_t i = 0; i < rank; ++i) {  // from the last dimension
    const std::int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1, y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1)
      throw Error(fmt::format("{}: expected shapes that broadcast, found {} and {}", op, print(a), print(b)));
    result[rank - 1 - i] = x == 1 ? y : x;
  }
  return result;
}

DType promote_types(DType a, DType b) {
  if (a == b || category(a) > category(b)) return a;
  if (category(a) < category(b)) return b;
  if (is_integer(a) && width(a) == width(b)) return DType::i16;  // int8 and uint8
  if (is_integer(a)) return width(a) > width(b) ? a : b;
  return DType::f32;  // two different floats: f32 with another type, or f16 with bf16
}

DType promote(const Node& a, const Node& b) {
  const bool first = priority(a) >= priority(b);
  const DType high = (first ? a : b).type.dtype, low = (first ? b : a).type.dtype;
  if (priority(a) == priority(b)) return promote_types(high, low);
  return category(low) > category(high) ? low : high;
}

}  // namespace deplo::ir::torch
