// All tile rules (rules/tile/NAME.cpp) in their order.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/hash.h"
#include "rules/rule.h"

namespace deplo::rules {

extern const Rule tileify, online_softmax, chunk_matmul_k, split_matmul_k, join_axes, cooperative_reduce,
    blockify_launch, raster, chunk_reduce, stage_inputs, order_slab, mma, register_tile, permute_register_tile,
    cluster_matmul_k, slice_matmul_k, double_buffer, tma_copy, async_copy, vectorize, pack_smem, dot_pairs, warp_tile,
    split_inner_for_swizzle, pad_smem, specialize_warps, multicast, pipeline_k_outer, stream_writes, prefetch,
    prefetch_chunks, mark_unroll, persistent_blocks, limit_registers;

Pipeline pipeline() {
  // clang-format off
  static constexpr std::array rules = {
      &tileify,
      &online_softmax,
      &chunk_matmul_k,
      &split_matmul_k,
      &join_axes,
      &cooperative_reduce,
      &blockify_launch,
      &raster,
      &chunk_reduce,
      &stage_inputs,
      &order_slab,
      &mma,
      &register_tile,
      &permute_register_tile,
      &cluster_matmul_k,
      &slice_matmul_k,
      &double_buffer,
      &tma_copy,
      &async_copy,
      &vectorize,
      &pack_smem,
      &dot_pairs,
      &warp_tile,
      &split_inner_for_swizzle,
      &pad_smem,
      &specialize_warps,
      &multicast,
      &pipeline_k_outer,
      &stream_writes,
      &prefetch,
      &prefetch_chunks,
      &mark_unroll,
      &persistent_blocks,
      &limit_registers,
  };
  // clang-format on
  return rules;
}

const Rule* find_rule(std::string_view name) {
  const auto found = std::ranges::find(pipeline(), name, [](const Rule* rule) { return rule->name; });
  return found == pipeline().end() ? nullptr : *found;
}

std::string version_of(Pipeline rules) {
  std::string text;
  for (const Rule* rule : rules) {
    text += fmt::format("{}\n", rule->name);
    for (const auto& [name, type, as_before] : rule->knobs)
      text += fmt::format("  {} {} {}\n", name, static_cast<int>(type), as_before ? print(*as_before) : "");
  }
  return digest(text);
}

}  // namespace deplo::rules
