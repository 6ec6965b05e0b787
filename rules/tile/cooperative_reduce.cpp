// cooperative_reduce: the threads of a block share the reduce sweeps of a row.
//   Tile(axes=(a0:32=THREAD, a1:2048=THREAD)):            Tile(axes=(a0:256=THREAD, a1:32=BLOCK)):
//     for a2 in 0..2048: # reduce                     →     StridedLoop(a2 = a0; < 2048; += 256): # reduce
//       … x[a0, a2] … acc0 <- …                               … x[a1, a2] … acc0 <- …
//     … y[a0, a1] = …                                       Combine(acc0, op=add, over=(a0))
//                                                           StridedLoop(a3 = a0; < 2048; += 256): # free
//                                                             … y[a1, a3] = …
// With rows > 1 a block takes several rows, and each row has its own group of threads. CPUs use one thread per row. If
// the rows are neighbours in memory (a sum over columns), their axis comes last: Tile(axes=(a0:8=THREAD, a1:32=THREAD,
// …)).
#include <algorithm>
#include <bit>
#include <set>

#include "ir/walk.h"
#include "rules/analysis/matmul.h"
#include "rules/analysis/names.h"
#include "rules/analysis/tile.h"
#include "rules/rule.h"
#include "rules/tile/helpers/axes.h"
#include "rules/tile/helpers/options.h"
#include "rules/tile/helpers/rows.h"

namespace deplo::rules {
namespace {

// The extent of the axis that `rows` splits; 0 if the column axis is the only one.
std::int64_t row_extent(const ir::Tile& tile) {
  const std::size_t rows = row_axes(tile);
  return rows == 0 ? 0 : tile.axes[rows - 1].extent;
}

bool writes_along(const ir::Program& program, const std::string& row) {
  return ir::any_of<ir::Write>(tile_of(program).body, [&](const ir::Write& write) {
    return !write.index.empty() && ir::coefficient(write.index.back(), row) == 1;
  });
}

// Returns whether the sweeps read neighbours in memory along the rows, but not along themselves. Loads that all rows
// share are ignored, such as the vector in a matrix-vector product: a thread of a CPU loads them once for all of its
// rows, and threads of a GPU load them together. On CPUs, rows that share all loads, such as those of a scan, are
// columns if they are written next to each other. Windows that begin next to each other are columns, too.
bool walks_columns(const ir::Program& program, const Target& target) {
  const ir::Tile& tile = tile_of(program);
  const std::string& row = tile.axes[tile.axes.size() - (has_column_axis(tile) ? 2 : 1)].name;
  bool along_rows = false, along_sweep = false, shares = target.cpu;
  for (const ir::Stmt& stmt : tile.body) {
    if (!is_sweep(stmt)) continue;
    const auto& sweep = *stmt.as<ir::Loop>();
    ir::for_each<ir::Load>(sweep.body, [&](const ir::Load& load) {
      if (load.index.empty() || program.find(load.buffer)->strides.back() != 1) return;
      const auto step = ir::coefficient(load.index.back(), row);
      const bool on_row = step == 1 || (target.cpu && step == 2);  // vectorize.cpp reads both kinds as vectors
      const bool varies = ir::depends_on(load.index, row);
      along_rows |= on_row;
      along_sweep |= ir::coefficient(load.index.back(), sweep.axis.name) == 1 && varies && !on_row;
      shares &= !varies;
    });
  }
  return (along_rows || (shares && writes_along(program, row))) && !along_sweep;
}

// Returns whether a load of a sweep walks neighbours in memory along the sweep, and reads different elements for each
// row.
bool walks_rows(const ir::Program& program) {
  const std::string& row = tile_of(program).axes[row_axes(tile_of(program)) - 1].name;
  bool along = false;
  for (const ir::Stmt& stmt : tile_of(program).body) {
    if (!is_sweep(stmt)) continue;
    const auto& sweep = *stmt.as<ir::Loop>();
    along |= ir::any_of<ir::Load>(sweep.body, [&](const ir::Load& load) {
      return !load.index.empty() && program.find(load.buffer)->strides.back() == 1 &&
             load.index.back() == ir::var(sweep.axis.name) && ir::depends_on(load.index, row);
    });
  }
  return along;
}

// Options for a sum of fewer elements than a warp has threads. A thread takes up to four neighbours of a row. Windows,
// and the runs of a scan, are adjacent to those of other rows, so one thread sums each of them. The warp's size is an
// option for stored trails.
std::vector<Value> few_thread_options(const ir::Program& program, std::int64_t sweep, const Target& target) {
  const auto quarter = static_cast<std::uint64_t>(ceil_div(sweep, 4));
  const std::int64_t rows = row_extent(tile_of(program));
  std::vector<Value> result;
  for (const std::int64_t threads :
       {walks_rows(program) ? static_cast<std::int64_t>(std::bit_ceil(quarter)) : 1, std::int64_t{1}, std::int64_t{2},
        std::int64_t{4}, std::int64_t{8}, std::int64_t{16}, target.warp})
    if (threads == 1 || threads == target.warp || (threads <= sweep && threads * rows >= target.warp))
      add_option(result, threads);
  return result;
}

// On GPUs the first option gives each thread four elements (one wide access) with at most 256 threads, or 32 elements
// with up to 1024 threads: the block of a long row has a unit to itself, because its row fills shared memory. No option
// has more threads than elements, because some would be idle.
std::vector<Value> thread_options(const ir::Program& program, std::int64_t sweep, const Target& target) {
  if (target.cpu) return options({1}, 1, 1);
  const std::int64_t columns = has_column_axis(tile_of(program)) ? tile_of(program).axes.back().extent : 0;
  sweep = std::max(sweep, columns);  // the row is written by a sweep, too
  if (std::max(longest_sum(tile_of(program)), columns) < target.warp) return few_thread_options(program, sweep, target);
  std::int64_t high = target.warp, wanted = target.warp;
  while (high < sweep && high < target.max_threads) high *= 2;
  while (wanted * 8 <= sweep && wanted < 256) wanted *= 2;
  while (wanted * 64 <= sweep && wanted < 1024) wanted *= 2;
  return options({wanted, 256, 128, 64, 512, 32, 1024}, 1, high);
}

// Options for rows with `threads` threads, fewer than a warp. The first option has 256 threads in a block, or fewer if
// some units would have no block. If threads share a row, a block has whole warps. The options are powers of two, which
// also fit neighbouring extents.
std::vector<Value> row_options(const ir::Tile& tile, std::int64_t threads, std::int64_t high, const Target& target) {
  const std::int64_t count = row_count(tile);
  std::int64_t wanted = 256 / threads;
  while (wanted > high || (wanted * threads > target.warp && ceil_div(count, wanted) < target.units)) wanted /= 2;
  std::vector<Value> result;
  for (const std::int64_t rows : {wanted, std::int64_t{256}, std::int64_t{128}, std::int64_t{64}, std::int64_t{32},
                                  std::int64_t{16}, std::int64_t{8}, std::int64_t{4}, std::int64_t{2}, std::int64_t{1}})
    if (rows <= high && (threads == 1 || rows * threads % target.warp == 0)) add_option(result, rows);
  return result;
}

// Options for a sum over columns. A warp reads neighbouring columns, and 8 warps share a sweep unless it is short. More
// warps share it if a GPU's units would have few warps otherwise, because their loads alone hide the memory's latency.
std::vector<Value> column_thread_options(const ir::Tile& tile, std::int64_t sweep, const Target& target) {
  constexpr std::int64_t warps_of_unit = 16;  // a quarter of the warps that a unit holds; not measured
  constexpr std::int64_t turns = 16;          // iterations of a thread, as many as mark_unroll unrolls
  const auto limit = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(sweep)));
  std::int64_t wanted = !target.cpu && longest_sum(tile) < target.warp ? 1 : std::min<std::int64_t>(8, limit);
  const std::int64_t blocks = target.cpu ? 1 : ceil_div(output_count(tile), target.warp);
  while (!target.cpu && wanted >= 8 && wanted < 32 && 2 * wanted * turns <= sweep &&
         blocks * wanted < target.units * warps_of_unit)
    wanted *= 2;
  return options({wanted, 8, 16, 4, 32, 2, 1}, 1, sweep);
}

