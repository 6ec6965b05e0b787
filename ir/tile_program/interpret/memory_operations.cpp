// Loads, stores and atomics through pointers and views (specification, "Memory", "Atomics", "Views").
#include <fmt/format.h>

#include <limits>

#include "ir/tile_program/attribute.h"
#include "ir/tile_program/interpret/accesses.h"
#include "ir/tile_program/interpret/elementwise.h"
#include "ir/tile_program/interpret/evaluators.h"
#include "ir/tile_program/interpret/scalars.h"

namespace deplo::ir::tile_program::exec {
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr std::uint64_t poisoned_bits = 0x5A5A5A5A5A5A5A5AULL;

/// Returns a tile whose elements are unspecified until they are set.
TileBuilder unspecified(const Evaluation& now, DType e, std::size_t n) {
  const bool poison = now.machine.launch.poison;
  if (is_integral(e)) return TileBuilder(Bits(n, poison ? wrap(poisoned_bits, width(e)) : 0));
  return TileBuilder(Reals(n, poison ? not_a_number : 0));
}

std::uint64_t bits_at(const TileValue& v, std::size_t i, DType e) {
  return v.reals != nullptr ? encode_float(v.real(i), e) : v.bit(i);
}

void set_token(Evaluation& now, const Accesses& accesses, std::size_t result) {
  TileValue token;
  token.past = accesses.after();
  now.set(std::move(token), result);
}

/// Sets the results of an operation that reads memory: the tile, and a token.
void set_result(Evaluation& now, TileBuilder& tile, const Accesses& accesses) {
  TileValue value = tile.take();
  value.past = accesses.after();
  now.set(std::move(value), 0);
  set_token(now, accesses, 1);
}

const TileValue* optional_operand(const Evaluation& now, std::string_view name) {
  return now.op.has(name) ? &now.operand(name) : nullptr;
}

// --- Through pointers ------------------------------------------------------------------------------------------------

/// Sets the result to the bits access(accesses, i) of each element i that the mask includes. The other elements are
/// those of `otherwise`, or unspecified if it is nullptr.
template <class Function>
void set_accessed(Evaluation& now, AccessKind kind, const TileValue* otherwise, Function access) {
  const TileValue* mask = optional_operand(now, "mask");
  const DType e = now.element();
  const std::size_t n = elements_of(now.result_type());
  Accesses accesses(now, kind);
  TileBuilder tile = unspecified(now, e, n);
  for (std::size_t i = 0; i < n; ++i) {
    if (mask == nullptr || mask->bit(i) != 0)
      tile.set(i, access(accesses, i), e);
    else if (otherwise != nullptr)
      tile.copy(i, *otherwise, i);
  }
  set_result(now, tile, accesses);
}

void load_pointers(Evaluation& now) {
  const TileValue& pointers = now.operand(0);
  const DType e = now.element();
  set_accessed(now, AccessKind::read, optional_operand(now, "padding"),
               [&](Accesses& accesses, std::size_t i) { return accesses.read(pointers.bit(i), e, i); });
}

void store_pointers(Evaluation& now) {
  const TileValue &pointers = now.operand(0), &value = now.operand(1);
  const TileValue* mask = optional_operand(now, "mask");
  const DType e = now.operand_type(1).element;
  Accesses accesses(now, AccessKind::write);
  for (std::size_t i = 0; i < elements_of(now.operand_type(1)); ++i)
    if (mask == nullptr || mask->bit(i) != 0) accesses.write(pointers.bit(i), e, bits_at(value, i, e), i);
  set_token(now, accesses, 0);
}

void atomic_rmw(Evaluation& now) {
  const auto mode = static_cast<Rmw>(now.op.number("mode"));
  const TileValue &pointers = now.operand(0), &argument = now.operand(1);
  const DType e = now.element();
  set_accessed(now, AccessKind::update, nullptr, [&](Accesses& accesses, std::size_t i) {
    return accesses.update(pointers.bit(i), e, i,
                           [&](std::uint64_t before) { return updated(mode, before, bits_at(argument, i, e), e); });
  });
}

void atomic_cas(Evaluation& now) {
  const TileValue &pointers = now.operand(0), &expected = now.operand(1), &value = now.operand(2);
  const DType e = now.element();
  set_accessed(now, AccessKind::update, &expected, [&](Accesses& accesses, std::size_t i) {
    return accesses.update(pointers.bit(i), e, i, [&](std::uint64_t before) {
      return before == bits_at(expected, i, e) ? bits_at(value, i, e) : before;  // compares bits, even for floats
    });
  });
}

// --- Through views ---------------------------------------------------------------------------------------------------

/// Returns the number of tiles in an extent if a tile starts every `step` elements. The last tile may reach beyond the
/// extent.
std::int64_t tiles_in(std::int64_t extent, std::int64_t step) { return extent / step + (extent % step != 0 ? 1 : 0); }

/// The elements of one tile of a view: the address of each element, or that the element is outside of the tensor.
class TileOfView {
 public:
  TileOfView(const Evaluation& now, const Type& type, const ViewValue& view, const std::vector<ValueId>& index,
             const std::vector<std::int64_t>* inbounds = nullptr)
      : now_(now),
        type_(type),
        view_(view),
        starts_(type.tile.size()),
        size_(static_cast<std::uint64_t>(bytes(type.element))),
        inbounds_(inbounds) {
    for (std::size_t d = 0; d < index.size(); ++d) {
      if (type.kind == Kind::gather_scatter_view && static_cast<int>(d) == type.sparse_dim) {
        sparse_ = &now.value(index[d]);
        continue;
      }
      const auto at = static_cast<std::int64_t>(now.value(index[d]).bit(0));
      // The index of a gather view counts elements, not tiles, along the dimensions that are not sparse.
      if (type.kind != Kind::gather_scatter_view) check_index(now, d, at);
      starts_[d] = at * step(d);
    }
  }

