// blockify_launch: turns thread axes into blocks of threads.
//   Tile(axes=(a0:32=THREAD, a1:18944=THREAD)): … [a0, a1] …
//     →   Tile(axes=(a0:32=BLOCK, a1:74=BLOCK, a2:256=THREAD)): … [a0, ((a1 * 256) + a2)] …
// A block of a matmul takes bm x bn outputs: Tile(axes=(a0:8=BLOCK, a1:64=THREAD, a2:28=BLOCK, a3:128=THREAD)). If that
// is more threads than a block may have, register_tile turns some of them into registers. Other kernels take `threads`
// threads along the last axis, each with `elements` outputs (a REG axis). If a kernel reads along another axis than it
// writes (a transposed matrix), each thread also has `rows` outputs along that axis: Tile(axes=(a0:128=BLOCK,
// a1:4=BLOCK, a2:4=THREAD, a3:8=REG, a4:8=REG)). A CPU's block of short lines has `rows` times as many threads, along
// the axes before the last. A thread that reads windows has `rows` lines.
// If the last block would exceed the axis, it is shifted inwards.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <set>
#include <span>
#include <string>

#include "ir/walk.h"
#include "rules/analysis/matmul.h"
#include "rules/analysis/names.h"
#include "rules/analysis/tile.h"
#include "rules/cost/resources.h"
#include "rules/cost/warpgroup_blocks.h"
#include "rules/rule.h"
#include "rules/tile/helpers/axes.h"
#include "rules/tile/helpers/options.h"
#include "rules/tile/helpers/rows.h"

