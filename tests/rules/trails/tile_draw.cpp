// Generates random tile programs. A program computes elements at a place from leaves (tiles that are loaded there, in
// any of the ways that programs use) by steps of arithmetic, and stores them. The kinds of programs differ in the code
// around these steps: loops, products, reductions, scatters.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>

#include "ir/tile_program/text/text.h"
#include "rules/trails/tile_case.h"
#include "rules/trails/tile_text.h"

namespace deplo::rules {
namespace {

namespace tp = ir::tile_program;
using ir::DType;
using Extents = TileText::Extents;
using Tiles = std::vector<WrittenTile>;

constexpr double exact = 0x1p24;  // f32 represents all whole numbers up to here

/// A tile of m x n elements: tile (i, j) of an array of rows x columns.
struct Place {
  WrittenTile i, j;
  std::int64_t m, n, rows, columns;
};

class Drawing {
 public:
  Drawing(const ir::Symbols& symbols, std::uint64_t draw) : t(draw * 0x9e3779b9U + 7), symbols_(symbols) {}

  TileText t;
  std::int64_t symbol(const std::string& name) const { return symbols_.at(name); }
  bool one_in(std::uint64_t n) { return t.rng.below(n) == 0; }
  std::int64_t pick(std::int64_t n) { return static_cast<std::int64_t>(t.rng.below(static_cast<std::uint64_t>(n))); }
  template <class T>
  T among(std::initializer_list<T> of) {
    return *(of.begin() + pick(std::ssize(of)));
  }
  std::int64_t tile_extent() { return among<std::int64_t>({1, 2, 4, 4, 8, 8, 8, 16}); }
  static std::int64_t power_from(std::int64_t n) {
    std::int64_t power = 1;
    while (power < n) power *= 2;
    return power;
  }
  WrittenTile number(std::int64_t value) { return t.constant(DType::i32, {}, static_cast<double>(value)); }

  // --- Indices of the elements of a place

  WrittenTile vector_of(const WrittenTile& tile, std::int64_t extent) {
    return t.iota(t.same("muli", {tile, number(extent)}, tile.bound * static_cast<double>(extent)), extent);
  }
  WrittenTile down(const WrittenTile& vector, const Place& p) {
    return t.broadcast(t.reshape(vector, {p.m, 1}), {p.m, p.n});
  }
  WrittenTile across(const WrittenTile& vector, const Place& p) { return t.broadcast(vector, {p.m, p.n}); }
  WrittenTile row_of(const Place& p) { return down(vector_of(p.i, p.m), p); }
  WrittenTile column_of(const Place& p) { return across(vector_of(p.j, p.n), p); }

  std::string padding(DType element, bool finite) {
    if (ir::is_integral(element)) return among<const char*>({"", "zero"});
    if (finite) return among<const char*>({"", "zero", "zero", "neg_zero"});
    return among<const char*>({"", "zero", "neg_zero", "nan", "neg_inf", "pos_inf"});
  }

  // --- Leaves: f32 tiles of m x n

  /// Returns a random leaf. `finite`: values outside of the array are finite, too.
  WrittenTile leaf(const Place& p, bool finite) {
    const auto element = among({DType::f32, DType::f32, DType::f16, DType::bf16, DType::i32});
    return t.convert(any_leaf(p, element, finite), DType::f32);
  }

