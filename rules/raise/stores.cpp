// Inverts a store: from the element that is written, finds the block, the trip and the place in the tile that write it.
//
// Along each dimension of the array, a store writes to index C q + e. e is the place in the tile, below C, and q is an
// integer that the block and the trips determine. If p is the coordinate of the element, then e = p % C and q = p / C.
// They determine everything from which the value is computed, if each q belongs to exactly one block and trip. This is
// checked by evaluating q for all blocks and trips, unless each q is simply the number of one dimension of the grid or
// of one loop.
//
// If a loaded integer determines where an element is written (a scatter), the coordinates of that integer replace the
// dimension that it selects. Each integer of its array writes once.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "ir/tensor/emitter.h"
#include "rules/raise/evaluator.h"
#include "rules/raise/proofs.h"

namespace deplo::rules::raising {
namespace {

constexpr std::int64_t max_blocks = 1 << 22;

/// The summand coefficient * variable. The variable is below `extent`.
struct Term {
  std::string variable;
  std::int64_t coefficient, extent;
};

bool is_unknown(const std::string& name) {
  return name == "bx" || name == "by" || name == "bz" || (name.size() > 1 && (name[0] == 's' || name[0] == 'l'));
}

void set_solved(Evaluator& in, const std::string& name, const ir::Expr& e) {
  for (auto& [other, known] : in.solved) known = in.elements.simplify(ir::substitute(known, {{name, e}}));
  in.solved.emplace_back(name, e);
}

/// Solves `block` == `wanted` if `block` is a mixed-radix number of its unknowns. Example: 4 x + l with l below 4 gives
/// l = wanted % 4 and x = wanted / 4.
bool split(Evaluator& in, const ir::Expr& block, const std::vector<std::string>& names, const ir::Expr& wanted) {
  std::vector<Term> terms;
  ir::Substitution none;
  for (const std::string& name : names) {
    const auto c = ir::coefficient(block, name);
    const auto range = in.elements.bounds(ir::var(name));
    if (!c || !range || range->low != 0) return false;
    terms.push_back({name, *c, range->high + 1});
    none.emplace_back(name, 0);
  }
  if (!in.elements.simplify(ir::substitute(block, none)).is_constant(0)) return false;
  std::ranges::sort(terms, {}, &Term::coefficient);
  std::int64_t step = 1;
  for (const Term& term : terms) {
    if (term.coefficient != step) return false;
    step *= term.extent;
  }
  for (const Term& term : terms) {
    const ir::Expr at = wanted / term.coefficient;
    set_solved(in, term.variable, in.elements.simplify(&term == &terms.back() ? at : at % term.extent));
  }
  return true;
}

/// Solves `block` == `wanted` for one of its unknowns.
void solve_for(Evaluator& in, const tp::Operation& op, ir::Expr block, const ir::Expr& wanted) {
  block = in.elements.simplify(ir::substitute(block, in.solved));
  std::vector<std::string> names = ir::variables(block);
  std::erase_if(names, [](const std::string& name) { return !is_unknown(name); });
  if (names.empty()) return;
  if (split(in, block, names, wanted)) return;
  // Among unknown scalars, the one that was computed last comes first.
  for (auto name = names.rbegin(); name != names.rend(); ++name) {
    const auto c = ir::coefficient(block, *name);
    if (c != 1 && c != -1) continue;
    const ir::Expr others = ir::substitute(block, {{*name, 0}});
    set_solved(in, *name, in.elements.simplify(c == 1 ? wanted - others : others - wanted));
    return;
  }
  in.refuse(op, fmt::format("expected a tile index that is a sum of block indices, found {}", ir::print(block)));
}

class Store {
 public:
  Store(Evaluator& in, const tp::Operation& op, const std::vector<const tp::Operation*>& around)
      : in_(in), op_(op), around_(around) {
    value_ = op.operand(through_view(op) ? "tile" : "value");
  }

