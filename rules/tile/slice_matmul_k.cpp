// slice_matmul_k: groups of threads of a matmul's block each take a part of every chunk of K, and merge their sums
// after the last chunk.
//   Tile(axes=(…, a2:4=THREAD, …, a4:16=THREAD, a5:8=REG, …)):
//     for a8 in 0..112: # free
//       for a9 in 0..32: # reduce
//         … load a_smem[((a2 * 8) + a5), a9] … acc0 <- …
//     c[…] = acc0
//       →   Tile(axes=(a0:4=THREAD, …, a3:4=THREAD, …, a5:16=THREAD, a6:8=REG, …)):
//             for a8 in 0..112: # free
//               for a9 in 0..8: # reduce
//                 … load a_smem[((a3 * 8) + a6), ((a0 * 8) + a9)] … acc0 <- …
//             Combine(acc0, op=add, over=(a0), to=(a6 / 2))
//             if (a0 == (a6 / 2)):
//               c[…] = acc0
// A block with few outputs then has register tiles as large as other blocks, and as many threads.
#include <algorithm>

#include "ir/walk.h"
#include "rules/analysis/matmul.h"
#include "rules/analysis/tile.h"
#include "rules/cost/resources.h"
#include "rules/rule.h"
#include "rules/tile/helpers/options.h"
#include "rules/tile/helpers/split_sums.h"

namespace deplo::rules {
namespace {

// Each of 8 slices of a chunk of 32 has four steps: a vector of an operand that walks k.
constexpr std::int64_t max_slices = 8;
// Warps per unit, two per scheduler: one multiplies while the other waits for its operands.
constexpr double enough_warps = 8;

// Returns false if a guarded tail ends where a slice does: its condition would be simplified to one of whole slices,
// under which the verifier cannot prove an index.
bool keeps_guard(const ir::Loop& loop, std::int64_t slices) {
  const auto* guard = loop.body.size() == 1 ? loop.body[0].as<ir::If>() : nullptr;
  if (guard == nullptr || loop.axis.extent == slices) return true;
  const ir::Expr& condition = guard->condition;  // the condition has the form k < K
  return condition.rhs().kind() == ir::Expr::Kind::constant &&
         condition.rhs().value() % (loop.axis.extent / slices) != 0;
}

bool fits(const ir::Program& program, const SplitSums& sums, std::int64_t slices, const Target& target) {
  const ir::Tile& tile = tile_of(program);
  const std::int64_t threads = ir::count_of(tile, ir::Bind::thread) * slices;
  if (threads > target.max_threads) return false;
  const auto reg = std::ranges::find(tile.axes, ir::Bind::reg, &ir::Axis::bind);
  const std::int64_t rows = reg == tile.axes.end() ? 1 : reg->extent, outputs = ir::count_of(tile, ir::Bind::reg);
  return register_tile_registers(rows, outputs / rows) <= thread_registers(threads, target) &&
         has_room(program, sums, slices, target);
}

// Returns the legal numbers of slices. The first is the smallest that gives every unit enough warps.
std::vector<Value> slice_options(const ir::Program& program, const ir::Loop& loop, const SplitSums& sums,
                                 const Target& target) {
  const ir::Tile& tile = tile_of(program);
  const std::int64_t blocks = ir::count_of(tile, ir::Bind::block) * ir::count_of(tile, ir::Bind::cluster);
  const double warps = static_cast<double>(ceil_div(blocks, target.units)) *
                       static_cast<double>(ir::count_of(tile, ir::Bind::thread)) / static_cast<double>(target.warp);
  std::vector<std::int64_t> legal = {1};
  for (std::int64_t slices = 2; slices <= max_slices && loop.axis.extent % slices == 0; slices *= 2)
    if (keeps_guard(loop, slices) && fits(program, sums, slices, target)) legal.push_back(slices);
  const auto enough = [&](std::int64_t slices) { return warps * static_cast<double>(slices) >= enough_warps; };
  const auto first = std::ranges::find_if(legal, enough);
  std::vector<Value> result = {Value{first == legal.end() ? legal.back() : *first}};
  for (const std::int64_t slices : legal) add_option(result, slices);
  return result;
}

Verdict decide_slice_matmul_k(const ir::Program& program, const Target& target, const Pins& pins) {
  if (target.cpu) return Skip{"the threads of a CPU's block run one after the other"};
  if (const auto slices = pins.integer("slices"))
    return *slices == 1 ? Verdict(Skip{"slices=1: every thread sums the whole of a chunk"}) : Apply{};
  const auto matmul = find_matmul(program);
  if (!matmul) return Skip{"no matmul-shaped reduce loop"};
  const auto sums = find_split_sums(program, *matmul->reduce);
  if (!sums) return Skip{not_split_sums};
  std::vector<Value> options = slice_options(program, *matmul->reduce, *sums, target);
  if (options.size() == 1) return Skip{"the threads and sums of 2, 4 or 8 slices of a chunk do not fit the block"};
  return Fork{"slices", std::move(options)};
}

ir::Program apply_slice_matmul_k(ir::Program program, const Target&, const Pins& pins) {
  const std::int64_t slices = pins.integer("slices").value();
  const ir::Axis slice = {ir::fresh_axis(program), slices, ir::Bind::thread};
  const Matmul matmul = *find_matmul(program);
  const SplitSums sums = *find_split_sums(program, *matmul.reduce);
  ir::Loop& loop = to_edit(program, *matmul.reduce);
  const std::string k = loop.axis.name;
  loop.axis.extent /= slices;
  ir::Tile& tile = tile_of(program);
  // The slice is the slowest thread axis, so that a warp has one slice.
  tile.axes.insert(tile.axes.begin(), slice);
  ir::substitute_axes(program, {{k, ir::var(slice.name) * loop.axis.extent + ir::var(k)}});
  merge_sums(program, sums, slice);
  return program;
}

}  // namespace

extern const Rule slice_matmul_k = {
    .name = "slice_matmul_k",
    .summary = "chunks of K shared by groups of threads, which merge their sums",
    .knobs = {{"slices", KnobType::integer, 1}},
    .decide = decide_slice_matmul_k,
    .apply = apply_slice_matmul_k,
};

}  // namespace deplo::rules
