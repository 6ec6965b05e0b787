// What OpenCL writes in its own way. On CPUs, because PoCL's functions and stores take several times as long
// (docs/performance.md); on all devices maxima and minima, because OpenCL's fmax and fmin drop NaN.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ir/op.h"

namespace deplo::ir {

/// exp, tanh and what is made of them; maxima and minima; the horizontal operations.
bool has_simd(Op);
/// Maxima and minima, relu among them: a NaN among the arguments, or the lanes, is the result.
bool is_extremum(Op);
/// `op(args)` of f32 in `lanes` lanes, for a source that has the definition of simd_function(op). `constant`: which
/// argument is a constant, and so no NaN; a maximum with it takes one comparison less.
std::string simd_call(Op, std::span<const std::string_view> args, int lanes, std::optional<std::size_t> constant);
/// The function that it calls, if any.
std::optional<Op> simd_function(Op);
/// All lanes of `x` by one number, for a source that has simd_definition(Op::divide, lanes). Within 4 ulp.
std::string simd_divide(std::string_view x, std::string_view y, int lanes);
/// OpenCL C of a function. Within 2 ulp (exp) and 4 ulp (tanh) of the exact value, subnormal results too. Infinities and
/// NaN as in C. Lanes are combined by halves.
std::string simd_definition(Op, int lanes);

/// Writes `value`, f32 in 2 lanes or more, to `place`, an element in the address space, for a source that has
/// simd_lanes_definition(lanes).
std::string simd_store(std::string_view place, std::string_view space, std::string_view value, int lanes);
std::string simd_lanes_definition(int lanes);

}  // namespace deplo::ir
