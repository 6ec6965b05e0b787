// cluster_matmul_k: splits a matmul's K over the blocks of a cluster, which merge their sums through each other's
// shared memory. Nothing is added in global memory, so the result has the same bits every time.
//   Tile(axes=(a0:28=BLOCK, …, a4:8=REG, …)):     Tile(axes=(a0:28=BLOCK, a1:4=CLUSTER, …, a5:8=REG, …)):
//     for a8 in 0..112: # free                      for a8 in 0..28: # free
//       a_smem = Stage(a, origin=(0, (a8 * 32)),      a_smem = Stage(a, origin=(0, ((a1 * 896) + (a8 * 32))),
//       … acc0 <- …                           →       … acc0 <- …
//     c[…] = acc0                                   Combine(acc0, op=add, over=(a1), to=(a5 / 2))
//                                                   if (a1 == (a5 / 2)):
//                                                     c[…] = acc0
// Threads or matrix instructions may multiply the chunks.
#include <algorithm>
#include <span>

#include "ir/hardware/mma.h"
#include "ir/hardware/stage_layout.h"
#include "ir/walk.h"
#include "rules/analysis/matmul.h"
#include "rules/analysis/tile.h"
#include "rules/cost/resources.h"
#include "rules/cost/warpgroup_blocks.h"
#include "rules/rule.h"
#include "rules/tile/helpers/options.h"
#include "rules/tile/helpers/split_sums.h"
#include "rules/tile/helpers/stages.h"