  WrittenTile any_leaf(const Place& p, DType element, bool finite) {
    const Extents tile = {p.m, p.n};
    switch (pick(11)) {
      case 0: {  // transposed by the view
        const WrittenArray x = t.array(element, {p.columns, p.rows}, 3);
        return t.load(t.view(x, tile, padding(element, finite), {1, 0}), {p.i, p.j});
      }
      case 1: {  // transposed by the program
        const WrittenArray x = t.array(element, {p.columns, p.rows}, 3);
        return t.permute(t.load(t.view(x, {p.n, p.m}, padding(element, finite)), {p.j, p.i}), {1, 0});
      }
      case 2: {  // one element per column
        const WrittenArray x = t.array(element, {p.columns}, 3);
        return across(t.load(t.view(x, {p.n}, padding(element, finite)), {p.j}), p);
      }
      case 3: {  // one element per row
        const WrittenArray x = t.array(element, {p.rows}, 3);
        return down(t.load(t.view(x, {p.m}, padding(element, finite)), {p.i}), p);
      }
      case 4:
        return t.broadcast(
            one_in(2) ? t.scalar(static_cast<double>(pick(5)) - 2) : t.convert(t.scalar(pick(5) - 2), DType::f32),
            tile);
      case 5:
        return by_pointers(p, element);
      case 6:
        return gathered(p, element);
      case 7: {  // one matrix of several
        const WrittenArray x = t.array(element, {3, p.rows, p.columns}, 3);
        return t.reshape(t.load(t.view(x, {1, p.m, p.n}, padding(element, finite)), {number(pick(3)), p.i, p.j}), tile);
      }
      case 8:
        return numbers_of_place(p);
      default:
        return t.load(t.view(t.array(element, {p.rows, p.columns}, 3), tile, padding(element, finite)), {p.i, p.j});
    }
  }

  WrittenTile by_pointers(const Place& p, DType element) {
    const WrittenArray x = t.array(element, {p.rows, p.columns}, 3);
    const Tiles at = {row_of(p), column_of(p)};
    const WrittenTile pointers = t.pointers(x, at), mask = t.inside(x, at);
    if (one_in(3)) return t.load(pointers, x, &mask, nullptr);
    const WrittenTile padding = t.constant(element, {p.m, p.n}, static_cast<double>(pick(3)));
    return t.load(pointers, x, &mask, &padding);
  }

  /// Loads rows or columns at the indices that an array contains.
  WrittenTile gathered(const Place& p, DType element) {
    const std::int64_t there = 1 + pick(9);
    const bool rows = one_in(2);
    const WrittenArray numbers = t.numbers(rows ? p.rows : p.columns, there, false);
    const WrittenArray x = rows ? t.array(element, {there, p.columns}, 3) : t.array(element, {p.rows, there}, 3);
    const WrittenTile at = vector_of(rows ? p.i : p.j, rows ? p.m : p.n);
    const WrittenTile known = t.inside(numbers, {at}), none = t.constant(DType::i32, at.shape, -1);
    const WrittenTile loaded = t.load(t.pointers(numbers, {at}), numbers, &known, &none);
    const WrittenTile number = rows ? down(loaded, p) : across(loaded, p);
    const Tiles index = rows ? Tiles{number, column_of(p)} : Tiles{row_of(p), number};
    const WrittenTile above = t.compare("greater_than_or_equal", number, t.constant(DType::i32, number.shape, 0));
    const WrittenTile mask = t.same("andi", {t.inside(x, index), above}, 1);
    const WrittenTile padding = t.constant(element, {p.m, p.n}, static_cast<double>(pick(3)));
    return t.load(t.pointers(x, index), x, &mask, &padding);
  }

  /// Returns integers that depend on the row and the column.
  WrittenTile numbers_of_place(const Place& p) {
    WrittenTile i = row_of(p), j = column_of(p);
    i.bound = static_cast<double>(p.rows + p.m), j.bound = static_cast<double>(p.columns + p.n);
    WrittenTile all = t.same(among({"addi", "subi"}), {i, j}, i.bound + j.bound);
    if (one_in(3)) all = t.same(among({"maxi", "mini"}), {all, j}, all.bound, " signed");
    if (one_in(2)) all = t.integer("remi", all, 2 + pick(5));
    if (one_in(3)) all = t.integer("muli", all, pick(4));
    return all;
  }

  // --- Steps

  WrittenTile& any_of(Tiles& pool) { return pool[static_cast<std::size_t>(pick(std::ssize(pool)))]; }

  WrittenTile steps(Tiles pool, const Place& p, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) pool.push_back(step(pool, p));
    return pool.back();
  }