  Output run() {
    check_order(in_, op_);
    enter_loops();
    array_ = accessed(in_, op_);
    cut();
    check_once();
    solve();
    in_.forget();
    const Place place = check_places();
    Output output{array_, &op_, extents_, chosen_ ? Index() : identity_, in_.value(value_, tile_at_)};
    if (chosen_) output.root = scattered(place, output.root);
    for (std::size_t i = 0; i < around_.size(); ++i) in_.leave();
    if (const std::string name = in_.elements.unexplained(output.root); !name.empty())
      in_.refuse(op_, "its value depends on the block or the trip beyond the index of the written element");
    return output;
  }

 private:
  const Array& array() const { return in_.arrays[static_cast<std::size_t>(array_)]; }
  /// The dimension of the array that coordinate d belongs to, for messages.
  std::string place_name(std::size_t d) const {
    return fmt::format("dimension {} of {}", dimensions_[d].second,
                       in_.arrays[static_cast<std::size_t>(dimensions_[d].first)].name);
  }

  /// The place of the tile's element along each coordinate.
  Index coordinates(const Place& place) const {
    Index at;
    for (std::size_t d = 0; d < place.at.size(); ++d) {
      if (chosen_ != d) {
        at.push_back(place.at[d]);
      } else {
        const Index& of_number = number(place.at[d]).at;
        at.insert(at.end(), of_number.begin(), of_number.end());
      }
    }
    return at;
  }

  /// The loaded integer that selects an index.
  const Evaluator::Loaded& number(const ir::Expr& index) const {
    const std::vector<std::string> names = ir::variables(index);
    const auto known = names.size() == 1 ? in_.integers.find(loaded(names[0])) : in_.integers.end();
    if (known == in_.integers.end())
      in_.refuse(op_,
                 fmt::format("expected one loaded number in the index that it writes, found {}", ir::print(index)));
    return known->second;
  }

  /// Finds the dimension that loaded integers select, and the coordinates.
  void find_coordinates(const Place& place) {
    for (std::size_t d = 0; d < place.at.size(); ++d) {
      if (!names_loaded(place.at[d])) {
        dimensions_.emplace_back(array_, d);
        extents_.push_back(array().shape[d]);
        continue;
      }
      if (chosen_) in_.refuse(op_, "two of its indices contain loaded numbers");
      chosen_ = d;
      const Evaluator::Loaded& by = number(place.at[d]);
      const ir::Shape& shape = in_.arrays[static_cast<std::size_t>(by.array)].shape;
      for (std::size_t i = 0; i < shape.size(); ++i) dimensions_.emplace_back(by.array, i);
      const std::string name = ir::variables(place.at[d]).at(0);
      padding_writes_ =
          !by.padding ||
          !in_.elements.simplify(ir::substitute(place.condition, {{name, ir::Expr(*by.padding)}})).is_constant(0);
      extents_.insert(extents_.end(), shape.begin(), shape.end());
    }
  }

  void enter_loops() {
    for (std::size_t i = 0; i < around_.size(); ++i) {
      const tp::Operation& loop = *around_[i];
      const std::int64_t step = step_of(in_, loop);
      const ir::Expr lower = in_.elements.simplify(in_.scalar(loop.operand("lower")));
      const bool deals = i == 0 && lower.kind() != ir::Expr::Kind::constant;
      trips_.push_back(deals ? deal(loop, step) : trips(in_, loop));
      if (trips_.back() == 0) in_.refuse(op_, "its loop has no trips");
      const auto trip = [this, i] { return in_.unknown("l" + std::to_string(i), trips_[i]); };
      std::map<tp::ValueId, ElementAt> arguments;
      const auto& all = loop.regions[0].arguments;
      const ir::Expr start = deals ? ir::Expr(0) : lower;
      arguments[all[0]] = [this, trip, start, by = deals ? 1 : step](const Index&) -> Element {
        return {in_.elements.simplify(trip() * by + start)};
      };
      for (std::size_t c = 1; c < all.size(); ++c)
        arguments[all[c]] = [this, trip, &loop, c, deals](const Index& index) -> Element {
          const tp::Type& type = in_.type(loop.regions[0].arguments[c]);
          if (deals || (!type.pointer && !ir::is_integral(type.element)))
            in_.refuse(op_, "it writes a carried value of its loop");
          return in_trip(in_, loop, c - 1, trip(), index);
        };
      in_.enter(loop.regions[0], std::move(arguments));
    }
  }

