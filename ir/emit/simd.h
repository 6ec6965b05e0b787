// Functions and stores that replace OpenCL's own. On CPUs, PoCL's functions and stores take several times as long
// (docs/performance.md). On all devices, maxima and minima are replaced, because OpenCL's fmax and fmin drop NaN.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ir/op.h"

namespace deplo::ir {

/// True if the operation is replaced: exp, tanh, erf, log, power and sigmoid (which calls exp); maxima and minima;
/// horizontal operations.
bool has_simd(Op);
/// True for a maximum or minimum, or relu. Their result is NaN if an argument, or a lane, is NaN.
bool is_extremum(Op);
/// Returns `op(args)` for f32 in `lanes` lanes. The source must have the definition of simd_function(op). `constant`:
/// the argument that is a constant, and so not NaN; a maximum or minimum with a constant takes one comparison less.
std::string simd_call(Op, std::span<const std::string_view> args, int lanes, std::optional<std::size_t> constant);
/// Returns the operation whose function simd_call(op) calls, or nullopt if it calls none.
std::optional<Op> simd_function(Op);
/// Returns an expression that divides all lanes of `x` by the scalar `y`, within 4 ulp. The source must have
/// simd_definition(Op::divide, lanes).
std::string simd_divide(std::string_view x, std::string_view y, int lanes);
/// Returns the definition of a function in OpenCL C. Its result is within 2 ulp (tanh: 4 ulp) of the exact value, also
/// if it is subnormal. Infinities and NaN are as in C. Horizontal operations combine the lanes by halves.
std::string simd_definition(Op, int lanes);

/// Returns the statement that stores `value`, an f32 in at least 2 lanes, to `place`, an element in the address space.
/// The source must have simd_lanes_definition(lanes).
std::string simd_store(std::string_view place, std::string_view space, std::string_view value, int lanes);
std::string simd_lanes_definition(int lanes);

/// Returns a store like simd_store that bypasses the caches. `place` must be in global memory. The source must have
/// simd_lanes_definition(lanes) and then simd_stream_definition(lanes).
std::string simd_stream(std::string_view place, std::string_view value, int lanes);
std::string simd_stream_definition(int lanes);

}  // namespace deplo::ir