  WrittenTile step(Tiles& pool, const Place& p) {
    const WrittenTile a = pool.back(), b = any_of(pool), c = any_of(pool);
    switch (pick(16)) {
      case 0:
        return t.same("subf", {a, b}, a.bound + b.bound);
      case 1:
        return a.bound * b.bound < exact ? t.same("mulf", {a, b}, a.bound * b.bound) : a;
      case 2:
        return t.same(among({"negf", "absf"}), {a}, a.bound);
      case 3:
        return t.same(among({"maxf", "minf"}), {a, b}, std::max(a.bound, b.bound));
      case 4:
        return a.bound * b.bound + c.bound < exact ? t.same("fma", {a, b, c}, a.bound * b.bound + c.bound) : a;
      case 5:
        return t.select(t.compare(among({"less_than", "equal", "greater_than_or_equal"}), a, b), b, c);
      case 6: {
        const WrittenTile limit =
            one_in(2) ? column_of(p) : t.constant(DType::i32, {p.m, p.n}, static_cast<double>(pick(20)));
        return t.select(t.compare(among({"less_than", "greater_than_or_equal", "not_equal"}), row_of(p), limit), a, b);
      }
      case 7:
        return t.convert(t.convert(a, among({DType::f16, DType::bf16})), DType::f32);
      case 8:
        return in_16_bits(a, b);
      case 9:
        return by_branch(a, b, p);
      case 10:
        return t.permute(t.permute(a, {1, 0}), {1, 0});
      case 11:
        return t.reshape(t.same("addf", {t.reshape(a, {p.m * p.n}), t.reshape(b, {p.m * p.n})}, a.bound + b.bound),
                         {p.m, p.n});
      case 12:
        return over_tile(a, p);
      case 13:
        return in_loop(a, b);
      case 14:
        return leaf(p, true);
      default:
        return t.same("addf", {a, b}, a.bound + b.bound);
    }
  }

  WrittenTile in_16_bits(const WrittenTile& a, const WrittenTile& b) {
    if (a.bound + b.bound > 0x1p11) return a;
    const WrittenTile x = t.convert(a, DType::f16), y = t.convert(b, DType::f16);
    return t.convert(t.same("addf", {x, y}, a.bound + b.bound), DType::f32);
  }

  WrittenTile by_branch(const WrittenTile& a, const WrittenTile& b, const Place& p) {
    const WrittenTile condition = t.compare(among({"less_than", "equal"}), p.i, one_in(2) ? p.j : number(pick(3)));
    t.begin_if(condition, {a});
    const WrittenTile sum = t.same("addf", {a, b}, a.bound + b.bound);
    t.begin_else({sum});
    return t.end_if({b})[0];
  }

  /// Reduces each row or column of the tile and broadcasts the result, which depends on where the tile ends.
  WrittenTile over_tile(const WrittenTile& a, const Place& p) {
    const bool rows = one_in(2);
    if (!(a.bound * 16 < exact)) return a;
    const WrittenTile all = t.reduce(among({"addf", "maxf", "minf"}), a, rows ? 1 : 0);
    return rows ? down(all, p) : across(all, p);
  }

  WrittenTile in_loop(const WrittenTile& a, const WrittenTile& b) {
    const std::int64_t trips = 1 + pick(4);
    const bool adds = one_in(2) && (a.bound + b.bound) * 4 < exact;
    const auto [counter, carried] = t.begin_for(number(0), number(trips), number(1), {a});
    const WrittenTile next = adds ? t.same("addf", {carried[0], b}, a.bound + 4 * b.bound)
                                  : t.same("maxf", {carried[0], b}, std::max(a.bound, b.bound));
    return t.end_for({next})[0];
  }

  // --- Stores