  /// Checks a loop that distributes numbers over blocks: it begins at the block's number and steps by the number of
  /// blocks. Each number below the upper bound must occur exactly once, in any block. Returns how many numbers there
  /// are.
  std::int64_t deal(const tp::Operation& loop, std::int64_t step) {
    const std::int64_t upper = in_.number(loop, loop.operand("upper"), "an upper bound");
    const auto& grid = in_.launch.grid;
    if (upper > max_blocks || grid[0] * grid[1] * grid[2] > max_blocks)
      in_.refuse(loop, fmt::format("expected at most {} blocks and trips", max_blocks));
    std::vector<bool> dealt(static_cast<std::size_t>(std::max<std::int64_t>(upper, 0)));
    for (std::int64_t block = 0; block < grid[0] * grid[1] * grid[2]; ++block) {
      in_.solved = {{"bx", block % grid[0]}, {"by", block / grid[0] % grid[1]}, {"bz", block / grid[0] / grid[1]}};
      in_.forget();
      for (std::int64_t n = in_.number(loop, loop.operand("lower"), "a lower bound"); n < upper; n += step) {
        if (n < 0 || dealt[static_cast<std::size_t>(n)])
          in_.refuse(loop, fmt::format("expected each trip in one block, found trip {} in two", n));
        dealt[static_cast<std::size_t>(n)] = true;
      }
    }
    in_.solved.clear();
    in_.forget();
    if (!std::ranges::all_of(dealt, std::identity()))
      in_.refuse(loop, "expected each trip in one block, found one that no block executes");
    blocks_share_trips_ = true;
    return upper;
  }

  /// The place in the tile, as variables e0, e1, ….
  Index tile_variables() {
    Index index;
    const tp::Extents& shape = in_.type(value_).shape;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const std::string name = "e" + std::to_string(d);
      index.push_back(shape[d] == 1 ? ir::Expr(0) : ir::var(name));
      if (shape[d] > 1) in_.elements.declare(name, ir::Interval{0, shape[d] - 1});
    }
    return index;
  }

  /// Splits the index along each dimension into C, q, and the parts of e.
  void cut() {
    const Place place = place_of(in_, op_, tile_variables());
    if (place.mask != ValueId::none)
      in_.refuse(op_, "its mask depends on data, so some elements keep their old values");
    find_coordinates(place);
    const Index at = coordinates(place);
    for (std::size_t d = 0; d < at.size(); ++d) {
      const tp::Extents& shape = in_.type(value_).shape;
      std::vector<Term> parts;
      ir::Expr rest = at[d];
      ir::Substitution no_tile;
      for (std::size_t e = 0; e < shape.size(); ++e) {
        const std::string name = "e" + std::to_string(e);
        if (!ir::depends_on(rest, name)) continue;
        const auto c = ir::coefficient(rest, name);
        if (!c || *c <= 0)
          in_.refuse(op_,
                     fmt::format("expected elements in order along {}, found {}", place_name(d), ir::print(at[d])));
        parts.push_back({name, *c, shape[e]});
        no_tile.emplace_back(name, 0);
      }
      rest = in_.elements.simplify(ir::substitute(rest, no_tile));
      std::ranges::sort(parts, {}, &Term::coefficient);
      std::int64_t size = 1;
      for (const Term& part : parts) {
        if (part.coefficient != size) in_.refuse(op_, "expected tiles without gaps and overlaps");
        size *= part.extent;
      }
      sizes_.push_back(size);
      parts_.push_back(std::move(parts));
      const ir::Expr block = in_.elements.simplify(rest / size);
      if (!in_.elements.simplify(rest - block * size).is_constant(0) && ir::known_divisor(rest) % size != 0)
        in_.refuse(op_, fmt::format("expected tiles that begin at multiples of {}, found {}", size, ir::print(rest)));
      blocks_.push_back(block);
      check_end(at[d], place.condition, d);
    }
  }

