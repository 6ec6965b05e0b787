#include "ir/tile_program/type.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "ir/types/types.h"

namespace deplo::ir::tile_program {
namespace {

constexpr std::array<std::string_view, 5> paddings = {"zero", "neg_zero", "nan", "pos_inf", "neg_inf"};
constexpr std::array<std::string_view, 6> kinds = {"token",          "tile",         "tensor_view",
                                                   "partition_view", "strided_view", "gather_scatter_view"};

std::string extent(std::int64_t e) { return e == dynamic ? "?" : std::to_string(e); }

std::string joined(const Extents& extents, std::string_view between) {
  std::string text;
  for (const std::int64_t e : extents) text += (text.empty() ? "" : std::string(between)) + extent(e);
  return text;
}

bool is_identity(const std::vector<int>& map) {
  for (std::size_t i = 0; i < map.size(); ++i)
    if (map[i] != static_cast<int>(i)) return false;
  return true;
}

std::string print_element(const Type& t) {
  const std::string element(tile_name(t.element));
  return t.pointer ? "ptr<" + element + ">" : element;
}

std::string print_shaped(const Type& t) { return (t.shape.empty() ? "" : print(t.shape) + "x") + print_element(t); }

std::string print_tensor_view(const Type& t) {
  const std::string strides = t.shape.empty() ? "" : ", strides=[" + joined(t.strides, ",") + "]";
  return "tensor_view<" + print_shaped(t) + strides + ">";
}

std::string print_tile_view(const Type& t) {
  std::string text = fmt::format("{}<tile=({})", name(t.kind), print(t.tile));
  if (t.kind == Kind::strided_view) text += ", traversal_strides=[" + joined(t.traversal, ",") + "]";
  if (t.padding) text += fmt::format(", padding_value = {}", name(*t.padding));
  text += ", " + print_tensor_view(t);
  if (t.kind == Kind::gather_scatter_view)
    text += fmt::format(", sparse_dim={}", t.sparse_dim);
  else if (!is_identity(t.dim_map))
    text += fmt::format(", dim_map=[{}]", fmt::join(t.dim_map, ", "));
  return text + ">";
}

/// Returns why a tile cannot have this shape, or "". Its extents must be powers of two.
std::string unsound_tile(const Extents& shape) {
  if (shape.size() > max_rank) return fmt::format("expected at most {} dimensions, found {}", max_rank, shape.size());
  std::int64_t elements = 1;
  for (const std::int64_t e : shape) {
    if (e <= 0 || !std::has_single_bit(static_cast<std::uint64_t>(e)))
      return fmt::format("expected extents that are powers of two, found {}", print(shape));
    if (e > max_elements / elements)
      return fmt::format("expected a tile of at most {} elements, found {}", max_elements, print(shape));
    elements *= e;
  }
  return "";
}

std::string unsound_tensor(const Type& t) {
  if (t.shape.size() > max_rank)
    return fmt::format("expected at most {} dimensions, found {}", max_rank, t.shape.size());
  if (t.shape.size() != t.strides.size())
    return fmt::format("expected a stride for each of {} dimensions, found {}", t.shape.size(), t.strides.size());
  for (const Extents* list : {&t.shape, &t.strides})
    for (const std::int64_t e : *list)
      if (e <= 0 && e != dynamic) return fmt::format("expected extents and strides above 0, found {}", e);
  return "";
}

std::string unsound_map(const Type& t) {
  if (t.dim_map.size() != t.tile.size())
    return fmt::format("expected a dim_map of {} dimensions, found {}", t.tile.size(), t.dim_map.size());
  std::vector<bool> seen(t.shape.size());
  for (const int d : t.dim_map) {
    if (d < 0 || static_cast<std::size_t>(d) >= seen.size() || seen[static_cast<std::size_t>(d)])
      return fmt::format("expected a dim_map with each dimension below {} once, found [{}]", seen.size(),
                         fmt::join(t.dim_map, ", "));
    seen[static_cast<std::size_t>(d)] = true;
  }
  return "";
}

std::string unsound_view(const Type& t) {
  if (t.tile.size() != t.shape.size() || t.tile.empty())
    return fmt::format("expected a tile of the tensor's {} dimensions, found {}", t.shape.size(), t.tile.size());
  if (std::string why = unsound_tile(t.tile); !why.empty()) return why;
  if (t.padding && *t.padding != Padding::zero && is_integral(t.element))
    return fmt::format("expected padding zero of {}, found {}", tile_name(t.element), name(*t.padding));
  if (t.kind == Kind::gather_scatter_view) {
    if (t.sparse_dim >= 0 && static_cast<std::size_t>(t.sparse_dim) < t.tile.size()) return "";
    return fmt::format("expected a sparse_dim below {}, found {}", t.tile.size(), t.sparse_dim);
  }
  if (t.kind == Kind::strided_view) {
    if (t.traversal.size() != t.tile.size())
      return fmt::format("expected {} traversal strides, found {}", t.tile.size(), t.traversal.size());
    for (const std::int64_t e : t.traversal)
      if (e <= 0) return fmt::format("expected traversal strides above 0, found {}", e);
  }
  return unsound_map(t);
}

}  // namespace

std::string_view name(Padding p) { return paddings.at(static_cast<std::size_t>(p)); }
double value_of(Padding p) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  constexpr std::array<double, 5> values = {0, -0.0, nan, infinity, -infinity};
  return values.at(static_cast<std::size_t>(p));
}
std::string_view name(Kind k) { return kinds.at(static_cast<std::size_t>(k)); }

std::optional<Padding> parse_padding(std::string_view word) {
  const auto* at = std::find(paddings.begin(), paddings.end(), word);
  return at == paddings.end() ? std::nullopt : std::optional(static_cast<Padding>(at - paddings.begin()));
}

TypePtr token_type() {
  static const TypePtr type = std::make_shared<Type>();
  return type;
}

TypePtr tile_type(DType element, Extents shape, bool pointer) {
  Type type{.kind = Kind::tile, .element = element, .pointer = pointer};
  type.shape = std::move(shape);
  return std::make_shared<Type>(std::move(type));
}

TypePtr with_element(const Type& tile, DType element, bool pointer) { return tile_type(element, tile.shape, pointer); }

std::int64_t element_count(const Type& t) { return ir::element_count(t.shape); }

std::string print(const Extents& extents) { return joined(extents, "x"); }

std::string print(const Type& t) {
  switch (t.kind) {
    case Kind::token:
      return "token";
    case Kind::tile:
      return "tile<" + print_shaped(t) + ">";
    case Kind::tensor_view:
      return print_tensor_view(t);
    default:
      return print_tile_view(t);
  }
}

std::string nested_list(const Extents& shape, const std::function<std::string(std::size_t)>& text_of) {
  std::size_t next = 0;
  const auto list = [&](auto& self, std::size_t dimension) -> std::string {
    if (dimension == shape.size()) return text_of(next++);
    std::string text;
    for (std::int64_t i = 0; i < shape[dimension]; ++i) text += (i == 0 ? "" : ", ") + self(self, dimension + 1);
    return "[" + text + "]";
  };
  return list(list, 0);
}

std::string unsound(const Type& t) {
  if (t.kind == Kind::token) return "";
  if (t.kind == Kind::tile) return unsound_tile(t.shape);
  if (std::string why = unsound_tensor(t); !why.empty() || t.kind == Kind::tensor_view) return why;
  return unsound_view(t);
}

}  // namespace deplo::ir::tile_program
