// Every tile rule, one file each; pipeline.cpp has their order.
#pragma once
#include "rules/rule.h"

namespace deplo::rules {

extern const Rule tileify, chunk_matmul_k, cooperative_reduce, blockify_launch, stage_inputs, register_tile, vectorize,
    mark_unroll;

}  // namespace deplo::rules
