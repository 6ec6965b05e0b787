// chunk_reduce: splits the sweeps over a row into chunks, so that one chunk can be staged while the previous one is
// reduced.
//   StridedLoop(a2 = a0; < 16384; += 256): # reduce       for a2 in 0..16: # free
//     in0 = load x[a1, a2]                          →       StridedLoop(a3 = a0; < 1024; += 256): # reduce
//     acc0 <- add(acc0, in0)                                  in0 = load x[a1, ((a2 * 1024) + a3)]
//   Combine(acc0, op=add, over=(a0))                          acc0 <- add(acc0, in0)
//                                                         Combine(acc0, op=add, over=(a0))
// All reduce sweeps of the row are chunked in the same way. A row that fits in shared memory is better staged whole,
// once for all its sweeps.
#include <algorithm>
#include <bit>

#include "ir/walk.h"
#include "rules/analysis/matmul.h"
#include "rules/analysis/names.h"
#include "rules/analysis/tile.h"
#include "rules/cost/resources.h"
#include "rules/rule.h"

namespace deplo::rules {
namespace {

struct Sweeps {
  std::vector<std::size_t> at;  // positions in the tile's body of sweeps with the same extent and step
  std::int64_t extent = 0, threads = 1;
  std::int64_t bytes = 0;  // bytes that all sweeps read per element of the row, in all rows of a block
};

// Returns whether the statement is a reduce loop that starts at 0, or is shared by all threads along an axis.
bool is_shared_sweep(const ir::Tile& tile, const ir::Stmt& stmt) {
  const auto* loop = stmt.as<ir::Loop>();
  if (loop == nullptr || loop->axis.bind != ir::Bind::reduce) return false;
  if (loop->start.is_constant(0)) return loop->step == 1;
  return std::any_of(tile.axes.begin(), tile.axes.end(), [&](const ir::Axis& axis) {
    return axis.bind == ir::Bind::thread && axis.extent == loop->step && loop->start == ir::var(axis.name);
  });
}

// Returns the bytes of staged inputs that one step of the loop's axis reads in all rows of the block. Threads along an
// axis on which an index depends read separate elements, except along the axis that shares the sweep.
std::int64_t bytes_per_step(const ir::Program& program, const ir::Loop& sweep) {
  std::int64_t total = 0;
  std::set<std::string, std::less<>> seen;
  ir::for_each<ir::Load>(sweep.body, [&](const ir::Load& load) {
    if (!ir::depends_on(load.index, sweep.axis.name) || gathers(program, load.index)) return;
    if (!seen.insert(load.buffer).second) return;
    std::int64_t bytes = ir::bytes(program.find(load.buffer)->dtype);
    for (const ir::Axis& axis : tile_of(program).axes)
      if (axis.bind == ir::Bind::thread && ir::depends_on(load.index, axis.name)) bytes *= axis.extent;
    total += bytes;
  });
  return total;
}

// Finds the longest reduce sweeps at the top level of the tile's body.
Sweeps find_sweeps(const ir::Program& program) {
  const ir::Tile& tile = tile_of(program);
  Sweeps found;
  for (const ir::Stmt& stmt : tile.body)
    if (is_shared_sweep(tile, stmt)) found.extent = std::max(found.extent, stmt.as<ir::Loop>()->axis.extent);
  for (std::size_t i = 0; i < tile.body.size(); ++i) {
    if (!is_shared_sweep(tile, tile.body[i])) continue;
    const auto& loop = *tile.body[i].as<ir::Loop>();
    if (loop.axis.extent != found.extent) continue;
    const std::int64_t bytes = bytes_per_step(program, loop);
    if (bytes == 0) continue;
    found.at.push_back(i);
    found.threads = loop.step;
    found.bytes += bytes;
  }
  return found;
}

// Returns divisors of the row that give each thread at least one element, and take at most a quarter of shared memory,
// so that three chunks can be in flight while one is read. Chunks that every thread reads in whole accesses of 16 bytes
// come first, and among these powers of two.
std::vector<Value> chunk_sizes(const Sweeps& sweeps, const Target& target) {
  constexpr std::size_t max_options = 8;
  constexpr std::int64_t low = 8;  // with shorter chunks, the barrier of a chunk costs more than the chunk
  const std::int64_t high = target.shared_bytes / 4 / sweeps.bytes;
  std::vector<std::int64_t> sizes =
      divisors(sweeps.extent, std::max(sweeps.threads, low), std::min(high, sweeps.extent - 1));
  const auto rank = [&](std::int64_t size) {
    const int uneven = size % (4 * sweeps.threads) == 0 ? 0 : size % sweeps.threads == 0 ? 1 : 2;
    return 2 * uneven + (std::has_single_bit(static_cast<std::uint64_t>(size)) ? 0 : 1);
  };
  std::stable_sort(sizes.begin(), sizes.end(), [&](std::int64_t a, std::int64_t b) { return rank(a) < rank(b); });
  if (sizes.size() > max_options) sizes.resize(max_options);
  return {sizes.begin(), sizes.end()};
}

Verdict decide_chunk_reduce(const ir::Program& program, const Target& target, const Pins& pins) {
  if (target.cpu) return Skip{"CPUs keep rows in their caches"};
  if (const auto chunk = pins.integer("chunk"))
    return *chunk == 0 ? Verdict(Skip{"chunk=0: the sweeps walk whole rows"}) : Apply{};
  if (find_matmul(program)) return Skip{"the reduce is a matmul's"};
  const Sweeps sweeps = find_sweeps(program);
  if (sweeps.at.empty()) return Skip{"no reduce sweep that reads along it"};
  std::vector<Value> chunks = chunk_sizes(sweeps, target);
  if (chunks.empty()) return Skip{"no chunk size divides the row, keeps the threads busy and fits"};
  // Whole rows come first. They are read in vectors, and staged if they fit. The sweeps of a chunk are scalar, because
  // the last sweep, which writes the row, has a different extent.
  chunks.insert(chunks.begin(), Value{std::int64_t{0}});
  return Fork{"chunk", std::move(chunks)};
}

ir::Program apply_chunk_reduce(ir::Program program, const Target&, const Pins& pins) {
  const std::int64_t chunk = pins.integer("chunk").value();
  for (const std::size_t at : find_sweeps(program).at) {
    const std::string inner = ir::fresh_axis(program);
    ir::Stmt& stmt = tile_of(program).body[at];
    auto& sweep = *stmt.as<ir::Loop>();
    ir::Loop outer = {{sweep.axis.name, sweep.axis.extent / chunk, ir::Bind::free}, 0, 1, 1, {}};
    const std::string row = sweep.axis.name;
    sweep.axis = {inner, chunk, ir::Bind::reduce};
    outer.body.push_back(std::move(stmt));
    tile_of(program).body[at] = std::move(outer);
    ir::substitute_axes(program, {{row, ir::var(row) * chunk + ir::var(inner)}});
  }
  return program;
}

}  // namespace

extern const Rule chunk_reduce = {
    .name = "chunk_reduce",
    .summary = "sweeps over a row in chunks",
    .knobs = {{"chunk", KnobType::integer}},
    .decide = decide_chunk_reduce,
    .apply = apply_chunk_reduce,
};

}  // namespace deplo::rules