namespace deplo::rules {
namespace {

// Returns the loop of products, which threads or matrix instructions execute; nullptr if there is none.
const ir::Loop* product_loop(const ir::Program& program) {
  if (const auto matmul = find_matmul(program)) return matmul->reduce;
  const ir::Loop* found = nullptr;
  ir::for_each<ir::Loop>(tile_of(program).body, [&](const ir::Loop& loop) {
    if (!loop.atom.empty()) found = &loop;
  });
  return found;
}

// Returns the loop over the chunks of K; nullptr if there is none.
const ir::Loop* chunk_loop(const ir::Program& program, const ir::Loop& products, const SplitSums& sums) {
  const auto* loop = tile_of(program).body[sums.at].as<ir::Loop>();
  return loop == nullptr || loop == &products || loop->axis.bind != ir::Bind::free ? nullptr : loop;
}

// Returns the smallest cluster with which the grid fills the target, or a larger one if the busiest unit then has at
// least a fifth less work. On an H200 clusters of 4 take 0.76 of the time of clusters of 2 for 128 x 5632 x 2048 in
// f32: a unit has at most 3 of 352 blocks, which are 0.75 of the work of 2 of 176 blocks.
std::int64_t filling_blocks(std::span<const std::int64_t> legal, std::int64_t grid, std::int64_t units) {
  const auto max_work = [&](std::int64_t blocks) {
    return static_cast<double>((grid * blocks + units - 1) / units) / static_cast<double>(blocks);
  };
  std::int64_t wanted = 1;
  for (const std::int64_t blocks : legal)
    if (grid * wanted < units || (grid < units && max_work(blocks) < 0.8 * max_work(wanted))) wanted = blocks;
  return wanted;
}

// Returns the cluster size for matrix instructions of warps. They wait for memory, so two blocks should share a unit.
// On an H200 this is the best of 1 to 8 for 32 rows: 4 for 88 blocks with 32 chunks, 4 for 32 blocks with 32 chunks,
// and 8 for 32 blocks with 88 chunks (docs/performance.md, "On an H200").
std::int64_t waiting_blocks(std::span<const std::int64_t> legal, std::int64_t chunks, std::int64_t grid,
                            std::int64_t units) {
  std::int64_t wanted = 1;
  for (const std::int64_t blocks : legal)
    if (grid < units && grid * wanted < 2 * units && chunks / blocks >= least_chunks) wanted = blocks;
  return wanted;
}

// Returns the fastest cluster size for matrix instructions of warpgroups.
std::int64_t fastest_blocks(std::span<const std::int64_t> legal, const ir::Program& program, const ir::Loop& chunks,
                            const ir::Loop& products, std::int64_t grid, const Target& target) {
  ir::mma::Product product;
  CHECK(ir::mma::find_product(tile_of(program), products, product).empty());
  if (!product.a.in_slab()) return 1;  // not measured
  std::int64_t rows = 0, columns = 0;
  for (std::size_t i = 0; i < leading_stages(chunks.body); ++i) {
    const auto& stage = *chunks.body[i].as<ir::Stage>();
    (stage.buffer == product.a.load()->buffer ? rows : columns) = ir::slot_count(stage) / products.axis.extent;
  }
  return fastest_cluster(rows, columns, grid, chunks.axis.extent * products.axis.extent, legal, target);
}

// Returns the legal cluster sizes, the preferred one first.
std::vector<Value> block_options(const ir::Program& program, const ir::Loop& loop, const ir::Loop& products,
                                 const SplitSums& sums, const Target& target) {
  if (!has_room(program, sums, 1, target)) return {Value{std::int64_t{1}}};
  const std::int64_t chunks = loop.axis.extent;
  const std::vector<std::int64_t> legal = even_clusters(chunks, target);
  const std::int64_t grid = ir::count_of(tile_of(program), ir::Bind::block);
  const std::int64_t wanted = products.atom.empty() ? filling_blocks(legal, grid, target.units)
                              : ir::mma::find_atom(products.atom)->of_warpgroup()
                                  ? fastest_blocks(legal, program, loop, products, grid, target)
                                  : waiting_blocks(legal, chunks, grid, target.units);
  std::vector<Value> result = {Value{wanted}};
  for (const std::int64_t blocks : legal) add_option(result, blocks);
  return result;
}

Verdict decide_cluster_matmul_k(const ir::Program& program, const Target& target, const Pins& pins) {
  if (target.cluster == 1) return Skip{"no clusters of blocks on this target (CUDA has them from sm_90 on)"};
  if (const auto blocks = pins.integer("blocks"))
    return *blocks == 1 ? Verdict(Skip{"blocks=1: every block sums the whole of its K"}) : Apply{};
  const ir::Loop* const products = product_loop(program);
  if (products == nullptr) return Skip{"no matmul-shaped reduce loop"};
  const auto sums = find_split_sums(program, *products);
  if (!sums) return Skip{not_split_sums};
  const ir::Loop* chunks = chunk_loop(program, *products, *sums);
  if (chunks == nullptr) return Skip{"no chunk loop"};
  std::vector<Value> options = block_options(program, *chunks, *products, *sums, target);
  if (options.size() == 1) return Skip{"no cluster of 2, 4 or 8 blocks divides the chunks and has room for the sums"};
  return Fork{"blocks", std::move(options)};
}

ir::Program apply_cluster_matmul_k(ir::Program program, const Target&, const Pins& pins) {
  const std::int64_t blocks = pins.integer("blocks").value();
  const ir::Axis cluster = {ir::fresh_axis(program), blocks, ir::Bind::cluster};
  const ir::Loop& products = *product_loop(program);
  const SplitSums sums = *find_split_sums(program, products);
  ir::Loop& loop = to_edit(program, *chunk_loop(program, products, sums));
  const std::string chunk = loop.axis.name;
  loop.axis.extent /= blocks;
  const ir::Expr first = ir::var(cluster.name) * loop.axis.extent;
  std::vector<ir::Axis>& axes = tile_of(program).axes;
  const auto last = std::find_if(axes.rbegin(), axes.rend(), [](const auto& a) { return a.bind == ir::Bind::block; });
  axes.insert(last.base(), cluster);
  ir::substitute_axes(program, {{chunk, first + ir::var(chunk)}});
  // The phases of a block's barriers count only the block's own chunks.
  for (const std::size_t place : chunk_loops(tile_of(program)))
    if (has_wait(loop_at(tile_of(program), place))) put_wait(tile_of(program), place);
  merge_sums(program, sums, cluster);
  return program;
}

}  // namespace

extern const Rule cluster_matmul_k = {
    .name = "cluster_matmul_k",
    .summary = "K split over the blocks of a cluster, which merge their sums",
    .knobs = {{"blocks", KnobType::integer, 1}},
    .decide = decide_cluster_matmul_k,
    .apply = apply_cluster_matmul_k,
};

}  // namespace deplo::rules