namespace deplo::rules {
namespace {

// Returns the fraction of the work that tiles of `size` do twice over `extent`, because the last block is shifted
// inwards.
double waste(std::int64_t size, std::int64_t extent) {
  return static_cast<double>(ceil_div(extent, size) * size) / static_cast<double>(extent) - 1;
}

// Limits the sides of a block tile along one axis to `min`, the multiples of `min` that divide the extent, and the
// multiples of `unit`, up to `high`. Sides that cut the extent into a few even blocks are rounded up to one of
// `multiples`.
struct Sides {
  std::int64_t min, unit, high;
  std::span<const std::int64_t> multiples;
  std::int64_t line = 0;  // places in a line of rows (line_of_rows): some multiples of it are sides, too
};

// Returns powers of two, and those times 3, 5, 7 and 13, for the register tiles 6, 10, 12, 14 and 26 of deplodock's
// fastest matmuls; sizes that cut the extent into a few even blocks of such a multiple (264 = 22 * 12 covers 512 in
// two); and the extent itself. A tile that does a third or more of its work twice is left out, unless it is the
// smallest.
std::vector<std::int64_t> tile_sizes(std::int64_t extent, const Sides& sides) {
  const std::int64_t high = sides.high;
  std::vector<std::int64_t> sizes;
  const auto add = [&](std::int64_t size) {
    const std::int64_t unit = extent % size == 0 ? sides.min : sides.unit;
    const bool even = size == extent || size == sides.min || (size % unit == 0 && waste(size, extent) < 1.0 / 3);
    if (size <= std::min(extent, high) && even) sizes.push_back(size);
  };
  for (const std::int64_t odd : {1, 3, 5, 7, 13})
    for (std::int64_t size = odd; size <= high; size *= 2) add(size);
  if (sides.line > 0)
    for (const std::int64_t odd : {1, 3})
      for (std::int64_t size = odd * sides.line; size <= high; size *= 2) add(size);
  for (const std::int64_t multiple : sides.multiples)
    for (const std::int64_t blocks : {1, 2, 3, 4}) add(ceil_div(ceil_div(extent, blocks), multiple) * multiple);
  add(extent);
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

constexpr std::array<std::int64_t, 5> register_multiples = {6, 10, 12, 14, 26};

// Columns are read and written as vectors, and two rows share each loaded value of a column. On GPUs a warp of 8 x 4
// threads with 2 x 8 outputs each takes 16 x 32, and 32 columns of a slab fill a cache line; the articles' example has
// 16 x 16. Axes that are shorter than four such warps keep the finer sizes. Sides above 256 are left out, because half
// of such a side with twice the other side loads less. All block tiles of deplodock's fastest matmuls are among the
// remaining ones.
std::vector<std::int64_t> row_sizes(const ir::Program& program, const Matmul& matmul, const Target& target) {
  const std::int64_t m = tile_of(program).axes[matmul.m].extent;
  const bool fine = target.cpu || m < std::int64_t{4} * 16;
  if (!fine) return tile_sizes(m, Sides{16, 16, 256, {}});
  return tile_sizes(m, Sides{2, 2, 512, register_multiples, line_of_rows(program, matmul)});
}
std::vector<std::int64_t> column_sizes(std::int64_t n, const Target& target) {
  const bool fine = target.cpu || n < std::int64_t{4} * 32;
  const std::int64_t unit = target.cpu ? target.vector_lanes : 8;
  return tile_sizes(n, fine ? Sides{unit, unit, 512, register_multiples} : Sides{16, 32, 256, {}});
}

// Returns the number of iterations over K, in all chunks.
std::int64_t turns(const ir::Program& program, const ir::Loop& reduce) {
  std::int64_t chunks = 1;
  ir::for_each<ir::Loop>(tile_of(program).body, [&](const ir::Loop& loop) {
    if (&loop == &reduce) return;
    const auto is_inside = [&](const ir::Loop& inner) { return &inner == &reduce; };
    if (ir::any_of<ir::Loop>(loop.body, is_inside)) chunks *= loop.axis.extent;
  });
  return chunks * reduce.axis.extent;
}

// Returns the fastest block for warpgroup instructions or, if `rows` is given, the fastest one with `rows` rows.
WarpgroupBlock block_of_warpgroups(const ir::Program& program, const Matmul& matmul, const Target& target,
                                   std::optional<std::int64_t> rows = std::nullopt) {
  const std::vector<ir::Axis>& axes = tile_of(program).axes;
  std::int64_t batch = 1;
  for (std::size_t i = 0; i < matmul.m; ++i) batch *= axes[i].extent;
  return fastest_block(batch, axes[matmul.m].extent, axes[matmul.n].extent, turns(program, *matmul.reduce), target,
                       rows);
}

// Returns the preferred number of rows in a block; the nearest size comes first. GPU: 64 x 128, as in the articles.
// CPU: all rows of a column panel in one block, so that all of them read the same copy of the panel, and as many
// columns as fill the block with threads of cpu_rows x cpu_columns outputs. Matrix instructions read less per product
// from blocks of 128 x 128, if these are enough to fill the units. Blocks of warpgroups are chosen by measured times.
std::int64_t wanted_rows(const ir::Program& program, const Matmul& matmul, const Target& target) {
  if (target.cpu) return cpu_rows(target) * target.max_threads;
  if (multiplies_matrices_by_warpgroups(program, matmul, target))
    return block_of_warpgroups(program, matmul, target).rows;
  const ir::Tile& tile = tile_of(program);
  const std::int64_t m = tile.axes[matmul.m].extent, n = tile.axes[matmul.n].extent;
  const bool large = ceil_div(m, 128) * ceil_div(n, 128) >= target.units;
  return large && multiplies_matrices(program, matmul, target) ? 128 : 64;
}

// Returns whether the copies of a transposed panel may transpose blocks in registers (ir::CopyTransposed). The copy is
// then so fast that columns of two vectors, which are whole cache lines of the output, take 0.9 to 1.03 of the time of
// three.
bool is_copied_in_blocks(const ir::Program& program, const Matmul& matmul, const Target& target) {
  return columns_bytes(program, matmul) == ir::bytes(ir::DType::f32) &&
         ir::CopyTransposed::is_size(target.vector_lanes) && matmul.reduce->axis.extent % target.vector_lanes == 0;
}

// Returns the preferred number of columns in a CPU's block whose threads have `columns` columns. A copied panel takes
// at most half of the cache or, with few registers, 96 of 512 KiB (chunk_matmul_k.cpp). A panel that is read in place
// takes an eighth, because its rows share cache sets. Each core gets a block.
std::int64_t columns_of_threads(std::int64_t columns, std::int64_t bm, const ir::Program& program, const Matmul& matmul,
                                const Target& target) {
  const ir::Tile& tile = tile_of(program);
  const std::int64_t m = tile.axes[matmul.m].extent, n = tile.axes[matmul.n].extent;
  const bool in_place = reads_in_place(program, matmul, bm, in_place_limits(target));
  const std::int64_t row_threads = std::max<std::int64_t>(1, bm / cpu_rows(target));
  const std::int64_t by_threads = columns * std::clamp<std::int64_t>(target.max_threads / row_threads, 1, 8);
  const std::int64_t panel = in_place                    ? target.shared_bytes / 8
                             : has_few_registers(target) ? target.shared_bytes / 16 * 3
                                                         : target.shared_bytes / 2;
  const std::int64_t element = in_place ? columns_bytes(program, matmul) : 4;
  const std::int64_t by_cache = panel / (element * matmul.reduce->axis.extent);
  const std::int64_t by_cores = n * ceil_div(m, bm) / target.units;
  return std::clamp(std::min(by_cache, by_cores), std::min(columns, by_threads), by_threads);
}

// Returns the preferred number of columns in a block of a CPU with few registers. If blocks whose threads have three
// vectors would compute many columns twice, it is a power of two, for threads with two vectors. This holds for few
// rows, which reuse the copied columns least (docs/performance.md, "Twelve sums").
std::int64_t columns_with_few_registers(std::int64_t bm, const ir::Program& program, const Matmul& matmul,
                                        const Target& target) {
  constexpr double much = 0.1;  // a thread with two vectors loses about as much
  const ir::Tile& tile = tile_of(program);
  const std::int64_t n = tile.axes[matmul.n].extent, three = cpu_columns(target), two = 2 * target.vector_lanes;
  const auto threads = [&](std::int64_t columns) {
    return std::max<std::int64_t>(1, columns_of_threads(columns, bm, program, matmul, target) / columns);
  };
  const std::int64_t wide = three * threads(three);
  if (tile.axes[matmul.m].extent > few_rows) return wide;
  const auto narrow = two * static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(threads(two))));
  return waste(wide, n) > waste(narrow, n) + much ? narrow : wide;
}

std::int64_t cpu_block_columns(std::int64_t bm, const ir::Program& program, const Matmul& matmul,
                               const Target& target) {
  const bool in_place = reads_in_place(program, matmul, bm, in_place_limits(target)),
             few_registers = has_few_registers(target);
  // A panel that a batch shares stays in the cache from block to block. It is as wide as all registers of one thread
  // allow.
  if (in_place && sharing_axis(program, matmul))
    return target.vector_lanes * std::max<std::int64_t>(1, register_budget(target) / std::min(bm, cpu_rows(target)));
  // The copy of a transposed panel is fastest if one thread's columns are the whole panel.
  if (few_registers && is_transposed(program, matmul))
    return is_copied_in_blocks(program, matmul, target) ? 2 * target.vector_lanes : cpu_columns(target);
  if (few_registers && !in_place) return columns_with_few_registers(bm, program, matmul, target);
  const std::int64_t columns = 2 * target.vector_lanes,
                     wanted = columns_of_threads(columns, bm, program, matmul, target);
  return few_registers ? std::max<std::int64_t>(1, wanted / columns) * columns : wanted;
}
std::int64_t wanted_columns(std::int64_t bm, const ir::Program& program, const Matmul& matmul, const Target& target) {
  if (target.cpu) return cpu_block_columns(bm, program, matmul, target);
  if (multiplies_matrices_by_warpgroups(program, matmul, target))
    return block_of_warpgroups(program, matmul, target, bm).columns;
  const ir::Tile& tile = tile_of(program);
  const std::int64_t m = tile.axes[matmul.m].extent, n = tile.axes[matmul.n].extent;
  return multiplies_matrices(program, matmul, target) && ceil_div(m, bm) * ceil_div(n, 128) < target.units ? 64 : 128;
}

// Returns the fraction of a CPU's time that a block loses if its columns are not a multiple of three vectors. 0 if
// three vectors are not preferred, or if the axis is so short (less than three times three vectors) that they waste as
// much.
double loss_without_three_vectors(std::int64_t wanted, std::int64_t bm, const ir::Program& program,
                                  const Matmul& matmul, const Target& target) {
  const std::int64_t columns = cpu_columns(target);
  const bool in_place = reads_in_place(program, matmul, bm, in_place_limits(target));
  if (!has_few_registers(target) || in_place || wanted % columns != 0) return 0;
  if (tile_of(program).axes[matmul.n].extent < 3 * columns) return 0;
  return 0.3;  // a thread's 4 x 16 takes 1.05 to 1.4 times as long as 4 x 24
}

// Returns the fraction of a CPU's time that its cores wait for the last blocks, or 0 if it is small. For example, three
// blocks take two cores as long as four. `others`: number of blocks along the other axes.
double idle(std::int64_t size, std::int64_t extent, std::int64_t others, const Target& target) {
  constexpr double min_part = 0.25;  // a smaller fraction is less than what an unusual panel width loses
  if (!target.cpu) return 0;
  const std::int64_t blocks = others * ceil_div(extent, size);
  const double part =
      static_cast<double>(ceil_div(blocks, target.units) * target.units) / static_cast<double>(blocks) - 1;
  return part < min_part ? 0 : part;
}

double distance(std::int64_t size, std::int64_t wanted, std::int64_t extent) {
  const double ratio = static_cast<double>(size) / static_cast<double>(std::min(wanted, extent));
  return std::max(ratio, 1 / ratio) + 4 * waste(size, extent);
}

/// `lost(size)`: the fraction of the time that a size loses for other reasons.
template <class Lost>
std::vector<Value> near(std::vector<std::int64_t> sizes, std::int64_t wanted, std::int64_t extent, const Lost& lost) {
  const auto far = [&](std::int64_t size) { return distance(size, wanted, extent) + 4 * lost(size); };
  std::stable_sort(sizes.begin(), sizes.end(), [&](std::int64_t a, std::int64_t b) { return far(a) < far(b); });
  return {sizes.begin(), sizes.end()};
}

ir::Program in_blocks(ir::Program program, const Matmul& matmul, std::int64_t bm, std::int64_t bn) {
  const std::size_t m = matmul.m, n = matmul.n;
  split_into_blocks(program, n, bn);
  split_into_blocks(program, m, bm);
  for (std::size_t i = 0; i < m; ++i) tile_of(program).axes[i].bind = ir::Bind::block;
  return program;
}

// Returns whether an index divides the axis. Within a small block the quotient may be constant, and the block no
// matmul.
bool divides(const ir::Program& program, std::size_t axis) {
  return !divisors_of(tile_of(program).body, tile_of(program).axes[axis].name).empty();
}

// The block tiles on offer. GPUs run whole warps, and overlap the copies of one slab with the arithmetic on another,
// which requires that two slabs of each operand fit in shared memory. If no block tile meets both conditions, whole
// warps suffice; if no tile has whole warps, all legal tiles are on offer.
class BlockTiles {
 public:
  BlockTiles(const ir::Program& program, const Matmul& matmul, const Target& target)
      : program_(program),
        matmul_(matmul),
        target_(target),
        chunk_(matmul.reduce->axis.extent),
        element_(multiplies_matrices(program, matmul, target) ? columns_bytes(program, matmul)
                                                              : ir::bytes(ir::DType::f32)),
        rows_(row_sizes(program, matmul, target)),
        columns_(column_sizes(tile_of(program).axes[matmul.n].extent, target)),
        divided_(divides(program, matmul.m) || divides(program, matmul.n)) {
    const auto unfit = [&](std::int64_t bm) {
      return std::none_of(columns_.begin(), columns_.end(), [&](std::int64_t bn) { return has(bm, bn); });
    };
    while (grade_ > 0 && std::all_of(rows_.begin(), rows_.end(), unfit)) --grade_;
    std::erase_if(rows_, unfit);
  }