Verdict decide_cooperative_reduce(const ir::Program& program, const Target& target, const Pins& pins) {
  const ir::Tile& tile = tile_of(program);
  if (find_matmul(program)) return Skip{"the reduce is a matmul's"};
  if (has_online_softmax(tile.body)) return Skip{"the reduce is an online softmax"};
  if (has_scan(tile.body)) return Skip{"a scan needs its elements in order"};
  const std::int64_t sweep = longest_sweep(tile);
  if (sweep == 0) return Skip{"the tile body has no reduce loop of its own"};
  if (row_extent(tile) == 0) return Skip{"no axis of rows"};
  const auto threads = pins.integer("threads");
  const bool columns = walks_columns(program, target);
  if (columns && target.cpu && !has_column_axis(tile))
    return Skip{"a CPU's threads sum neighbouring columns as vectors"};
  if (!threads)
    return Fork{"threads",
                columns ? column_thread_options(tile, sweep, target) : thread_options(program, sweep, target)};
  if (!pins.integer("rows")) {
    const std::int64_t high = std::min(row_extent(tile), target.max_threads / *threads);
    if (target.cpu)
      return Fork{"rows",
                  options({cpu_rows_of_block(row_count(tile), sweep, 16, target), 16, 32, 8, 64, 4, 2, 1}, 1, high)};
    if (*threads == 1 || (*threads < target.warp && !columns))
      return Fork{"rows", row_options(tile, *threads, high, target)};
    if (columns) return Fork{"rows", options({32, 64, 128, 256, 16, 8, 4, 2, 1}, 1, high)};
    return Fork{"rows", options({1, 2, 4, 8, 16, 32}, 1, high)};
  }
  return Apply{};
}

