// Elementary functions of OpenCL vectors and scalars on CPUs: PoCL's own take several times as long
// (docs/performance.md).
#pragma once
#include <string>
#include <string_view>

#include "ir/op.h"

namespace deplo::ir {

/// exp, tanh and what is made of them.
bool has_simd(Op);
/// `op(x)` of f32 in so many lanes, for a source that has the definition of the function it calls.
std::string simd_call(Op, std::string_view x, int lanes);
/// OpenCL C of exp or tanh. Within 2 ulp (exp) and 4 ulp (tanh) of the exact value; an exp below the smallest normal
/// number is 0. Infinities and NaN as in C.
std::string simd_definition(Op, int lanes);

}  // namespace deplo::ir