  /// Checks that a condition prevents writes beyond the array.
  void check_end(const ir::Expr& at, const ir::Expr& condition, std::size_t d) {
    const std::int64_t extent = extents_[d];
    const ir::Expr within = in_.elements.simplify(ir::less(at, extent));
    if (within.is_constant(1) || std::ranges::count(conjuncts(condition), within) > 0) return;
    // A tile that begins inside ends inside; a tile outside is an error of the program.
    if (extent % sizes_[d] == 0) return;
    if (dimensions_[d].first != array_ && !padding_writes_) return;
    in_.refuse(op_, fmt::format("expected a mask that ends {} at {}", place_name(d), extent));
  }

  std::int64_t tiles(std::size_t d) const { return (extents_[d] + sizes_[d] - 1) / sizes_[d]; }

  /// Is each dimension of the grid and each loop with more than one iteration the tile number along exactly one
  /// dimension?
  bool is_plain() {
    std::vector<std::pair<std::string, std::int64_t>> open;
    for (std::size_t d = 0; d < 3 && !blocks_share_trips_; ++d)
      if (in_.launch.grid.at(d) > 1) open.emplace_back(in_.block(d).name(), in_.launch.grid.at(d));
    for (std::size_t i = 0; i < trips_.size(); ++i)
      if (trips_[i] > 1) open.emplace_back("l" + std::to_string(i), trips_[i]);
    for (std::size_t d = 0; d < blocks_.size(); ++d) {
      if (tiles(d) == 1 && blocks_[d].is_constant(0)) continue;
      if (blocks_[d].kind() != ir::Expr::Kind::variable) return false;
      const auto found = std::ranges::find(open, std::pair(blocks_[d].name(), tiles(d)));
      if (found == open.end()) return false;
      open.erase(found);
    }
    return open.empty();
  }

  /// Checks, by evaluating every block and trip, that each tile is written exactly once.
  void check_once() {
    if (is_plain()) return;
    std::vector<std::pair<std::string, std::int64_t>> unknowns;
    static const std::array<std::string, 3> names = {"bx", "by", "bz"};
    std::int64_t all = 1, wanted = 1;
    for (std::size_t d = 0; d < 3 && !blocks_share_trips_; ++d)
      unknowns.emplace_back(names.at(d), in_.launch.grid.at(d));
    for (std::size_t i = 0; i < trips_.size(); ++i) unknowns.emplace_back("l" + std::to_string(i), trips_[i]);
    for (const auto& [name, extent] : unknowns) all *= extent;
    for (std::size_t d = 0; d < blocks_.size(); ++d) wanted *= tiles(d);
    if (all > max_blocks)
      in_.refuse(op_, fmt::format("expected at most {} blocks and trips, found {}", max_blocks, all));
    std::set<std::vector<std::int64_t>> written;
    for (std::int64_t number = 0; number < all; ++number) {
      in_.solved.clear();
      std::int64_t rest = number;
      for (const auto& [name, extent] : unknowns) {
        in_.solved.emplace_back(name, rest % extent);
        rest /= extent;
      }
      if (const auto tile = tile_of_solved(); tile && !written.insert(*tile).second)
        in_.refuse(op_,
                   fmt::format("expected each element of {} to be written once, found a tile that two blocks write",
                               array().name));
    }
    in_.solved.clear();
    in_.forget();
    if (static_cast<std::int64_t>(written.size()) != wanted)
      in_.refuse(op_, fmt::format("expected all {} tiles of {} to be written, found {}", wanted, array().name,
                                  written.size()));
  }