  /// Returns the address of element i, or 0 if the element is outside of the tensor.
  std::uint64_t address(std::size_t i) const {
    auto rest = static_cast<std::int64_t>(i);
    std::uint64_t offset = 0;
    for (std::size_t d = type_.tile.size(); d > 0; --d) {
      const std::int64_t within = rest % type_.tile[d - 1];
      rest /= type_.tile[d - 1];
      const std::int64_t at = position(d - 1, within);
      const auto of = tensor_dimension(d - 1);
      if (at < 0 || at >= view_.shape[of]) {
        if (inbounds_ != nullptr && (*inbounds_)[d - 1] != 0)
          now_.fail(fmt::format(
              "expected a tile within the {} elements of dimension {}, as inbounds promises, found element {}",
              view_.shape[of], of, at));
        return 0;
      }
      offset += static_cast<std::uint64_t>(at) * static_cast<std::uint64_t>(view_.strides[of]);
    }
    return view_.base + offset * size_;
  }

 private:
  std::size_t tensor_dimension(std::size_t d) const {
    return type_.kind == Kind::gather_scatter_view ? d : static_cast<std::size_t>(type_.dim_map[d]);
  }
  /// Returns the number of elements from one tile to the next.
  std::int64_t step(std::size_t d) const {
    return type_.kind == Kind::strided_view     ? type_.traversal[d]
           : type_.kind == Kind::partition_view ? type_.tile[d]
                                                : 1;
  }
  std::int64_t position(std::size_t d, std::int64_t within) const {
    if (sparse_ != nullptr && static_cast<int>(d) == type_.sparse_dim)
      return static_cast<std::int64_t>(sparse_->bit(static_cast<std::size_t>(within)));
    // An index beyond the largest number wraps to a negative one, which is outside as well.
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(starts_[d]) + static_cast<std::uint64_t>(within));
  }
  void check_index(const Evaluation& now, std::size_t d, std::int64_t at) const {
    const std::int64_t extent = view_.shape[tensor_dimension(d)], tiles = tiles_in(extent, step(d));
    if (at < tiles && at >= 0) return;
    now.fail(fmt::format("expected index {} below {}, the tiles of {} in {} elements, found {}", d, tiles,
                         type_.tile[d], extent, at));
  }

  const Evaluation& now_;
  const Type& type_;
  const ViewValue& view_;
  Extents starts_;
  std::uint64_t size_ = 0;
  const TileValue* sparse_ = nullptr;
  const std::vector<std::int64_t>* inbounds_;  // by dimension of the tile; nullptr: no promise
};

const std::vector<std::int64_t>* promised(const Evaluation& now) {
  return std::get_if<std::vector<std::int64_t>>(&now.op.attribute("inbounds"));
}

std::uint64_t padding_bits(Padding padding, DType e) {
  return is_integral(e) || padding == Padding::zero ? 0 : encode_float(value_of(padding), e);
}

void load_view(Evaluation& now) {
  const Type& type = now.operand_type(0);
  const TileOfView view(now, type, *now.operand(0).view, now.op.operand_list("index"), promised(now));
  const DType e = type.element;
  const std::size_t n = elements_of(now.result_type());
  Accesses accesses(now, AccessKind::read);
  TileBuilder tile = unspecified(now, e, n);
  for (std::size_t i = 0; i < n; ++i) {
    if (const std::uint64_t address = view.address(i); address != 0)
      tile.set(i, accesses.read(address, e, i), e);
    else if (type.padding)
      tile.set(i, padding_bits(*type.padding, e), e);
  }
  set_result(now, tile, accesses);
}

