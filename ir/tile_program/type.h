// The types of values in tile programs (Tile IR specification, "Type System").
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/types/float_format.h"

namespace deplo::ir::tile_program {

using Extents = std::vector<std::int64_t>;
inline constexpr std::int64_t dynamic = INT64_MIN;  // an extent or stride that is only known at launch: `?`

enum class Padding : std::uint8_t { zero, neg_zero, nan, pos_inf, neg_inf };
std::string_view name(Padding);
double value_of(Padding);
std::optional<Padding> parse_padding(std::string_view);

enum class Kind : std::uint8_t { token, tile, tensor_view, partition_view, strided_view, gather_scatter_view };
std::string_view name(Kind);

/// A type. Equal types compare equal. The kind determines which members are used.
struct Type {
  Kind kind = Kind::token;
  DType element = DType::boolean;  // element type of a tile or tensor view; for a tile of pointers, the pointee
  bool pointer = false;            // for a tile: its elements are pointers
  // A tile has a shape. A tensor view has a shape and strides, also as the tensor of a view of tiles.
  Extents shape = {}, strides = {};

  // The three views of tiles cut a tensor view into tiles. `element`, `shape` and `strides` describe that tensor view.
  Extents tile = {};       // extents of a tile
  Extents traversal = {};  // strided view: distance between tiles in elements, by dimension of the tile
  // The tensor's dimension for each dimension of the tile. Not used by gather views.
  std::vector<int> dim_map = {};
  std::optional<Padding> padding = {};  // value of elements outside of the tensor; nullopt: unspecified
  int sparse_dim = 0;                   // gather view: the dimension that is indexed by a tile

  bool operator==(const Type&) const = default;
  bool is_tile() const { return kind == Kind::tile; }
  bool is_scalar() const { return kind == Kind::tile && shape.empty(); }
  bool is_tile_view() const { return kind >= Kind::partition_view; }
};
/// Types are shared, because a program of n bytes may name the same type n times.
using TypePtr = std::shared_ptr<const Type>;

/// Limits of types, far above those of hardware, so that no file can exhaust the memory.
inline constexpr std::size_t max_rank = 16;
inline constexpr std::int64_t max_elements = std::int64_t{1} << 24;  // maximum number of elements of a tile

TypePtr token_type();
TypePtr tile_type(DType, Extents shape = {}, bool pointer = false);
/// Returns the type of a tile with the same shape and other elements.
TypePtr with_element(const Type& tile, DType, bool pointer = false);

/// Returns the number of elements of a tile.
std::int64_t element_count(const Type&);
std::string print(const Extents&);  // "128x64"; dynamic extents as "?"
/// Returns the type as in the text of a program: "tile<128xptr<f32>>", "tensor_view<?x64xf16, strides=[?,1]>".
std::string print(const Type&);
/// Returns the elements of a tile as nested lists, such as "[[1, 2], [3, 4]]". text_of(i) is the text of element i.
std::string nested_list(const Extents& shape, const std::function<std::string(std::size_t)>& text_of);
/// Returns why no value can have this type, as "expected …, found …", or "" if the type is valid.
std::string unsound(const Type&);

}  // namespace deplo::ir::tile_program