  void store(const WrittenTile& value, const Place& p) {
    const DType element = among({DType::f32, DType::f32, DType::f16, DType::bf16});
    const WrittenTile written = t.convert(value, element);
    switch (pick(5)) {
      case 0: {
        const WrittenArray y = t.array(element, {p.rows, p.columns}, 3);
        const Tiles at = {row_of(p), column_of(p)};
        const WrittenTile pointers = t.pointers(y, at), mask = t.inside(y, at);
        return t.store(pointers, written, &mask);
      }
      case 1: {
        const WrittenArray y = t.array(element, {p.columns, p.rows}, 3);
        return t.store(t.view(y, {p.m, p.n}, "", {1, 0}), {p.i, p.j}, written);
      }
      case 2: {
        const WrittenArray y = t.array(element, {p.columns, p.rows}, 3);
        return t.store(t.view(y, {p.n, p.m}, ""), {p.j, p.i}, t.permute(written, {1, 0}));
      }
      default:
        t.store(t.view(t.array(element, {p.rows, p.columns}, 3), {p.m, p.n}, ""), {p.i, p.j}, written);
    }
  }

  // --- Blocks: distribute the tiles of an array. `body` writes the code for a place.

  void at_each_tile(std::int64_t m, std::int64_t n, std::int64_t rows, std::int64_t columns,
                    const std::function<void(const Place&)>& body) {
    const std::int64_t down = tiles(rows, m), across = tiles(columns, n);
    const auto place = [&](const WrittenTile& i, const WrittenTile& j) { return Place{i, j, m, n, rows, columns}; };
    const auto part = [&](const WrittenTile& of) {
      const WrittenTile by = number(across);
      const WrittenTile i = t.same("divi", {of, by}, 1e4, " signed"), j = t.same("remi", {of, by}, 1e4, " signed");
      return place(i, j);
    };
    switch (pick(5)) {
      case 0:
        t.launch.grid({across, down, 1});
        return body(place(t.block(1), t.block(0)));
      case 1:
        t.launch.grid({down * across, 1, 1});
        return body(part(t.block(0)));
      case 2: {
        t.launch.grid({1 + pick(5), 1, 1});
        const auto [tile, none] = t.begin_for(t.block(0), number(down * across), t.blocks(0), {});
        body(part(tile));
        t.end_for({});
        return;
      }
      case 3:
        t.launch.grid({1, down, across});
        return body(place(t.block(1), t.block(2)));
      default:
        t.launch.grid({down, across, 1});
        return body(place(t.block(0), t.block(1)));
    }
  }

  TileSubject subject(double tolerance = 0) {
    return {tp::read_program(t.text(), "drawn.tile"), std::move(t.launch), tolerance};
  }