void store_view(Evaluation& now) {
  const Type& type = now.type(now.op.operand("view"));
  const TileValue& value = now.operand("tile");
  const TileOfView view(now, type, *now.operand("view").view, now.op.operand_list("index"), promised(now));
  Accesses accesses(now, AccessKind::write);
  for (std::size_t i = 0; i < elements_of(now.type(now.op.operand("tile"))); ++i)
    if (const std::uint64_t address = view.address(i); address != 0)
      accesses.write(address, type.element, bits_at(value, i, type.element), i);
  set_token(now, accesses, 0);
}

void atomic_red_view(Evaluation& now) {
  const auto mode = static_cast<Rmw>(now.op.number("mode"));
  const Type& type = now.type(now.op.operand("view"));
  const TileValue& value = now.operand("value");
  const TileOfView view(now, type, *now.operand("view").view, now.op.operand_list("index"));
  const DType e = type.element;
  Accesses accesses(now, AccessKind::update);
  for (std::size_t i = 0; i < elements_of(now.type(now.op.operand("value"))); ++i)
    if (const std::uint64_t address = view.address(i); address != 0)
      accesses.update(address, e, i,
                      [&](std::uint64_t before) { return updated(mode, before, bits_at(value, i, e), e); });
  set_token(now, accesses, 0);
}

void make_tensor_view(Evaluation& now) {
  const Type& type = now.result_type();
  auto view = std::make_shared<ViewValue>();
  view->base = now.operand("base").bit(0);
  view->shape = type.shape;
  view->strides = type.strides;
  for (const auto& [extents, name, min] :
       {std::tuple(&view->shape, "shape", 0), std::tuple(&view->strides, "strides", 1)}) {
    const auto values = now.op.operand_list(name);
    std::size_t next = 0;
    for (std::int64_t& e : *extents) {
      if (e != dynamic) continue;
      const ValueId id = values[next++];
      e = as_signed(now.value(id).bit(0), width(now.type(id).element));
      if (e < min) now.fail(fmt::format("expected {} of at least {}, found {}", name, min, e));
    }
  }
  TileValue value;
  value.view = std::move(view);
  now.set(std::move(value));
}

/// A view of tiles has the same value as its tensor view; its type says how the tensor is cut into tiles.
void make_view(Evaluation& now) {
  TileValue value;
  value.view = now.operand(0).view;
  now.set(std::move(value));
}

void set_extent(Evaluation& now, std::size_t result, std::int64_t extent) {
  const int w = width(now.result_type(result).element);
  if (w < 64 && extent >= std::int64_t{1} << w)
    now.fail(fmt::format("expected an extent that i{} holds, found {}", w, extent));
  now.set(of_bits({static_cast<std::uint64_t>(extent)}), result);
}

void get_tensor_shape(Evaluation& now) {
  for (std::size_t d = 0; d < now.op.results.size(); ++d) set_extent(now, d, now.operand(0).view->shape[d]);
}

/// Returns the number of tiles along each dimension; for a gather view, the number of elements.
void get_index_space_shape(Evaluation& now) {
  const Type& type = now.operand_type(0);
  const ViewValue& view = *now.operand(0).view;
  for (std::size_t d = 0; d < now.op.results.size(); ++d) {
    const bool gathers = type.kind == Kind::gather_scatter_view;
    const std::int64_t extent = view.shape[gathers ? d : static_cast<std::size_t>(type.dim_map[d])];
    const std::int64_t step = gathers ? 1 : type.kind == Kind::strided_view ? type.traversal[d] : type.tile[d];
    set_extent(now, d, tiles_in(extent, step));
  }
}

}  // namespace

std::vector<Evaluator> memory_evaluators() {
  return {{"atomic_cas_tko", atomic_cas, false, true}, {"atomic_red_view_tko", atomic_red_view, false, true},
          {"atomic_rmw_tko", atomic_rmw, false, true}, {"load_ptr_tko", load_pointers, false, true},
          {"load_view_tko", load_view, false, true},   {"store_ptr_tko", store_pointers, false, true},
          {"store_view_tko", store_view, false, true}};
}

std::vector<Evaluator> view_evaluators() {
  return {{"get_index_space_shape", get_index_space_shape},
          {"get_tensor_shape", get_tensor_shape},
          {"make_gather_scatter_view", make_view},
          {"make_partition_view", make_view},
          {"make_strided_view", make_view},
          {"make_tensor_view", make_tensor_view}};
}

}  // namespace deplo::ir::tile_program::exec