// Splits the last row axis into blocks of `rows` rows, and makes the other row axes block axes. The shared axis comes
// first, as in the articles, or after the rows if `columns`. Returns the axis of the rows of a block; "" if a block has
// one row.
std::string launch_rows(ir::Program& program, std::int64_t rows, const ir::Axis& shared, bool columns) {
  ir::Tile& tile = tile_of(program);
  for (ir::Axis& axis : tile.axes) axis.bind = ir::Bind::block;
  const ir::Axis row = tile.axes.back();
  tile.axes.insert(tile.axes.begin(), shared);
  if (rows == 1) return "";
  tile.axes.back().extent = ceil_div(row.extent, rows);
  std::string inner = ir::fresh_axis(program);
  tile.axes.insert(tile.axes.begin() + (columns ? 1 : 0), {inner, rows, ir::Bind::thread});
  ir::substitute_axes(program, {{row.name, shifted_origin(row.name, rows, row.extent) + ir::var(inner)}});
  return inner;
}

// Turns every sweep into a strided loop over the shared axis, followed by a Combine of its accumulators. Without a
// column axis, free loops write the row. Their iterations are shared in the same way, because no value is used after
// them.
void share_sweeps(ir::Body& body, const ir::Axis& shared, bool has_column) {
  std::set<std::string> whole;  // accumulators that outlive their sweep
  for (const ir::AccumulatorStart& start : ir::accumulator_starts(body))
    if (start.body == &body) whole.insert(start.acc);
  ir::Body result;
  for (ir::Stmt& stmt : body) {
    result.push_back(std::move(stmt));
    auto* loop = result.back().as<ir::Loop>();
    if (loop == nullptr || !loop->start.is_constant(0) || loop->step != 1) continue;
    if (loop->axis.bind == ir::Bind::free && has_column) continue;
    loop->start = ir::var(shared.name);
    loop->step = shared.extent;
    if (loop->axis.bind != ir::Bind::reduce) continue;
    std::vector<ir::Combine> combines;
    ir::for_each(loop->body, [&](const ir::Stmt& s) {
      if (const auto* accum = s.as<ir::Accum>(); accum != nullptr && whole.erase(accum->dst) > 0)
        combines.push_back({accum->dst, accum->op, {shared.name}});
    });
    for (ir::Combine& combine : combines) result.emplace_back(std::move(combine));
  }
  body = std::move(result);
}

bool depends_on_axis(const ir::Body& body, const std::string& axis) {
  const auto on_axis = dependent_names(body, axis);
  return std::ranges::any_of(body, [&](const ir::Stmt& stmt) { return depends(stmt, on_axis); });
}

// Moves the statements that depend on the column axis, directly or through a value, into a separate strided sweep.
void sweep_column(ir::Body& body, const ir::Axis& column, const ir::Axis& shared) {
  ir::Loop sweep = {{column.name, column.extent, ir::Bind::free}, ir::var(shared.name), shared.extent, 1, {}};
  const auto on_column = dependent_names(body, column.name);
  ir::Body rest;
  for (ir::Stmt& stmt : body) (depends(stmt, on_column) ? sweep.body : rest).push_back(std::move(stmt));
  rest.emplace_back(std::move(sweep));
  body = std::move(rest);
}

bool writes(const ir::Stmt& stmt) {
  if (stmt.as<ir::Write>() != nullptr) return true;
  const auto* guard = stmt.as<ir::If>();
  return guard != nullptr && std::any_of(guard->then.begin(), guard->then.end(), writes);
}

// Guards the writes: without a column axis every thread holds the result, so only the first thread writes it.
void write_once(ir::Body& body, const ir::Axis& shared) {
  if (shared.extent == 1) return;
  for (ir::Stmt& stmt : body)
    if (writes(stmt)) stmt = ir::If{ir::equal(ir::var(shared.name), 0), ir::single(std::move(stmt))};
}

ir::Program apply_cooperative_reduce(ir::Program program, const Target& target, const Pins& pins) {
  const bool columns = !target.cpu && walks_columns(program, target);
  ir::Axis shared = {ir::fresh_axis(program), pins.integer("threads").value(), ir::Bind::thread};
  bool has_column = has_column_axis(tile_of(program));
  ir::Axis column;
  if (has_column) {
    column = tile_of(program).axes.back();
    tile_of(program).axes.pop_back();
    has_column = depends_on_axis(tile_of(program).body, column.name);  // an axis of extent 1 may be in no index
  }
  const std::int64_t rows = pins.integer("rows").value();
  const ir::Axis row = tile_of(program).axes.back();
  const std::string inner = launch_rows(program, rows, shared, columns);
  ir::Body& body = tile_of(program).body;
  share_sweeps(body, shared, has_column);
  has_column ? sweep_column(body, column, shared) : write_once(body, shared);
  if (!inner.empty()) guard_overlap(program, row.name, inner, rows, row.extent);
  return program;
}

}  // namespace

extern const Rule cooperative_reduce = {
    .name = "cooperative_reduce",
    .summary = "threads that share the sweeps of a row",
    .knobs = {{"threads", KnobType::integer}, {"rows", KnobType::integer}},
    .decide = decide_cooperative_reduce,
    .apply = apply_cooperative_reduce,
};

}  // namespace deplo::rules