 private:
  ir::Symbols symbols_;
};

// --- Kinds -----------------------------------------------------------------------------------------------------------

TileSubject elements(const ir::Symbols& symbols, std::uint64_t draw) {
  Drawing d(symbols, draw);
  const std::int64_t m = d.tile_extent(), n = d.tile_extent();
  d.at_each_tile(m, n, symbols.at("M"), symbols.at("N"), [&](const Place& p) {
    Tiles pool;
    for (std::int64_t i = 1 + d.pick(3); i > 0; --i) pool.push_back(d.leaf(p, d.one_in(2)));
    const WrittenTile value = d.steps(pool, p, symbols.at("S"));
    d.store(value, p);
    if (d.one_in(3)) d.store(d.step(pool, p), p);
  });
  return d.subject();
}

/// Reads and writes the same array.
TileSubject in_place(const ir::Symbols& symbols, std::uint64_t draw) {
  Drawing d(symbols, draw);
  const std::int64_t m = d.tile_extent(), n = d.tile_extent();
  const WrittenArray y = d.t.array(DType::f32, {symbols.at("M"), symbols.at("N")}, 3);
  const WrittenView view = d.t.view(y, {m, n}, "");
  d.at_each_tile(m, n, symbols.at("M"), symbols.at("N"), [&](const Place& p) {
    const WrittenTile before = d.t.load(view, {p.i, p.j});
    const WrittenTile value = d.steps({d.leaf(p, true), before}, p, symbols.at("S"));
    d.t.store(view, {p.i, p.j}, d.t.same("addf", {value, before}, value.bound + before.bound));
  });
  return d.subject();
}

/// Reduces rows or columns, in one tile or in a loop. The loop reduces each tile, or combines the tiles and reduces the
/// result.
TileSubject reduction(const ir::Symbols& symbols, std::uint64_t draw) {
  Drawing d(symbols, draw);
  TileText& t = d.t;
  const bool rows = d.one_in(2), one_tile = d.one_in(3), first_all = d.one_in(2);
  const std::int64_t kept = symbols.at("M"), all = symbols.at("N");
  const std::int64_t a = d.tile_extent(), b = one_tile ? Drawing::power_from(all) : d.tile_extent();
  const std::string op = d.among({"addf", "addf", "maxf", "minf"});
  t.launch.grid({tiles(kept, a), 1, 1});
  const auto place = [&](const WrittenTile& trip) {
    return rows ? Place{t.block(0), trip, a, b, kept, all} : Place{trip, t.block(0), b, a, all, kept};
  };
  const auto value_at = [&](const Place& p) {
    const WrittenTile value = d.steps({d.leaf(p, true)}, p, symbols.at("S"));
    const double many = static_cast<double>(tiles(all, b) * b);
    return op != "addf" || value.bound * many < exact ? value : t.constant(DType::f32, value.shape, 1);
  };
  WrittenTile result;
  if (one_tile) {
    result = t.reduce(op, value_at(place(d.number(0))), rows ? 1 : 0);
  } else {
    const double start = op == "addf" ? 0 : op == "maxf" ? -9 : 9;
    const Extents shape = first_all ? (rows ? Extents{a, b} : Extents{b, a}) : Extents{a};
    const WrittenTile first = t.constant(DType::f32, shape, start);
    const auto [trip, carried] = t.begin_for(d.number(0), d.number(tiles(all, b)), d.number(1), {first});
    WrittenTile value = value_at(place(trip));
    if (!first_all) value = t.reduce(op, value, rows ? 1 : 0);
    const double many = op == "addf" ? static_cast<double>(tiles(all, b)) : 1;
    result = t.end_for({t.same(op, {carried[0], value}, many * value.bound)})[0];
    if (first_all) result = t.reduce(op, result, rows ? 1 : 0);
  }
  const WrittenArray y = t.array(DType::f32, {kept}, 3);
  t.store(t.view(y, {a}, ""), {t.block(0)}, result);
  return d.subject();
}

/// Divides each row, which lies in one tile, by its sum. The elements are exponentials relative to the row's maximum,
/// which are not exact, or positive numbers.
TileSubject row_norm(const ir::Symbols& symbols, std::uint64_t draw) {
  Drawing d(symbols, draw);
  TileText& t = d.t;
  const std::int64_t m = d.tile_extent(), n = Drawing::power_from(symbols.at("N"));
  t.launch.grid({tiles(symbols.at("M"), m), 1, 1});
  const Place p{t.block(0), d.number(0), m, n, symbols.at("M"), symbols.at("N")};
  const WrittenArray x = t.array(d.among({DType::f32, DType::f16}), {p.rows, p.columns}, 3);
  const bool exponentials = d.one_in(2);
  WrittenTile tile = t.convert(t.load(t.view(x, {m, n}, exponentials ? "neg_inf" : "zero"), {p.i, p.j}), DType::f32);
  if (exponentials) {
    const WrittenTile less = t.same("subf", {tile, d.down(t.reduce("maxf", tile, 1), p)}, 6);
    tile = t.same(d.among({"exp", "exp2"}), {less}, 1);
  } else {
    tile = t.same("absf", {d.steps({tile, d.leaf(p, true)}, p, symbols.at("S"))}, 1e3);
    tile = t.same("addf", {tile, t.constant(DType::f32, {m, n}, 1)}, 1e3);
  }
  const WrittenTile sum = t.reduce("addf", tile, 1);
  d.store(t.same("divf", {tile, d.down(sum, p)}, 1), p);
  if (d.one_in(3)) t.store(t.view(t.array(DType::f32, {p.rows}, 3), {m}, ""), {p.i}, sum);
  return d.subject(2e-3);  // for results that are stored in 16 bits
}

TileSubject product(const ir::Symbols& symbols, std::uint64_t draw) {
  Drawing d(symbols, draw);
  TileText& t = d.t;
  const std::int64_t m = d.tile_extent(), n = d.tile_extent(), k = d.tile_extent(), depth = symbols.at("K");
  const auto element = d.among({DType::f32, DType::f16, DType::bf16, DType::tf32});
  const bool batched = d.one_in(4), triangle = d.one_in(8);
  d.at_each_tile(m, n, symbols.at("M"), symbols.at("N"), [&](const Place& p) {
    const WrittenTile zero = t.constant(DType::f32, {m, n}, 0);
    WrittenTile end = d.number(tiles(depth, k));
    if (triangle) end = t.same("mini", {end, t.same("addi", {p.i, d.number(1)}, 1e4)}, end.bound, " signed");
    const auto [trip, carried] = t.begin_for(d.number(0), end, d.number(1), {zero});
    const auto factor = [&](const Place& at) {
      WrittenTile leaf = d.leaf(at, true);
      if (d.one_in(3)) leaf = d.steps({leaf}, at, 1 + d.pick(2));
      if (leaf.bound > 64)
        leaf = d.t.load(d.t.view(t.array(DType::f32, {at.rows, at.columns}, 3), {at.m, at.n}, "zero"), {at.i, at.j});
      return t.convert(leaf, element);
    };
    WrittenTile a = factor({p.i, trip, m, k, p.rows, depth}), b = factor({trip, p.j, k, n, depth, p.columns});
    WrittenTile sum = carried[0];
    if (batched) a = t.reshape(a, {1, m, k}), b = t.reshape(b, {1, k, n}), sum = t.reshape(sum, {1, m, n});
    sum = t.multiply_tiles(a, b, sum, tiles(depth, k) * k);
    const WrittenTile all = t.end_for({t.reshape(sum, {m, n})})[0];
    d.store(d.steps({d.leaf(p, true), all}, p, symbols.at("S") - 1), p);
  });
  return d.subject();
}

/// Stores rows at the indices that an array contains.
TileSubject scatter(const ir::Symbols& symbols, std::uint64_t draw) {
  Drawing d(symbols, draw);
  TileText& t = d.t;
  const std::int64_t m = d.tile_extent(), n = d.tile_extent(), there = 1 + d.pick(20);
  const WrittenArray numbers = t.numbers(symbols.at("M"), there, true);
  const WrittenArray y = t.array(DType::f32, {there, symbols.at("N")}, 0, d.one_in(8));
  t.launch.grid({tiles(symbols.at("M"), m), tiles(symbols.at("N"), n), 1});
  const Place p{t.block(0), t.block(1), m, n, symbols.at("M"), symbols.at("N")};
  const WrittenTile at = d.vector_of(p.i, m), none = t.constant(DType::i32, {m}, -1);
  const WrittenTile known = t.inside(numbers, {at});
  const WrittenTile number = d.down(t.load(t.pointers(numbers, {at}), numbers, &known, &none), p);
  const Tiles index = {number, d.column_of(p)};
  const WrittenTile above = t.compare("greater_than_or_equal", number, t.constant(DType::i32, {m, n}, 0));
  const WrittenTile mask = t.same("andi", {t.inside(y, index), above}, 1);
  const WrittenTile value = d.steps({d.leaf(p, true)}, p, symbols.at("S"));
  t.store(t.pointers(y, index), value, &mask);
  return d.subject();
}

// --- Programs that Loop IR cannot express

TileSubject running_sum(const ir::Symbols& symbols, std::uint64_t draw) {
  Drawing d(symbols, draw);
  const std::int64_t m = d.tile_extent(), n = d.tile_extent();
  d.at_each_tile(m, n, symbols.at("M"), symbols.at("N"), [&](const Place& p) {
    const WrittenTile value = d.steps({d.leaf(p, true)}, p, symbols.at("S"));
    d.store(d.t.running_sum(value.bound * 16 < exact ? value : d.leaf(p, true), d.pick(2)), p);
  });
  return d.subject();
}

TileSubject store_in_branch(const ir::Symbols& symbols, std::uint64_t draw) {
  Drawing d(symbols, draw);
  const std::int64_t m = d.tile_extent(), n = d.tile_extent();
  d.at_each_tile(m, n, symbols.at("M"), symbols.at("N"), [&](const Place& p) {
    const WrittenTile value = d.steps({d.leaf(p, true)}, p, symbols.at("S"));
    d.t.begin_if(d.t.compare("less_than", p.i, p.j), {});
    d.store(value, p);
    d.t.begin_else({});
    d.t.end_if({});
  });
  return d.subject();
}

TileSubject atomic_sum(const ir::Symbols& symbols, std::uint64_t draw) {
  Drawing d(symbols, draw);
  TileText& t = d.t;
  const std::int64_t m = d.tile_extent(), n = d.tile_extent();
  const WrittenArray y = t.array(DType::f32, {symbols.at("N")}, 3);
  d.at_each_tile(m, n, symbols.at("M"), symbols.at("N"), [&](const Place& p) {
    const WrittenTile value = d.steps({d.leaf(p, true)}, p, symbols.at("S"));
    const WrittenTile column = d.column_of(p), row = d.row_of(p);
    const WrittenTile extent{y.name + "_n0", DType::i32, {}, 1e4};
    const WrittenTile rows = t.compare("less_than", row, t.constant(DType::i32, {m, n}, static_cast<double>(p.rows)));
    const WrittenTile mask = t.same("andi", {t.compare("less_than", column, t.broadcast(extent, {m, n})), rows}, 1);
    t.add_atomically(t.pointers(y, {column}), value.bound * 16384 < exact ? value : t.constant(DType::f32, {m, n}, 1),
                     mask);
  });
  return d.subject();
}

/// Runs a loop whose number of iterations is loaded.
TileSubject loaded_trips(const ir::Symbols& symbols, std::uint64_t draw) {
  Drawing d(symbols, draw);
  TileText& t = d.t;
  const std::int64_t m = d.tile_extent(), n = d.tile_extent();
  const WrittenArray trips = t.numbers(1, 4, false);
  const WrittenView view = t.view(trips, {1}, "");
  d.at_each_tile(m, n, symbols.at("M"), symbols.at("N"), [&](const Place& p) {
    const WrittenTile end = t.reshape(t.load(view, {d.number(0)}), {});
    const WrittenTile first = d.leaf(p, true), added = d.leaf(p, true);
    const auto [trip, carried] = t.begin_for(d.number(0), end, d.number(1), {first});
    d.store(t.end_for({t.same("addf", {carried[0], added}, first.bound + 8 * added.bound)})[0], p);
  });
  return d.subject();
}

}  // namespace

