#include "rules/cost/resources.h"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <set>

#include "ir/emit/shared_layout.h"
#include "ir/hardware/gpu.h"
#include "ir/hardware/mma.h"
#include "ir/hardware/stage_layout.h"
#include "ir/types/float16.h"
#include "ir/walk.h"
#include "rules/analysis/matmul.h"
#include "rules/analysis/names.h"
#include "rules/analysis/tile.h"

namespace deplo::rules {

std::vector<std::int64_t> divisors(std::int64_t n, std::int64_t low, std::int64_t high) {
  std::vector<std::int64_t> result;
  const auto add = [&](std::int64_t d) {
    if (d >= low && d <= high) result.push_back(d);
  };
  for (std::int64_t d = 1; d * d <= n; ++d) {
    if (n % d != 0) continue;
    add(d);
    if (d != n / d) add(n / d);
  }
  std::sort(result.begin(), result.end());
  return result;
}

std::int64_t registers(std::int64_t values, std::int64_t lanes, const Target& target) {
  return target.cpu ? values / lanes : values;
}

std::int64_t register_budget(const Target& target) {
  return target.cpu ? target.register_floats / target.vector_lanes : target.register_floats;
}

std::int64_t cpu_rows(const Target& target) { return std::max<std::int64_t>(1, register_budget(target) / 3); }

// Two units that each take four cycles for a multiply-add (Zen 3 and Haswell: Agner Fog, "Instruction tables") have
// eight sums in flight. Twelve sums leave time for an operand that arrives late: 4 x 24 takes 0.7 to 1.0 of the time of
// 4 x 16 (docs/performance.md, "CPUs without AVX-512").
bool has_few_registers(const Target& target) {
  constexpr std::int64_t least_sums = 12;
  return target.cpu && 2 * cpu_rows(target) < least_sums;
}
InPlaceLimits in_place_limits(const Target& target) {
  if (has_few_registers(target)) return {.near = 8, .distant = 0, .halves = 8};
  return {.near = 5 * cpu_rows(target), .distant = 2 * cpu_rows(target), .halves = few_rows};
}
std::int64_t cpu_columns(const Target& target) { return (has_few_registers(target) ? 3 : 2) * target.vector_lanes; }

namespace {

// CUDA's occupancy calculator (cuda_occupancy.h, compute capability 7 to 12): a thread has at most 255 registers, in
// steps of 8; a warp has them in steps of 256; a unit's warps are spread evenly over its 4 schedulers; a block has its
// shared memory in steps of 128 bytes.
constexpr std::int64_t register_step = 8, warp_register_step = 256;
constexpr std::int64_t shared_step = 128;

using Names = std::set<std::string, std::less<>>;

std::int64_t round_up(std::int64_t value, std::int64_t step) { return (value + step - 1) / step * step; }

}  // namespace

std::int64_t thread_registers(std::int64_t threads, const Target& target, std::int64_t blocks) {
  if (target.unit_registers == 0) return ir::gpu::thread_registers;
  const std::int64_t per_thread = target.unit_registers / (blocks * round_up(threads, target.warp));
  return std::min(ir::gpu::thread_registers, per_thread / register_step * register_step);
}

std::int64_t register_tile_registers(std::int64_t fm, std::int64_t fn) { return fm * fn + fm + fn + other_registers; }

std::int64_t least_registers(std::int64_t values) {
  std::int64_t side = 1;
  while ((side + 1) * (side + 1) <= values) ++side;
  return register_tile_registers(side, ceil_div(values, side));
}

std::int64_t producers(const ir::Body& body) {
  std::int64_t threads = 0;
  ir::for_each<ir::Loop>(body, [&](const ir::Loop& loop) { threads = std::max(threads, loop.producers); });
  return threads;
}

std::int64_t launched_threads(const ir::Tile& tile) {
  return ir::count_of(tile, ir::Bind::thread) + producers(tile.body);
}

std::int64_t sharers(const ir::Stage& stage, const ir::Tile& tile) {
  const auto of_cluster = [](const ir::Axis& axis) { return axis.bind == ir::Bind::cluster; };
  const auto along = std::ranges::find_if(tile.axes, of_cluster);
  if (along == tile.axes.end() || producers(tile.body) == 0) return 1;
  return ir::depends_on(stage.origin, along->name) || !splits(stage, along->extent) ? 1 : along->extent;
}

bool splits(const ir::Stage& stage, std::int64_t parts) {
  const std::int64_t rows = stage.slab.front().extent;
  if (stage.slab.size() < 2 || rows % parts != 0) return false;
  std::int64_t bytes = rows / parts * ir::row_elements(stage) * ir::bytes(stage.dtype);
  for (std::size_t i = 1; i + 1 < stage.slab.size(); ++i) bytes *= stage.slab[i].extent;
  return bytes % ir::alignment(stage) == 0;
}

namespace {

// Returns the registers of one sum.
std::int64_t values_of(const ir::Tile& tile, const std::string& sum) {
  std::int64_t count = 1;
  for (const ir::Axis& axis : tile.axes)
    if ((axis.bind == ir::Bind::reg || axis.bind == ir::Bind::vector) &&
        dependent_names(tile.body, axis.name).contains(sum))
      count *= axis.extent;
  return count;
}

const std::string& sum_of(const ir::Loop& products) { return products.body.back().as<ir::Accum>()->dst; }

}  // namespace

std::int64_t thread_values(const ir::Tile& tile) {
  std::set<std::string, std::less<>> sums;  // sums of matrix instructions; a kernel may have several products
  ir::for_each<ir::Loop>(tile.body, [&](const ir::Loop& loop) {
    if (!loop.atom.empty()) sums.insert(sum_of(loop));
  });
  if (sums.size() < 2) return ir::count_of(tile, ir::Bind::reg) * ir::count_of(tile, ir::Bind::vector);
  std::int64_t count = 0;
  for (const std::string& sum : sums) count += values_of(tile, sum);
  return count;
}

namespace {

// Returns the number of registers that a load fills: one for each position along the REG axes that its index depends
// on.
std::int64_t copies_of(const ir::Load& load, const ir::Tile& tile) {
  std::int64_t count = 1;
  for (const ir::Axis& axis : tile.axes)
    if (axis.bind == ir::Bind::reg && ir::depends_on(load.index, axis.name)) count *= axis.extent;
  return count;
}

// Returns the instructions by which threads make a loop's factors in one iteration: each statement for each register of
// a fragment.
std::int64_t made_instructions(const ir::Loop& loop, const ir::Tile& tile) {
  ir::mma::Product product;
  if (!ir::mma::find_product(tile, loop, product).empty()) return 0;
  const auto made = [&](const ir::mma::Factor& factor, const std::string& unit, std::int64_t matrices) {
    std::int64_t count = factor.in_slab() ? 0 : matrices * static_cast<std::int64_t>(factor.made_by.size());
    for (const ir::Axis& axis : tile.axes)
      if (axis.bind == ir::Bind::reg && axis.name != unit && factor.depends_on(axis.name)) count *= axis.extent;
    return count;
  };
  return made(product.a, product.rows, product.atom->a_matrices()) +
         made(product.b, product.columns, product.atom->b_matrices());
}

}  // namespace

std::int64_t trip_instructions(const ir::Loop& loop, const ir::Tile& tile) {
  const std::int64_t outputs = loop.atom.empty() ? thread_values(tile) : values_of(tile, sum_of(loop));
  if (const ir::mma::Atom* atom = ir::mma::find_atom(loop.atom); atom != nullptr && atom->of_warpgroup()) {
    constexpr std::int64_t per_product = 16;  // instructions, including two descriptors, as ptxas generates them
    return per_product * ceil_div(outputs * atom->warps * ir::gpu::warp, atom->m * atom->n) +
           made_instructions(loop, tile);
  }
  if (!loop.atom.empty()) {
    // Each instruction computes four sums. Its operands take half a load for its rows and half a load for its columns.
    constexpr std::int64_t sums = ir::mma::row_registers * ir::mma::column_registers;
    return 2 * ceil_div(outputs, sums) + made_instructions(loop, tile);
  }
  std::int64_t count = 0;
  ir::for_each(loop.body, [&](const ir::Stmt& s) {
    const auto* load = s.as<ir::Load>();
    count += s.as<ir::Accum>() != nullptr ? outputs : load != nullptr ? copies_of(*load, tile) : 1;
  });
  return count;
}

Occupancy occupancy(std::int64_t threads, std::int64_t registers, std::int64_t shared_bytes, const Target& target) {
  if (target.unit_threads == 0) return {1, 1, ""};
  const std::int64_t warps = ceil_div(threads, target.warp);
  const std::int64_t warp_registers = round_up(std::max<std::int64_t>(registers, 1) * target.warp, warp_register_step);
  const std::int64_t resident = target.unit_registers / warp_registers / ir::gpu::schedulers * ir::gpu::schedulers;
  // The part of a unit's shared memory that a block cannot have belongs to the system, for every block.
  const std::int64_t system = target.unit_shared_bytes - target.shared_bytes;
  const std::int64_t shared = std::max(round_up(shared_bytes + system, shared_step), shared_step);
  const std::pair<std::int64_t, std::string_view> bounds[] = {{target.unit_threads / (warps * target.warp), "threads"},
                                                              {target.unit_blocks, "blocks"},
                                                              {resident / warps, "registers"},
                                                              {target.unit_shared_bytes / shared, "shared"}};
  const auto [blocks, limiter] = *std::min_element(std::begin(bounds), std::end(bounds),
                                                   [](const auto& a, const auto& b) { return a.first < b.first; });
  const auto running = static_cast<double>(blocks * warps * target.warp);
  return {blocks, running / static_cast<double>(target.unit_threads), limiter};
}

bool legal_thread_rows(std::int64_t bm, std::int64_t fm, const Target& target) {
  if (bm % fm == 0) return true;
  const std::int64_t wanted = cpu_rows(target), low = ceil_div(wanted, 2);
  if (!target.cpu || fm < low || fm > 2 * wanted || !divisors(bm, low, wanted + wanted / 2).empty()) return false;
  return fm == ceil_div(bm, ceil_div(bm, fm));  // with fewer rows, as many threads would not cover the block
}

bool legal_register_tile(std::int64_t bm, std::int64_t bn, std::int64_t fm, std::int64_t fn, const Target& target) {
  if (!legal_thread_rows(bm, fm, target) || bn % fn != 0) return false;
  const std::int64_t lanes = std::gcd(fn, target.vector_lanes), threads = ceil_div(bm, fm) * (bn / fn);
  return threads <= target.max_threads && registers(fm * fn, lanes, target) <= register_budget(target) &&
         (target.cpu || register_tile_registers(fm, fn) <= thread_registers(threads, target));
}

namespace {

template <class Good>
bool any_register_tile(std::int64_t bm, std::int64_t bn, const Target& target, const Good& good) {
  for (std::int64_t fm = std::min(bm, target.register_floats); fm > 0; --fm) {
    if (!legal_thread_rows(bm, fm, target)) continue;
    for (std::int64_t fn = std::min(bn, target.register_floats / fm); fn > 0; --fn)
      if (legal_register_tile(bm, bn, fm, fn, target) && good(ceil_div(bm, fm) * (bn / fn))) return true;
  }
  return false;
}

// Returns the values that a thread loads per multiply-add.
double loads_each(const RegisterTile& tile) {
  return static_cast<double>(tile.fm + tile.fn) / static_cast<double>(tile.fm * tile.fn);
}

}  // namespace

bool legal_block_tile(std::int64_t bm, std::int64_t bn, const Target& target) {
  return any_register_tile(bm, bn, target, [](std::int64_t) { return true; });
}

bool whole_warps(std::int64_t threads, const Target& target) {
  return target.cpu || (threads % target.warp == 0 && threads >= 2 * target.warp);
}

bool block_tile_of_warps(std::int64_t bm, std::int64_t bn, const Target& target) {
  return any_register_tile(bm, bn, target, [&](std::int64_t threads) { return whole_warps(threads, target); });
}

std::vector<RegisterTile> register_tiles(std::int64_t bm, std::int64_t bn, const Target& target) {
  std::vector<RegisterTile> tiles;
  for (std::int64_t fm = 1; fm <= std::min(bm, target.register_floats); ++fm) {
    if (!legal_thread_rows(bm, fm, target)) continue;
    for (const std::int64_t fn : divisors(bn, 1, target.register_floats / fm))
      if (legal_register_tile(bm, bn, fm, fn, target)) tiles.push_back({fm, fn});
  }
  if (target.cpu) return tiles;
  const auto ragged = [&](const RegisterTile& t) { return !whole_warps((bm / t.fm) * (bn / t.fn), target); };
  if (std::all_of(tiles.begin(), tiles.end(), ragged)) return tiles;
  std::erase_if(tiles, ragged);
  const auto scalar = [&](const RegisterTile& t) {
    return t.fn > target.vector_lanes / 2 && t.fn % target.vector_lanes != 0;
  };
  if (!std::all_of(tiles.begin(), tiles.end(), scalar)) std::erase_if(tiles, scalar);
  std::map<std::int64_t, double> min_loads;  // key: number of outputs
  double best = loads_each(tiles.front());
  for (const RegisterTile& tile : tiles) {
    const double loads = loads_each(tile);
    double& known = min_loads.try_emplace(tile.fm * tile.fn, loads).first->second;
    known = std::min(known, loads);
    best = std::min(best, loads);
  }
  std::erase_if(tiles, [&](const RegisterTile& tile) {
    const double loads = loads_each(tile);
    return loads >= 1.5 * min_loads.at(tile.fm * tile.fn) || loads > 3 * best;
  });
  return tiles;
}

Merge thread_merge(const ir::Tile& tile, const ir::Combine& combine, const Target& target) {
  Merge merge;
  for (const ir::Axis& axis : tile.axes) {
    if (axis.bind != ir::Bind::thread) continue;
    const bool merges = std::find(combine.over.begin(), combine.over.end(), axis.name) != combine.over.end();
    CHECK(!merges || merge.axis == nullptr);
    if (merges) merge.axis = &axis;
    // No thread axis follows: the threads of this axis are neighbours.
    merge.shuffles = merges || (merge.shuffles && axis.extent == 1);
  }
  merge.shuffles =
      merge.shuffles && target.shuffle && std::has_single_bit(static_cast<std::uint64_t>(merge.axis->extent));
  return merge;
}

namespace {

// Returns the places in shared memory for the partial sums of a Combine with a receiver: one per thread; in a cluster,
// one per thread of the block. Threads along `merged` axes no longer hold sums.
std::int64_t exchange_places(const ir::Tile& tile, const ir::Combine& combine, const Names& merged) {
  std::int64_t places = 1;
  for (const ir::Axis& axis : tile.axes) {
    if (axis.name == combine.over.front()) {
      if (axis.extent == 1) return 0;
      places *= axis.bind == ir::Bind::cluster ? 1 : axis.extent;
    } else if (axis.bind == ir::Bind::thread) {
      places *= merged.count(axis.name) > 0 ? 1 : axis.extent;
    } else if (axis.bind == ir::Bind::reg || axis.bind == ir::Bind::vector) {
      places *= dependent_names(tile.body, axis.name).count(combine.acc) > 0 ? axis.extent : 1;
    }
  }
  return places;
}

// Returns the places in shared memory for the partial sums of a Combine: one per warp if the sums are shuffled, else
// one per thread. Each group of threads, and each register that holds a separate partial sum, has its own places.
std::int64_t meeting_places(const ir::Program& program, const ir::Combine& combine, const Target& target) {
  const ir::Tile& tile = tile_of(program);
  const Merge merge = thread_merge(tile, combine, target);
  if (merge.axis == nullptr) return 0;
  const std::int64_t threads = merge.axis->extent;
  const std::int64_t places = merge.shuffles ? threads / std::min(threads, target.warp) : threads;
  if (places == 1) return 0;
  std::int64_t groups = 1;
  for (const ir::Axis& axis : tile.axes) {
    if (std::find(combine.over.begin(), combine.over.end(), axis.name) != combine.over.end()) continue;
    const bool own = axis.bind == ir::Bind::reg && dependent_names(tile.body, axis.name).count(combine.acc) > 0;
    if (axis.bind == ir::Bind::thread || own) groups *= axis.extent;
  }
  return groups * places;
}

}  // namespace

std::int64_t shared_bytes(const ir::Program& program, const Target& target) {
  ir::Body declarations;
  std::map<std::string, Names> merged;      // axes that earlier Combines of each accumulator have merged
  std::set<std::string, std::less<>> seen;  // a pipelined buffer is filled in several places
  std::int64_t barriers = 0;
  const auto declare = [&](const std::string& name, ir::DType dtype, std::int64_t count, std::int64_t align) {
    if (count > 0) declarations.emplace_back(ir::Smem{name, dtype, {count}, align});
  };
  ir::for_each<ir::Stage>(program.body, [&](const ir::Stage& stage) {
    if (seen.insert(stage.buffer).second) {
      declare(stage.buffer, stage.dtype, ir::physical_count(stage), ir::alignment(stage));
      if (stage.transport == ir::Transport::tma) barriers = std::max<std::int64_t>(barriers, stage.slots);
    }
  });
  ir::for_each(program.body, [&](const ir::Stmt& stmt) {
    if (const auto* smem = stmt.as<ir::Smem>(); smem != nullptr && !smem->registers) declarations.emplace_back(*smem);
    const auto* combine = stmt.as<ir::Combine>();
    if (combine != nullptr && combine->to) {
      Names& before = merged[combine->acc];
      declare(combine->acc, ir::DType::f32, exchange_places(tile_of(program), *combine, before), ir::Smem{}.align);
      before.insert(combine->over.front());
    } else if (combine != nullptr) {
      declare(combine->acc, ir::DType::f32, meeting_places(program, *combine, target), ir::Smem{}.align);
    }
  });
  if (producers(tile_of(program).body) > 0) barriers *= 2;  // for full slots and for free ones
  if (barriers > 0) declarations.emplace_back(ir::MbarrierInit{"mbar", barriers, 1});
  return ir::shared_layout(declarations, target).bytes;
}

double share_that_holds(const ir::Expr& condition, const ir::Ranges& ranges) {
  const ir::Ranges where = ir::narrowed(ranges, condition);
  const auto count = [](const ir::Interval& range) {
    return static_cast<double>(std::max<std::int64_t>(1, range.high - range.low + 1));
  };
  double share = 1;
  for (std::size_t i = 0; i < ranges.size(); ++i) share *= count(where[i].second) / count(ranges[i].second);
  return share;
}

bool aligned(const ir::Expr& offset, int lanes, const Target& target) {
  return traits(target.dialect).unaligned_vectors || ir::known_divisor(offset) % lanes == 0;
}

namespace {

void collect_staged(const ir::Body& body, ir::Ranges& scope, std::vector<Staged>& result) {
  const std::size_t outside = scope.size();
  for (const ir::Stmt& stmt : body) {
    if (const auto* stage = stmt.as<ir::Stage>()) {
      const auto same = [&](const Staged& s) { return s.stage->buffer == stage->buffer; };
      if (std::none_of(result.begin(), result.end(), same)) result.push_back({stage, scope});
    }
    ir::open_axes(stmt, scope);
    if (const ir::Body* inner = ir::inner_body(stmt)) collect_staged(*inner, scope, result);
    scope.resize(outside);
  }
}

}  // namespace

std::vector<Staged> staged_buffers(const ir::Program& tile) {
  std::vector<Staged> result;
  ir::Ranges scope;
  collect_staged(tile.body, scope, result);
  return result;
}

bool reaches_over(const ir::Stage& stage, std::size_t d, const ir::Buffer& source, const ir::Ranges& scope) {
  ir::Ranges around = scope;
  std::int64_t beyond = 0;
  for (const ir::SlabAxis& axis : stage.slab) {
    if (!axis.walks_dimension()) around.emplace_back(axis.name, ir::Interval{0, axis.extent - 1});
    if (axis.dim == static_cast<int>(d)) beyond = axis.extent - 1;
  }
  const auto range = ir::bounds(stage.origin[d], around);
  return !range || range->low < 0 || range->high + beyond >= source.shape[d];
}

namespace {

// A vector's bytes hold twice as many 16-bit elements, but OpenCL has no vectors of more than 16 elements.
int widest_copy(ir::DType dtype, const Target& target) {
  constexpr std::int64_t max_lanes = 16;
  return static_cast<int>(ir::is_float16(dtype) ? std::min(2 * target.vector_lanes, max_lanes) : target.vector_lanes);
}

}  // namespace

std::vector<int> copy_widths(const ir::Stage& stage, const ir::Buffer& source, const Target& target,
                             const ir::Ranges& scope) {
  const ir::SlabAxis& inner = stage.slab.back();
  const std::size_t last = source.shape.size() - 1;
  const auto over = [&](const ir::SlabAxis& axis) {
    return axis.walks_dimension() && reaches_over(stage, static_cast<std::size_t>(axis.dim), source, scope);
  };
  const bool turned =
      target.cpu && ir::has_turned_blocks(stage, source, target.vector_lanes) && std::ranges::none_of(stage.slab, over);
  if (turned) return {static_cast<int>(target.vector_lanes), 1};
  if (inner.dim != static_cast<int>(last) || source.strides[last] != 1 || over(inner)) return {1};
  // Rows may start at multiples of this number: in the source, of the other dimensions' strides; in shared memory, of
  // the pad.
  std::int64_t start = ir::known_divisor(ir::simplify(ir::flat_offset(stage.origin, source.strides), scope));
  for (const ir::SlabAxis& axis : stage.slab)
    if (&axis != &inner && axis.walks_dimension())
      start = std::gcd(start, source.strides[static_cast<std::size_t>(axis.dim)]);
  if (stage.pad > 0) start = std::gcd(start, stage.pad);
  const std::int64_t columns = stage.panel > 0 ? stage.panel : inner.extent;
  std::vector<int> widths;
  for (int lanes = widest_copy(source.dtype, target); lanes > 1; lanes /= 2)
    if (columns % lanes == 0 && (traits(target.dialect).unaligned_vectors || start % lanes == 0))
      widths.push_back(lanes);
  widths.push_back(1);
  return widths;
}

}  // namespace deplo::rules