  /// The tile that is written by the block and the trips in `solved`; nullopt if the tile is outside the array.
  std::optional<std::vector<std::int64_t>> tile_of_solved() {
    in_.forget();
    const Place place = place_of(in_, op_, Index(in_.type(value_).shape.size(), 0));
    std::vector<std::int64_t> tile;
    const Index coordinate = coordinates(place);
    for (std::size_t d = 0; d < coordinate.size(); ++d) {
      const ir::Expr at = in_.elements.simplify(coordinate[d]);
      if (at.kind() != ir::Expr::Kind::constant)
        in_.refuse(
            op_, fmt::format("expected an index that depends only on the block and the trip, found {}", ir::print(at)));
      if (at.value() >= extents_[d] || at.value() < 0) {
        if (through_view(op_) || !in_.elements.simplify(place.condition).is_constant(0))
          in_.refuse(op_, fmt::format("expected a tile within {}, which has {} elements, found one at {}",
                                      place_name(d), extents_[d], at.value()));
        return std::nullopt;
      }
      tile.push_back(at.value() / sizes_[d]);
    }
    return tile;
  }

  void solve() {
    in_.elements.shape = extents_;
    identity_ = ir::tensor::identity(extents_);
    tile_at_ = tile_variables();
    for (std::size_t d = 0; d < parts_.size(); ++d) {
      std::int64_t step = 1;
      for (const Term& part : parts_[d]) {
        const ir::Expr at = in_.elements.simplify(identity_[d] / step);
        for (ir::Expr& e : tile_at_) e = in_.elements.simplify(ir::substitute(e, {{part.variable, at % part.extent}}));
        step *= part.extent;
      }
      solve_for(in_, op_, blocks_[d], in_.elements.simplify(identity_[d] / sizes_[d]));
    }
  }

  /// Checks that each element lies at its coordinates, and that it is written unless loaded integers exclude it.
  /// Returns its place.
  Place check_places() {
    Place place = place_of(in_, op_, tile_at_);
    const Index at = coordinates(place);
    for (std::size_t d = 0; d < identity_.size(); ++d)
      if (!(in_.elements.simplify(at[d]) == identity_[d]))
        in_.refuse(op_, fmt::format("expected an index that identifies its block, found {}", ir::print(at[d])));
    place.condition = in_.elements.simplify(place.condition);
    if (!chosen_ && !place.condition.is_constant(1))
      in_.refuse(op_, fmt::format("expected all elements of {} to be written, found a mask {}", array().name,
                                  ir::print(place.condition)));
    return place;
  }

  /// The root of a scatter. The store's mask must keep the loaded integers within the array.
  ValueId scattered(const Place& place, ValueId value) {
    const ir::Expr& index = place.at[*chosen_];
    const auto range = ir::bounds(index, loaded_ranges(in_.elements, place.condition));
    const std::int64_t extent = array().shape[*chosen_];
    if (!range || range->low < 0 || range->high >= extent)
      in_.refuse(op_, fmt::format("expected a mask that keeps the loaded index of {} within 0 and {}, found {}",
                                  array().name, extent - 1, ir::print(place.condition)));
    return in_.elements.scatter(place.at, place.condition, where(in_.elements, value, place.condition));
  }

  Evaluator& in_;
  const tp::Operation& op_;
  const std::vector<const tp::Operation*>& around_;
  tp::ValueId value_ = 0;
  int array_ = -1;
  bool blocks_share_trips_ = false;  // the results depend only on the trip, not on the block that executes it
  /// The coordinates and their extents. They are the dimensions of the array; if loaded integers select the dimension
  /// `chosen_`, the dimensions of the array of these integers replace it.
  std::vector<std::pair<int, std::size_t>> dimensions_;
  ir::Shape extents_;
  std::optional<std::size_t> chosen_;
  // The padding that replaces loaded integers outside their array selects an element that is written.
  bool padding_writes_ = false;
  std::vector<std::int64_t> trips_, sizes_;
  std::vector<std::vector<Term>> parts_;
  std::vector<ir::Expr> blocks_;
  Index identity_, tile_at_;
};

}  // namespace

Output raise_store(Evaluator& in, const tp::Operation& store, const std::vector<const tp::Operation*>& around) {
  in.solved.clear();
  in.forget();
  in.elements.shape.clear();
  return Store(in, store, around).run();
}

}  // namespace deplo::rules::raising
