// Operations that move elements, and reductions and scans (specification, "Core").
#include <fmt/format.h>

#include <optional>

#include "core/mapped.h"
#include "ir/tile_program/interpret/elementwise.h"
#include "ir/tile_program/interpret/evaluators.h"
#include "ir/types/types.h"

namespace deplo::ir::tile_program::exec {
namespace {

/// An element of a value.
struct Source {
  const TileValue& value;
  std::size_t at = 0;
};

/// Returns a tile whose element i is the element source(i) of a value like `one`.
template <class Function>
TileValue gathered(const TileValue& one, std::size_t n, Function source) {
  const auto real = [&](const Source& from) { return from.value.real(from.at); };
  const auto bit = [&](const Source& from) { return from.value.bit(from.at); };
  return one.reals != nullptr ? each_real(n, [&](std::size_t i) { return real(source(i)); })
                              : each_bits(n, [&](std::size_t i) { return bit(source(i)); });
}

/// Returns a tile whose element i is element `from(i)` of the value.
template <class Function>
TileValue moved(const TileValue& value, std::size_t n, Function from) {
  return gathered(value, n, [&](std::size_t i) { return Source{value, from(i)}; });
}

/// Returns the number that element i of a tile of `shape` has in a tile whose dimension d has stride `strides[d]`.
std::size_t in_strides(std::size_t i, const Extents& shape, const Extents& strides, std::int64_t offset = 0) {
  auto rest = static_cast<std::int64_t>(i);
  for (std::size_t d = shape.size(); d > 0; --d) {
    offset += rest % shape[d - 1] * strides[d - 1];
    rest /= shape[d - 1];
  }
  return static_cast<std::size_t>(offset);
}

void set_moved(Evaluation& now, const Extents& strides, std::int64_t offset = 0) {
  const TileValue& a = now.operand(0);
  const Type& to = now.result_type();
  if (a.size() == 1) {
    now.set(moved(a, 1, [](std::size_t i) { return i; }));
    return;
  }
  now.set(moved(a, elements_of(to), [&](std::size_t i) { return in_strides(i, to.shape, strides, offset); }));
}

void broadcast(Evaluation& now) {
  const Extents& from = now.operand_type(0).shape;
  Extents strides = row_major_strides(from);
  for (std::size_t d = 0; d < from.size(); ++d)
    if (from[d] == 1) strides[d] = 0;
  set_moved(now, strides);
}

void permute(Evaluation& now) {
  const auto& map = std::get<std::vector<std::int64_t>>(now.op.attribute("permutation"));
  const Extents from = row_major_strides(now.operand_type(0).shape);
  const Extents strides = mapped(map, [&](std::int64_t d) { return from[static_cast<std::size_t>(d)]; });
  set_moved(now, strides);
}

void extract(Evaluation& now) {
  const Type &from = now.operand_type(0), &to = now.result_type();
  const Extents strides = row_major_strides(from.shape);
  std::int64_t offset = 0;
  for (std::size_t d = 0; d < to.shape.size(); ++d) {
    const auto index = static_cast<std::int64_t>(now.operand(1 + d).bit(0));
    if (index >= from.shape[d] / to.shape[d])
      now.fail(fmt::format("expected an index below {} along dimension {}, found {}", from.shape[d] / to.shape[d], d,
                           index));
    offset += index * to.shape[d] * strides[d];
  }
  set_moved(now, strides, offset);
}

void insert(Evaluation& now) {
  const Extents &part = now.operand_type(0).shape, &whole = now.operand_type(1).shape;
  Extents start(whole.size());
  for (std::size_t d = 0; d < whole.size(); ++d) {
    const auto index = static_cast<std::int64_t>(now.operand(2 + d).bit(0));
    if (index >= whole[d] / part[d])
      now.fail(fmt::format("expected an index below {} along dimension {}, found {}", whole[d] / part[d], d, index));
    start[d] = index * part[d];
  }
  const Extents in_whole = row_major_strides(whole), in_part = row_major_strides(part);
  const TileValue &a = now.operand(0), &b = now.operand(1);
  // Returns the element of the part that covers element i of the whole, or nullopt if the part does not cover it.
  const auto within = [&](std::size_t i) -> std::optional<std::size_t> {
    std::int64_t at = 0;
    for (std::size_t d = 0; d < whole.size(); ++d) {
      const std::int64_t position = static_cast<std::int64_t>(i) / in_whole[d] % whole[d] - start[d];
      if (position < 0 || position >= part[d]) return std::nullopt;
      at += position * in_part[d];
    }
    return static_cast<std::size_t>(at);
  };
  now.set(gathered(a, elements_of(now.result_type()), [&](std::size_t i) {
    const auto at = within(i);
    return at ? Source{a, *at} : Source{b, i};
  }));
}

void cat(Evaluation& now) {
  const auto dim = static_cast<std::size_t>(now.op.number("dim"));
  const TileValue &a = now.operand(0), &b = now.operand(1);
  const Extents &shape = now.result_type().shape, &first = now.operand_type(0).shape,
                &second = now.operand_type(1).shape;
  const Extents all = row_major_strides(shape), in_first = row_major_strides(first),
                in_second = row_major_strides(second);
  const auto is_first = [&](std::size_t i) {
    return static_cast<std::int64_t>(i) / all[dim] % shape[dim] < first[dim];
  };
  now.set(gathered(a, elements_of(now.result_type()), [&](std::size_t i) {
    return is_first(i) ? Source{a, in_strides(i, shape, in_first)}
                       : Source{b, in_strides(i, shape, in_second, -first[dim] * in_second[dim])};
  }));
}

void iota(Evaluation& now) {
  now.set(each_bits(elements_of(now.result_type()), [](std::size_t i) { return i; }));
}

void constant(Evaluation& now) {
  const auto& bits = *std::get<Dense>(now.op.attributes[0]);
  const DType e = now.element();
  if (is_integral(e))
    now.set(of_bits(bits));
  else
    now.set(each_real(bits.size(), [&](std::size_t i) { return decode_float(bits[i], e); }));
}

void select(Evaluation& now) {
  const TileValue &c = now.operand(0), &a = now.operand(1), &b = now.operand(2);
  now.set(gathered(a, lanes(now), [&](std::size_t i) { return Source{c.bit(i) != 0 ? a : b, i}; }));
}

// --- Reductions ------------------------------------------------------------------------------------------------------

/// True if the body can run on all rows at once: it has only elementwise operations on tiles of rank 0.
bool is_elementwise(const Evaluation& now, const Region& body) {
  for (const Operation& op : body.operations) {
    if (op.form->name == "yield") continue;
    const Evaluator* evaluator = find_evaluator(*op.form);
    if (evaluator == nullptr || !evaluator->elementwise) return false;
    for (const ValueId id : op.results)
      if (!now.type(id).is_scalar()) return false;
  }
  return true;
}

/// A tile as rows along a dimension; at(r, k) is the number of element k of row r.
struct Rows {
  std::size_t rows = 1, length = 1, step = 1;
  Rows(const Extents& shape, std::size_t dim) : length(static_cast<std::size_t>(shape[dim])) {
    for (std::size_t d = 0; d < shape.size(); ++d)
      if (d != dim) rows *= static_cast<std::size_t>(shape[d]);
    for (std::size_t d = dim + 1; d < shape.size(); ++d) step *= static_cast<std::size_t>(shape[d]);
  }
  std::size_t at(std::size_t row, std::size_t k) const { return (row / step * length + k) * step + row % step; }
};

/// Returns builders of tiles with n elements, each with floats or bits as the value in its place.
std::vector<TileBuilder> builders_like(const std::vector<TileValue>& values, std::size_t n) {
  return mapped(values, [&](const TileValue& value) {
    return value.reals != nullptr ? TileBuilder(Reals(n)) : TileBuilder(Bits(n));
  });
}

/// Runs the body on `n` rows. Each operand passes an element and the value accumulated so far. `together`: all rows at
/// once.
std::vector<TileValue> combine(Evaluation& now, const std::vector<TileValue>& elements,
                               const std::vector<TileValue>& accumulated, std::size_t n, bool together) {
  const Region& body = now.op.regions[0];
  const auto give = [&](std::size_t i, const TileValue& element, const TileValue& sum) {
    now.set_argument(body.arguments[2 * i], element);
    now.set_argument(body.arguments[2 * i + 1], sum);
  };
  const auto one = [](const TileValue& v, std::size_t r) { return moved(v, 1, [r](std::size_t) { return r; }); };
  if (together) {
    for (std::size_t i = 0; i < elements.size(); ++i) give(i, elements[i], accumulated[i]);
    return now.machine.run_pure(now.block(), body);
  }
  std::vector<TileBuilder> built = builders_like(elements, n);
  for (std::size_t r = 0; r < n; ++r) {
    for (std::size_t i = 0; i < elements.size(); ++i) give(i, one(elements[i], r), one(accumulated[i], r));
    const std::vector<TileValue> yielded = now.machine.run_pure(now.block(), body);
    for (std::size_t i = 0; i < elements.size(); ++i) built[i].copy(r, yielded[i], 0);
  }
  return mapped(built, &TileBuilder::take);
}

/// Combines the halves of the remaining elements repeatedly, as threads do. The body must be associative; the order is
/// not specified.
void reduce(Evaluation& now) {
  const Rows rows(now.operand_type(0).shape, static_cast<std::size_t>(now.op.number("dim")));
  const bool together = is_elementwise(now, now.op.regions[0]);
  std::vector<TileValue> left;
  for (std::size_t i = 0; i < now.op.operands.size(); ++i)
    left.push_back(moved(now.operand(i), rows.rows * rows.length,
                         [&](std::size_t e) { return rows.at(e % rows.rows, e / rows.rows); }));
  for (std::size_t length = rows.length; length > 1; length /= 2) {
    const std::size_t half = rows.rows * (length / 2);
    std::vector<TileValue> low, high;
    for (const TileValue& v : left) {
      low.push_back(moved(v, half, [](std::size_t e) { return e; }));
      high.push_back(moved(v, half, [half](std::size_t e) { return half + e; }));
    }
    left = combine(now, high, low, half, together);
  }
  for (std::size_t i = 0; i < left.size(); ++i) {
    left[i].past = nullptr;
    now.set(std::move(left[i]), i);
  }
}

void scan(Evaluation& now) {
  const Rows rows(now.operand_type(0).shape, static_cast<std::size_t>(now.op.number("dim")));
  const bool together = is_elementwise(now, now.op.regions[0]), reverse = now.op.number("reverse") != 0;
  const auto& identities = std::get<std::vector<Scalar>>(now.op.attribute("identities"));
  const std::size_t operands = now.op.operands.size(), n = rows.rows * rows.length;
  std::vector<TileValue> sums;
  for (const Scalar& s : identities)
    sums.push_back(is_integral(s.element) ? of_bits({s.bits}) : of_reals({decode_float(s.bits, s.element)}));
  std::vector<TileBuilder> built = builders_like(sums, n);
  for (std::size_t step = 0; step < rows.length; ++step) {
    const std::size_t k = reverse ? rows.length - 1 - step : step;
    std::vector<TileValue> elements;
    for (std::size_t i = 0; i < operands; ++i)
      elements.push_back(moved(now.operand(i), rows.rows, [&](std::size_t r) { return rows.at(r, k); }));
    sums = combine(now, elements, sums, rows.rows, together);
    for (std::size_t i = 0; i < operands; ++i)
      for (std::size_t r = 0; r < rows.rows; ++r) built[i].copy(rows.at(r, k), sums[i], r);
  }
  for (std::size_t i = 0; i < operands; ++i) now.set(built[i].take(), i);
}

}  // namespace

std::vector<Evaluator> shape_evaluators() {
  return {{"broadcast", broadcast}, {"cat", cat},   {"constant", constant, true}, {"extract", extract},
          {"insert", insert},       {"iota", iota}, {"permute", permute},         {"reshape", set_operand},
          {"select", select, true}};
}

std::vector<Evaluator> reduce_evaluators() { return {{"reduce", reduce}, {"scan", scan}}; }

}  // namespace deplo::ir::tile_program::exec
