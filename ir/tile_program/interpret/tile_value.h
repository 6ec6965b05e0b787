// The values of a running block. Private to this folder.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "ir/tile_program/interpret/order.h"
#include "ir/tile_program/type.h"

namespace deplo::ir::tile_program::exec {

using Reals = std::vector<double>;
using Bits = std::vector<std::uint64_t>;

/// The memory that a tensor view or a view of tiles refers to.
struct ViewValue {
  std::uint64_t base = 0;
  Extents shape, strides;  // of the tensor, in elements
};

/// A tile of floats has `reals`. A tile of integers or pointers has `bits` (integers are unsigned, of their width).
/// Either has a single number for all elements, or one number for each element in row-major order. A view has `view`.
/// Every value, including a token, has a past.
struct TileValue {
  std::shared_ptr<const Reals> reals;
  std::shared_ptr<const Bits> bits;
  std::shared_ptr<const ViewValue> view;
  PastPtr past;

  std::size_t size() const { return reals != nullptr ? reals->size() : bits != nullptr ? bits->size() : 0; }
  double real(std::size_t i) const { return (*reals)[reals->size() == 1 ? 0 : i]; }
  std::uint64_t bit(std::size_t i) const { return (*bits)[bits->size() == 1 ? 0 : i]; }
};

inline TileValue of_reals(Reals numbers) {
  TileValue v;
  v.reals = std::make_shared<const Reals>(std::move(numbers));
  return v;
}
inline TileValue of_bits(Bits numbers) {
  TileValue v;
  v.bits = std::make_shared<const Bits>(std::move(numbers));
  return v;
}

}  // namespace deplo::ir::tile_program::exec