  const std::vector<std::int64_t>& rows() const { return rows_; }
  std::vector<std::int64_t> columns(std::int64_t bm) const {
    std::vector<std::int64_t> result;
    for (const std::int64_t bn : columns_)
      if (has(bm, bn)) result.push_back(bn);
    return result;
  }

 private:
  bool has(std::int64_t bm, std::int64_t bn) const {
    if (grade_ == 2 && !target_.cpu && 2 * (bm + bn) * chunk_ * element_ > target_.shared_bytes) return false;
    // Only in a matmul can threads that exceed a block's limit become registers.
    if (divided_ && bm * bn > target_.max_threads && !find_matmul(in_blocks(program_, matmul_, bm, bn))) return false;
    return grade_ > 0 ? block_tile_of_warps(bm, bn, target_) : legal_block_tile(bm, bn, target_);
  }

  const ir::Program& program_;
  const Matmul& matmul_;
  const Target& target_;
  const std::int64_t chunk_, element_;  // iterations of a chunk; bytes of an element
  std::vector<std::int64_t> rows_;
  const std::vector<std::int64_t> columns_;
  const bool divided_;
  int grade_ = 2;  // 2: whole warps and two slabs, 1: whole warps, 0: all legal tiles
};

Verdict decide_matmul(const ir::Program& program, const Matmul& matmul, const Target& target, const Pins& pins) {
  const ir::Tile& tile = tile_of(program);
  const std::int64_t m = tile.axes[matmul.m].extent, n = tile.axes[matmul.n].extent;
  const auto bm = pins.integer("bm");
  if (bm && pins.integer("bn")) return Apply{};
  const BlockTiles tiles(program, matmul, target);
  const bool exactly =
      multiplies_matrices_by_warpgroups(program, matmul, target);  // other numbers of rows are not whole warpgroups
  const auto near_wanted = [&](std::vector<std::int64_t> sizes, std::int64_t wanted, std::int64_t extent,
                               const auto& lost) {
    std::vector<Value> values = near(std::move(sizes), wanted, extent, lost);
    if (exactly)
      std::stable_partition(values.begin(), values.end(), [&](const Value& value) { return value == Value{wanted}; });
    return values;
  };
  if (!bm) {
    std::vector<Value> rows =
        near_wanted(tiles.rows(), wanted_rows(program, matmul, target), m, [](std::int64_t) { return 0.0; });
    // On GPUs, a block's rows may lie in any lines if a slab of them can be copied. Otherwise, sizes within a line or
    // of whole lines come first. On CPUs, parts of a line shorter than half of a thread's rows, such as 2 of 514, cost
    // more than divisions, because each block copies its columns.
    const std::int64_t line = line_of_rows(program, matmul),
                       min_rows = std::min(m, target.cpu ? cpu_rows(target) / 2 : 1);
    if (target.cpu || !walks_evenly(program, matmul))
      std::stable_partition(rows.begin(), rows.end(), [&](const Value& size) {
        const std::int64_t number = std::get<std::int64_t>(size);
        return are_in_lines(number, line) && number >= min_rows;
      });
    return Fork{"bm", std::move(rows)};
  }
  std::int64_t others = ceil_div(m, *bm);
  for (std::size_t i = 0; i < matmul.m; ++i) others *= tile.axes[i].extent;
  const std::int64_t wanted = wanted_columns(*bm, program, matmul, target);
  const double narrow = loss_without_three_vectors(wanted, *bm, program, matmul, target);
  const auto lost = [&](std::int64_t bn) {
    return idle(bn, n, others, target) + (bn % cpu_columns(target) == 0 ? 0 : narrow);
  };
  return Fork{"bn", near_wanted(tiles.columns(*bm), wanted, n, lost)};
}

bool accumulates(const ir::Body& body) { return has_reduce(body) || has_scan(body); }

// Returns by how many elements an index moves from the middle of the axis to the next position. The middle is used
// because an index of a padded tensor does not move at the edges.
std::int64_t step(const ir::Expr& offset, const std::vector<ir::Axis>& axes, std::size_t axis) {
  std::vector<std::pair<std::string, std::int64_t>> place;
  for (const ir::Axis& a : axes) place.emplace_back(a.name, (a.extent - 1) / 2);
  const std::int64_t here = ir::evaluate(offset, place);
  ++place[axis].second;
  return ir::evaluate(offset, place) - here;
}

// Returns the axis along which an access reads or writes neighbours in memory, if that is not the last axis: the tensor
// is transposed. A thread that takes several elements along both axes accesses each cache line once. Otherwise a thread
// takes a single element of a cache line in each row, and rows whose distance is a power of two evict each other from
// the cache.
std::optional<std::size_t> transposed_axis(const ir::Program& program, const Target& target) {
  const ir::Tile& tile = tile_of(program);
  if (!target.cpu || accumulates(tile.body) || tile.axes.back().extent == 1) return std::nullopt;
  const std::size_t last = tile.axes.size() - 1;
  for (const ir::Stmt& stmt : tile.body) {
    const auto* load = stmt.as<ir::Load>();
    const auto* write = stmt.as<ir::Write>();
    if (load == nullptr && write == nullptr) continue;
    const std::vector<ir::Expr>& index = load != nullptr ? load->index : write->index;
    const ir::Buffer* buffer = program.find(load != nullptr ? load->buffer : write->buffer);
    if (buffer == nullptr || gathers(program, index)) continue;
    const ir::Expr offset = ir::flat_offset(index, buffer->strides);
    if (std::abs(step(offset, tile.axes, last)) < target.vector_lanes) continue;
    for (std::size_t i = 0; i < last; ++i)
      if (tile.axes[i].extent > 1 && step(offset, tile.axes, i) == 1) return i;
  }
  return std::nullopt;
}

constexpr std::int64_t max_summed = 256;  // elements of a thread; their sums fill half of the registers
// A thread takes two elements in each of 8 rows: docs/performance.md, "Functions and transposed copies".
constexpr std::int64_t transposed_elements = 2;
std::int64_t transposed_threads(std::int64_t extent) {
  std::int64_t threads = 64;
  const auto wastes = [&](std::int64_t size) { return size > extent || waste(size, extent) > 0.1; };
  while (threads > 1 && wastes(threads * transposed_elements)) threads /= 2;
  return threads;
}
std::vector<Value> row_options(const ir::Tile& tile, std::size_t axis) {
  return options({8, 16, 4, 2, 1}, 1, tile.axes[axis].extent);
}

// Returns whether outputs along the axis read windows. If `overlap`, the windows of neighbouring outputs must overlap.
bool reads_windows(const ir::Tile& tile, const ir::Axis& axis, bool overlap) {
  return std::ranges::any_of(tile.body, [&](const ir::Stmt& stmt) {
    if (!is_sweep(stmt)) return false;
    const auto& sweep = *stmt.as<ir::Loop>();
    const auto overlaps = [&](const ir::Expr& e) {
      const auto step = ir::coefficient(e, axis.name);
      const auto window = ir::bounds(ir::simplify(e - ir::substitute(e, {{sweep.axis.name, ir::Expr(0)}})),
                                     {{sweep.axis.name, ir::range_of(sweep)}});
      return step && window && window->high - window->low >= *step;
    };
    return std::ranges::any_of(sweep.body, [&](const ir::Stmt& s) {
      const auto* load = s.as<ir::Load>();
      return load != nullptr && std::ranges::any_of(load->index, [&](const ir::Expr& e) {
               return ir::depends_on(e, axis.name) && ir::depends_on(e, sweep.axis.name) && (!overlap || overlaps(e));
             });
    });
  });
}

// Returns whether the last axis walks channels, so that the lanes of vectors are the channels' sums of a window.
bool has_channels(const ir::Tile& tile) { return !reads_windows(tile, tile.axes.back(), false); }

// Returns the axis, other than the last one, along which neighbouring outputs read overlapping windows: the lines of a
// convolution or pooling, or the positions in a line if the last axis walks channels. A CPU's thread that has several
// of these outputs loads what their windows share once.
std::optional<std::size_t> window_axis(const ir::Program& program, const Target& target) {
  const ir::Tile& tile = tile_of(program);
  if (!target.cpu) return std::nullopt;
  const bool channels = has_channels(tile);
  for (std::size_t i = tile.axes.size() - 1; i-- > 0;)
    if (tile.axes[i].extent > 1 && reads_windows(tile, tile.axes[i], channels)) return i;
  return std::nullopt;
}
// In docs/performance.md, "Depthwise convolutions", one line is up to 1.7 times as slow as two lines, and so are four.
// With channels as lanes, more positions need fewer loads each, up to eight vectors of sums.
std::vector<Value> window_row_options(const ir::Tile& tile, std::size_t axis) {
  const std::int64_t extent = tile.axes[axis].extent;
  if (!has_channels(tile)) return options({2, 1, 4, 8}, 1, extent);
  std::int64_t wanted = 8;
  for (const std::int64_t fewer : {7, 6, 5, 4})
    if (waste(wanted, extent) > waste(fewer, extent)) wanted = fewer;
  return options({wanted, 1, 2, 4, 7, 8}, 1, extent);
}

// Returns whether a CPU's kernel has several short lines, such as those of a padded copy or of short sums. Blocks of
// longer lines take 0.6 to 0.8 of the time without threads along other axes, because such threads divide.
bool has_short_lines(const ir::Tile& tile, const Target& target) {
  const std::int64_t last = tile.axes.back().extent;
  constexpr std::int64_t vectors = 8;
  const bool sums_or_copies = longest_sum(tile) > 0 || !accumulates(tile.body);
  return target.cpu && last <= vectors * target.vector_lanes && output_count(tile) > last && sums_or_copies;
}
// Returns numbers of threads along the other axes. Starting a block of a single thread costs as much as some sums
// (docs/performance.md, "Scans"). `outputs`: outputs of one line in a block.
std::vector<Value> line_options(const ir::Tile& tile, std::int64_t threads, std::int64_t outputs,
                                const Target& target) {
  const std::int64_t count = output_count(tile) / tile.axes.back().extent;
  const std::int64_t high = std::min(count, std::max<std::int64_t>(target.max_threads / threads, 1));
  std::int64_t wanted = cpu_rows_of_block(count, std::max<std::int64_t>(longest_sum(tile), 1) * outputs, 1, target);
  while (wanted > high) wanted /= 2;
  return options({wanted, 1, 2, 4, 8, 16, 32, 64}, 1, high);
}

// CPU: as many threads as leave each a whole vector, up to 64. If threads sum, one thread that reads a wide part of
// each row at a time. GPU: 256 first, as in the articles.
std::vector<Value> thread_options(const ir::Tile& tile, bool is_transposed, const Target& target) {
  const std::int64_t extent = tile.axes.back().extent;
  const std::int64_t high = std::min(extent, target.max_threads);
  if (!target.cpu && extent >= target.warp) return options({256, 128, 512, 64, 1024, 32}, 1, high);
  if (!target.cpu) return options({high}, 1, high);
  if (accumulates(tile.body)) return options({1, 2, 4, 8, 16}, 1, high);
  std::int64_t wanted = is_transposed ? transposed_threads(extent) : 1;
  const auto wastes = [&](std::int64_t threads) { return waste(threads * target.vector_lanes, extent); };
  while (!is_transposed && wanted < 64 && wanted * 2 * target.vector_lanes <= extent) wanted *= 2;
  while (!is_transposed && wanted > 1 && wastes(wanted) > wastes(1) + 0.25) wanted /= 2;
  return options({wanted, 16, 32, 64, 8, 4, 2, 1}, 1, high);
}

// Returns the bytes per element of the rows that sums read. Elements that many iterations share are ignored, such as
// the scales of groups.
std::int64_t bytes_of_rows(const ir::Program& program) {
  constexpr std::int64_t min_turns = 16;
  const ir::Tile& tile = tile_of(program);
  std::set<std::string> sums;
  ir::for_each<ir::Loop>(tile.body, [&](const ir::Loop& loop) { sums.insert(loop.axis.name); });
  std::int64_t bytes = 1;
  ir::for_each<ir::Load>(tile.body, [&](const ir::Load& load) {
    const ir::Buffer* buffer = program.find(load.buffer);
    if (buffer == nullptr || !ir::depends_on(load.index, tile.axes.back().name)) return;
    const auto is_shared = [&](const std::string& axis) { return turns_of_element(load, axis) >= min_turns; };
    if (std::ranges::none_of(sums, is_shared)) bytes = std::max(bytes, ir::bytes(buffer->dtype));
  });
  return bytes;
}

// Returns whether the last axis walks neighbours in an output. Otherwise each value of a scan lies in another cache
// line.
bool writes_neighbours(const ir::Program& program) {
  const std::string& last = tile_of(program).axes.back().name;
  return ir::any_of<ir::Write>(tile_of(program).body, [&](const ir::Write& write) {
    return ir::coefficient(ir::flat_offset(write.index, program.find(write.buffer)->strides), last) == 1;
  });
}

// Returns whether each output along the last axis reads elements that its own data select, as in a binary search.
bool searches(const ir::Tile& tile) {
  const std::string& last = tile.axes.back().name;
  std::set<std::string, std::less<>> values = dependent_names(tile.body, last);
  values.erase(last);
  return ir::any_of<ir::Load>(tile.body, [&](const ir::Load& load) {
    return std::ranges::any_of(values, [&](const std::string& value) { return ir::depends_on(load.index, value); });
  });
}

// An addition waits 4 cycles for the previous one (parallel_sums.cpp), so a CPU's thread scans several lines at once.
// Eight lines and their results evict each other from a cache of eight ways if they are a power of two apart: 256 x
// 32,768 took 5 times as long (docs/performance.md, "Scans").
constexpr std::int64_t scanned_lines = 4;

// CPU: one vector, because a thread that computes several at once spills (the constants of an exponential alone take 10
// registers): silu(g) * u took 1.5 times as long with four vectors of AVX-512 and with eight of AVX2. A thread that
// sums reads 512 bytes of each row (docs/performance.md, "Matmuls of few rows and 16 bits"), or less if cores would
// otherwise have no block. A thread that searches has no rows and no vectors: each element is another copy of the code
// (128 elements of a merge of sorted runs took 15 s to build). As many elements as a vector has lanes hide the latency
// of loads (8 took 1.3 times as long, 32 the same time). Channels of a window fill a cache line, unless a tenth of them
// would be computed twice: with half a line, windows of 3 x 3 took 1.23 times as long on a CPU with AVX2
// (docs/performance.md, "Unrolled sums").
std::vector<Value> element_options(const ir::Program& program, std::int64_t high, bool is_transposed,
                                   const Target& target) {
  const ir::Tile& tile = tile_of(program);
  const bool scans = has_scan(tile.body);
  if (!target.cpu && scans) return options({1, 2, 4, 8}, 1, high);  // a scan has few lines
  if (!target.cpu) return options({4, 1, 2, 8, 16}, 1, high);
  const std::int64_t first = is_transposed ? transposed_elements : target.vector_lanes;
  if (!accumulates(tile.body)) return options({first, target.vector_lanes, 64, 32, 16, 128, 8, 4, 2, 1}, 1, high);
  const std::int64_t count = output_count(tile);
  const bool apart = scans && !writes_neighbours(program);
  const bool places = has_channels(tile) && window_axis(program, target);
  const std::int64_t min_elements = apart ? 1 : target.vector_lanes;
  const std::int64_t line = std::max<std::int64_t>(16, target.vector_lanes);  // numbers of f32: 64 bytes or a vector
  const bool fills_lines = places && waste(line, high) <= 0.1;
  std::int64_t wanted = apart                      ? scanned_lines
                        : fills_lines              ? line
                        : searches(tile) || places ? target.vector_lanes
                                                   : std::min(512 / bytes_of_rows(program), max_summed);
  while (wanted > min_elements && wanted * target.units > count) wanted /= 2;
  return options({wanted, 128, 64, 256, 32, 16, 8, 4, 2, 1}, 1, high);
}

Verdict decide_blockify_launch(const ir::Program& program, const Target& target, const Pins& pins) {
  const ir::Tile& tile = tile_of(program);
  if (has_bind(tile, ir::Bind::block)) return Skip{"the tile has blocks already"};
  if (const auto matmul = find_matmul(program)) return decide_matmul(program, *matmul, target, pins);
  const std::int64_t extent = tile.axes.back().extent;
  const auto transposed = transposed_axis(program, target);
  const auto threads = pins.integer("threads");
  if (!threads) return Fork{"threads", thread_options(tile, transposed.has_value(), target)};
  if (!pins.integer("elements"))
    return Fork{"elements", element_options(program, extent / *threads, transposed.has_value(), target)};
  if (pins.integer("rows")) return Apply{};
  if (transposed) return Fork{"rows", row_options(tile, *transposed)};
  if (const auto lines = window_axis(program, target)) return Fork{"rows", window_row_options(tile, *lines)};
  if (const std::int64_t outputs = *threads * *pins.integer("elements"); has_short_lines(tile, target))
    return Fork{"rows", line_options(tile, *threads, outputs, target)};
  return Apply{};
}

// Gives each thread neighbouring elements along both axes.
ir::Program in_squares(ir::Program program, std::size_t axis, std::int64_t rows, std::int64_t threads,
                       std::int64_t elements) {
  const std::size_t last = tile_of(program).axes.size() - 1;
  split_into_blocks(program, last, threads * elements);
  split_into_registers(program, last + 1, elements);
  split_into_blocks(program, axis, rows);
  split_into_registers(program, axis + 1, rows);
  ir::Tile& tile = tile_of(program);
  for (std::size_t i = 0; i < last + 2; ++i) tile.axes[i].bind = ir::Bind::block;
  return program;
}

// Gives each thread `rows` lines of elements.
ir::Program in_lines(ir::Program program, std::size_t axis, std::int64_t rows, std::int64_t threads,
                     std::int64_t elements) {
  const std::size_t last = tile_of(program).axes.size() - 1;
  split_into_blocks(program, last, threads * elements);
  split_into_blocks(program, axis, rows);
  ir::Tile& tile = tile_of(program);
  ir::Axis line = tile.axes[axis + 1];
  line.bind = ir::Bind::reg;
  tile.axes.erase(tile.axes.begin() + static_cast<std::ptrdiff_t>(axis) + 1);
  tile.axes.push_back(line);
  for (std::size_t i = 0; i <= last; ++i) tile.axes[i].bind = ir::Bind::block;
  split_into_registers(program, last + 1, elements);
  return program;
}

// Makes all axes before the last two into blocks, which have `rows` threads if rows > 1. The last two are blocks and
// threads already.
void take_rows(ir::Program& program, std::int64_t rows) {
  std::size_t end = tile_of(program).axes.size() - 2;
  if (rows > 1) {
    std::size_t begin = end - 1;
    std::int64_t extent = tile_of(program).axes[begin].extent;
    constexpr std::int64_t blocks = 8;  // minimum number of blocks; the last one may do its work twice
    while (extent < blocks * rows && begin > 0) extent *= tile_of(program).axes[--begin].extent;
    join(program, begin, end);
    split_into_blocks(program, begin, rows);
    end = begin;
  }
  for (std::size_t i = 0; i < end; ++i) tile_of(program).axes[i].bind = ir::Bind::block;
}

ir::Program apply_blockify_launch(ir::Program program, const Target& target, const Pins& pins) {
  if (const auto matmul = find_matmul(program))
    return in_blocks(std::move(program), *matmul, pins.integer("bm").value(), pins.integer("bn").value());
  const std::int64_t threads = pins.integer("threads").value(), elements = pins.integer("elements").value();
  const auto transposed = transposed_axis(program, target);
  if (const std::int64_t rows = pins.integer("rows").value_or(1); transposed && rows > 1)
    return in_squares(std::move(program), *transposed, rows, threads, elements);
  if (const std::int64_t rows = pins.integer("rows").value_or(1); rows > 1)
    if (const auto lines = window_axis(program, target))
      return in_lines(std::move(program), *lines, rows, threads, elements);
  split_into_blocks(program, tile_of(program).axes.size() - 1, threads * elements);
  take_rows(program, pins.integer("rows").value_or(1));
  ir::Tile& tile = tile_of(program);
  if (elements == 1) return program;
  // Element r of thread t is r * threads + t, so that neighbours in a warp read neighbours in memory.
  ir::Axis& thread = tile.axes.back();
  const std::string name = thread.name;
  thread.extent = threads;
  const std::string reg = ir::fresh_axis(program);
  tile.axes.push_back({reg, elements, ir::Bind::reg});
  ir::substitute_axes(program, {{name, ir::var(reg) * threads + ir::var(name)}});
  return program;
}

}  // namespace

extern const Rule blockify_launch = {
    .name = "blockify_launch",
    .summary = "threads per block: bm × bn outputs of a matmul; else threads, and the elements and rows of each",
    .knobs = {{"bm", KnobType::integer},
              {"bn", KnobType::integer},
              {"threads", KnobType::integer},
              {"elements", KnobType::integer},
              {"rows", KnobType::integer, std::int64_t{1}}},
    .decide = decide_blockify_launch,
    .apply = apply_blockify_launch,
};

}  // namespace deplo::rules
