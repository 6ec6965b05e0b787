#include <array>

#include "rules/rule.h"
#include "rules/tile/rules.h"

namespace deplo::rules {

std::span<const Rule* const> pipeline() {
  static constexpr std::array<const Rule*, 8> rules = {
      &tileify,      &chunk_matmul_k, &cooperative_reduce, &blockify_launch,
      &stage_inputs, &register_tile,  &vectorize,          &mark_unroll,
  };
  return rules;
}

}  // namespace deplo::rules
