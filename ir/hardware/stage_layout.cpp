#include "ir/hardware/stage_layout.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

#include "core/error.h"
#include "ir/hardware/pairs.h"
#include "ir/hardware/tma.h"
#include "ir/kernel.h"

namespace deplo::ir {
namespace {

// Chunk c of 16 bytes in row r of the panel lies in the place of chunk c ^ (r / (128 / swizzle) % (swizzle / 16)):
// address bits 4 and up are flipped by the bits from 7 on.
Expr swizzled(const Expr& column, const Expr& row, int swizzle, DType dtype) {
  const std::int64_t chunk = 16 / bytes(dtype);
  const Expr flip = row / (128 / swizzle) % (swizzle / 16);
  return Expr(ExprOp::bxor, column / chunk, flip) * chunk + column % chunk;
}

}  // namespace

std::vector<std::int64_t> logical_shape(const Stage& s) {
  std::vector<std::int64_t> shape;
  if (s.slots > 1) shape.push_back(s.slots);
  for (const SlabAxis& axis : s.slab) shape.push_back(axis.extent);
  return shape;
}

std::vector<std::int64_t> physical_shape(const Stage& s) {
  std::vector<std::int64_t> shape;
  if (s.slots > 1) shape.push_back(s.slots);
  if (s.panel > 0) shape.push_back(s.slab.back().extent / s.panel);
  for (std::size_t i = 0; i + 1 < s.slab.size(); ++i)
    shape.push_back(s.pairs ? s.slab[i].extent / pairs::depth : s.slab[i].extent);
  shape.push_back(row_elements(s) * (s.pairs ? pairs::depth : 1) + s.pad);
  return shape;
}

std::vector<Expr> physical_index(const Stage& s, const std::vector<Expr>& index, const Ranges& scope) {
  CHECK(index.size() == s.slab.size() + (s.slots > 1 ? 1 : 0));
  if (s.panel == 0 && s.swizzle == 0 && !s.pairs) return index;
  std::vector<Expr> result = index;
  Expr column = index.back();
  if (s.pairs) result[result.size() - 2] = simplify(index[index.size() - 2] / pairs::depth, scope);
  if (s.panel > 0) {
    result.insert(result.begin() + (s.slots > 1 ? 1 : 0), simplify(column / s.panel, scope));
    column = column % s.panel;
  }
  if (s.swizzle > 0) {
    Expr row = 0;
    for (std::size_t i = 0; i + 1 < s.slab.size(); ++i) row = row * s.slab[i].extent + index[i + (s.slots > 1 ? 1 : 0)];
    column = swizzled(column, row, s.swizzle, s.dtype);
  }
  if (s.pairs) column = column * pairs::depth + index[index.size() - 2] % pairs::depth;
  result.back() = simplify(column, scope);
  return result;
}

std::int64_t physical_count(const Stage& s) { return element_count(physical_shape(s)); }

std::vector<std::size_t> source_order(const Stage& s, const Buffer& source) {
  std::vector<std::size_t> order(s.slab.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t i) {
    return s.slab[i].walks_dimension() ? source.strides[static_cast<std::size_t>(s.slab[i].dim)]
                                       : std::numeric_limits<std::int64_t>::max();
  });
  return order;
}

bool has_turned_blocks(const Stage& s, const Buffer& source, std::int64_t size) {
  if (!CopyTransposed::is_size(size)) return false;
  if (s.slab.size() < 2 || s.pairs || s.transport != Transport::copy || s.swizzle != 0) return false;
  if (s.dtype != DType::f32 || source.dtype != DType::f32 || source.strides.back() != 1) return false;
  const SlabAxis &rows = s.slab.end()[-2], &columns = s.slab.back();
  return rows.dim + 1 == std::ssize(source.shape) && columns.walks_dimension() && columns.dim != rows.dim &&
         rows.extent % size == 0 && row_elements(s) % size == 0;
}

std::int64_t alignment(const Stage& s) {
  if (s.swizzle > 0) return tma::pattern_rows * s.swizzle;
  return s.transport == Transport::tma ? tma::alignment : Smem{}.align;
}

}  // namespace deplo::ir
