#include <array>

#include "rules/rule.h"
#include "rules/tile/rules.h"

namespace deplo::rules {

Pipeline pipeline() {
  static constexpr std::array rules = {
      &tileify,
      &chunk_matmul_k,
      &split_matmul_k,
      &cooperative_reduce,
      &blockify_launch,
      &raster,
      &chunk_reduce,
      &stage_inputs,
      &register_tile,
      &permute_register_tile,
      &double_buffer,
      &tma_copy,
      &split_inner_for_swizzle,
      &async_copy,
      &vectorize,
      &pack_smem,
      &pad_smem,
      &pipeline_k_outer,
      &prefetch,
      &mark_unroll,
  };
  return rules;
}

}  // namespace deplo::rules
