// cluster_matmul_k: the blocks of a cluster take a part of a matmul's K each, and merge their sums through each other's
// shared memory: no addition in global memory, and so the same bits every time.
//   Tile(axes=(a0:28=BLOCK, …, a4:8=REG, …)):     Tile(axes=(a0:28=BLOCK, a1:4=CLUSTER, …, a5:8=REG, …)):
//     for a8 in 0..112: # free                      for a8 in 0..28: # free
//       a_smem = Stage(a, origin=(0, (a8 * 32)),      a_smem = Stage(a, origin=(0, ((a1 * 896) + (a8 * 32))),
//       … acc0 <- …                           →       … acc0 <- …
//     c[…] = acc0                                   Combine(acc0, op=add, over=(a1), to=(a5 / 2))
//                                                   if (a1 == (a5 / 2)):
//                                                     c[…] = acc0
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

// The loop over the chunks of K; nullptr: there is none.
const ir::Loop* chunk_loop(const ir::Program& program, const Matmul& matmul, const SplitSums& sums) {
  const auto* loop = tile_of(program).body[sums.at].as<ir::Loop>();
  return loop == nullptr || loop == matmul.reduce || loop->axis.bind != ir::Bind::free ? nullptr : loop;
}

// First the fewest blocks that fill the target, where those of the grid do not.
std::vector<Value> block_options(const ir::Program& program, std::int64_t chunks, const SplitSums& sums,
                                 const Target& target) {
  std::vector<std::int64_t> legal = {1};
  if (!has_room(program, sums, 1, target)) return {Value{std::int64_t{1}}};
  for (std::int64_t blocks = 2; blocks <= target.cluster && chunks % blocks == 0; blocks *= 2) legal.push_back(blocks);
  const std::int64_t grid = ir::count_of(tile_of(program), ir::Bind::block);
  const auto first = std::ranges::find_if(legal, [&](std::int64_t blocks) { return grid * blocks >= target.units; });
  std::vector<Value> result = {Value{first == legal.end() ? legal.back() : *first}};
  for (const std::int64_t blocks : legal) add_option(result, blocks);
  return result;
}

Verdict decide(const ir::Program& program, const Target& target, const Pins& pins) {
  if (target.cluster == 1) return Skip{"no clusters of blocks on this target (CUDA has them from sm_90 on)"};
  if (const auto blocks = pins.integer("blocks"))
    return *blocks == 1 ? Verdict(Skip{"blocks=1: every block sums the whole of its K"}) : Apply{};
  const auto matmul = find_matmul(program);
  if (!matmul) return Skip{"no matmul-shaped reduce loop"};
  const auto sums = find_split_sums(program, *matmul);
  if (!sums) return Skip{not_split_sums};
  const ir::Loop* chunks = chunk_loop(program, *matmul, *sums);
  if (chunks == nullptr) return Skip{"no chunk loop"};
  std::vector<Value> options = block_options(program, chunks->axis.extent, *sums, target);
  if (options.size() == 1) return Skip{"no cluster of 2, 4 or 8 blocks divides the chunks and has room for the sums"};
  return Fork{"blocks", std::move(options)};
}

ir::Program apply(ir::Program program, const Target&, const Pins& pins) {
  const std::int64_t blocks = pins.integer("blocks").value();
  const ir::Axis cluster = {ir::fresh_axis(program), blocks, ir::Bind::cluster};
  const Matmul matmul = *find_matmul(program);
  const SplitSums sums = *find_split_sums(program, matmul);
  ir::Loop& loop = to_edit(program, *chunk_loop(program, matmul, sums));
  const std::string chunk = loop.axis.name;
  loop.axis.extent /= blocks;
  const ir::Expr first = ir::var(cluster.name) * loop.axis.extent;
  std::vector<ir::Axis>& axes = tile_of(program).axes;
  const auto last = std::find_if(axes.rbegin(), axes.rend(), [](const auto& a) { return a.bind == ir::Bind::block; });
  axes.insert(last.base(), cluster);
  ir::substitute_axes(program, {{chunk, first + ir::var(chunk)}});
  merge_sums(program, sums, cluster);
  return program;
}

}  // namespace

extern const Rule cluster_matmul_k = {
    .name = "cluster_matmul_k",
    .summary = "K split over the blocks of a cluster, which merge their sums",
    .knobs = {{"blocks", KnobType::integer, 1}},
    .decide = decide,
    .apply = apply,
};

}  // namespace deplo::rules
