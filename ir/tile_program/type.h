// The types of values in tile programs (Tile IR specification, "Type System").
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/types/float_format.h"

namespace deplo::ir::tile_program {

using Extents = std::vector<std::int64_t>;
inline constexpr std::int64_t dynamic = INT64_MIN;  // an extent or stride that is known only at launch: `?`

enum class Padding : std::uint8_t { zero, neg_zero, nan, pos_inf, neg_inf };
std::string_view name(Padding);
std::optional<Padding> parse_padding(std::string_view);

enum class Kind : std::uint8_t { token, tile, tensor_view, partition_view, strided_view, gather_scatter_view };
std::string_view name(Kind);

/// A type. Equal types compare equal. The kind determines which members are used.
struct Type {
  Kind kind = Kind::token;
  DType element = DType::boolean;    // of a tile or a tensor view; of a tile of pointers, the pointee
  bool pointer = false;              // of a tile: its elements are pointers
  Extents shape = {}, strides = {};  // a tile has a shape; a tensor view, also one behind a view of tiles, has both

  // The three views of tiles cut a tensor view, which `element`, `shape` and `strides` describe, into tiles:
  Extents tile = {};                    // extents of a tile
  Extents traversal = {};               // strided view: elements from tile to tile, by dimension of the tile
  std::vector<int> dim_map = {};        // the tensor's dimension for each dimension of the tile (not for gather views)
  std::optional<Padding> padding = {};  // the value outside of the tensor; nullopt: not specified
  int sparse_dim = 0;                   // gather view: the dimension that is indexed by a tile

  bool operator==(const Type&) const = default;
  bool is_tile() const { return kind == Kind::tile; }
  bool is_scalar() const { return kind == Kind::tile && shape.empty(); }
  bool is_tile_view() const { return kind >= Kind::partition_view; }
};
/// Types are shared, because a program of n bytes may name one type n times.
using TypePtr = std::shared_ptr<const Type>;

/// Limits of types, far above those of hardware, so that no file can exhaust the memory.
inline constexpr std::size_t max_rank = 16;
inline constexpr std::int64_t max_elements = std::int64_t{1} << 24;  // of a tile

TypePtr token_type();
TypePtr tile_type(DType, Extents shape = {}, bool pointer = false);
/// A tile of the same shape with other elements.
TypePtr with_element(const Type& tile, DType, bool pointer = false);

/// The number of elements of a tile.
std::int64_t element_count(const Type&);
std::string print(const Extents&);  // "128x64"; dynamic extents as "?"
/// The type in the text of a program: "tile<128xptr<f32>>", "tensor_view<?x64xf16, strides=[?,1]>".
std::string print(const Type&);
/// Why no value can have this type, as "expected …, found …"; "" if it is sound.
std::string unsound(const Type&);

}  // namespace deplo::ir::tile_program