const std::vector<TileKind>& drawn_tile_kinds() {
  using Raised = TileKind::Raised;
  static const std::vector<TileKind> kinds = {
      {"elements", {{"M", 64}, {"N", 64}, {"S", 13}}, Raised::partly, 24, true, elements},
      {"in_place", {{"M", 33}, {"N", 64}, {"S", 8}}, Raised::partly, 6, true, in_place},
      {"reduction", {{"M", 33}, {"N", 100}, {"S", 8}}, Raised::partly, 16, true, reduction},
      {"row_norm", {{"M", 33}, {"N", 100}, {"S", 5}}, Raised::partly, 12, true, row_norm},
      {"product", {{"M", 33}, {"N", 33}, {"K", 61}, {"S", 5}}, Raised::partly, 24, true, product},
      {"scatter", {{"M", 61}, {"N", 33}, {"S", 5}}, Raised::partly, 6, true, scatter},
      {"running_sum", {{"M", 33}, {"N", 33}, {"S", 5}}, Raised::never, 1, true, running_sum},
      {"store_in_branch", {{"M", 33}, {"N", 33}, {"S", 5}}, Raised::never, 1, true, store_in_branch},
      {"atomic_sum", {{"M", 33}, {"N", 33}, {"S", 5}}, Raised::never, 1, true, atomic_sum},
      {"loaded_trips", {{"M", 33}, {"N", 33}}, Raised::never, 1, true, loaded_trips},
  };
  return kinds;
}

}  // namespace deplo::rules
