// A small Loop IR program with inputs of two ranks, a reduction, and statements that use its result.
#pragma once

namespace deplo::ir {

inline const char* const softmax_like = R"(=== loop: one ===
input x: f32[3, 7]
input weight: f32[7]
output y: f32[3, 7]
for a0 in 0..3: # free
  for a1 in 0..7: # reduce
    in0 = load x[a0, a1]
    acc0 <- maximum(acc0, in0)
  v0 = negative(acc0)
  for a2 in 0..7: # free
    in1 = load x[a0, a2]
    in2 = load weight[a2]
    v1 = fma(in1, in2, v0)
    y[a0, a2] = v1
)";

}  // namespace deplo::ir
