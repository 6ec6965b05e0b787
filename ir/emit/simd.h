// Functions and stores that replace OpenCL's own. On CPUs PoCL's functions and stores take several times as long
// (docs/performance.md). On all devices maxima and minima are replaced, because OpenCL's fmax and fmin drop NaN.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ir/op.h"

namespace deplo::ir {

/// Whether the operation is replaced: exp, tanh, erf, log, power and sigmoid (which calls exp); maxima and
/// minima; horizontal operations.
bool has_simd(Op);
/// Whether it is a maximum or minimum, or relu. The result is NaN if an argument, or a lane, is NaN.
bool is_extremum(Op);
/// `op(args)` of f32 in `lanes` lanes. The source must have the definition of simd_function(op). `constant`: the
/// argument that is a constant, and so not NaN; a maximum or minimum with it takes one comparison less.
std::string simd_call(Op, std::span<const std::string_view> args, int lanes, std::optional<std::size_t> constant);
/// The function that simd_call(op) calls, if any.
std::optional<Op> simd_function(Op);
/// Divides all lanes of `x` by the scalar `y`, within 4 ulp. The source must have simd_definition(Op::divide, lanes).
std::string simd_divide(std::string_view x, std::string_view y, int lanes);
/// The definition of a function in OpenCL C. It is within 2 ulp or 4 ulp (tanh) of the exact value, also
/// for subnormal results. Infinities and NaN are as in C. Horizontal operations combine the lanes by halves.
std::string simd_definition(Op, int lanes);

/// Stores `value`, an f32 in at least 2 lanes, to `place`, an element in the address space. The source must have
/// simd_lanes_definition(lanes).
std::string simd_store(std::string_view place, std::string_view space, std::string_view value, int lanes);
std::string simd_lanes_definition(int lanes);

/// The same past the caches, to a pointer to global memory. The source must have simd_lanes_definition(lanes) and then
/// simd_stream_definition(lanes).
std::string simd_stream(std::string_view place, std::string_view value, int lanes);
std::string simd_stream_definition(int lanes);

}  // namespace deplo::ir
