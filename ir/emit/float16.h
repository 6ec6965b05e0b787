// Conversions of 16-bit floats in the emitted source. There, their elements are integers, so the source needs neither
// an extension nor a header.
#pragma once
#include <string>
#include <string_view>

#include "core/target.h"
#include "ir/op.h"
#include "ir/types/types.h"

namespace deplo::ir {

/// OpenCL: defines `f16_load(from)`, the value of a `const half*`, and `f16_store(x, to)`, which rounds to nearest
/// even. Clang's builtins become one instruction each, also in loops that are vectorized. PoCL's functions compute with
/// bits.
inline constexpr std::string_view opencl_half_access = R"(#ifdef __has_builtin
#if __has_builtin(__builtin_load_halff)
#define f16_load(from) __builtin_load_halff(from)
#define f16_store(x, to) __builtin_store_halff(x, to)
#endif
#endif
#ifndef f16_load
#define f16_load(from) vload_half(0, from)
#define f16_store(x, to) vstore_half_rte(x, 0, to)
#endif
)";

/// Returns an expression that loads `lanes` elements of an OpenCL buffer, from `at` on, as an f32 or a vector of f32.
/// `space`: the buffer's address space, such as "__local". Loads of f16 call a function of float16_definition.
std::string load_float16(std::string_view buffer, std::string_view at, DType, int lanes, std::string_view space);
/// Returns the statement that stores `value`, which has `lanes` lanes. Stores of bf16 and of one f16 call a function of
/// float16_definition.
std::string store_float16(std::string_view buffer, std::string_view at, DType, int lanes, std::string_view space,
                          std::string_view value);
/// Returns the statement that stores the bits of several bf16.
std::string store_bf16(std::string_view buffer, std::string_view at, int lanes, std::string_view space,
                       std::string_view bits);
/// CUDA: returns one element of `word` as an f32. The word holds two elements: the low one for even lanes, the high one
/// for odd lanes.
std::string unpack_float16(std::string_view word, DType, int lane);
/// CUDA: returns a word that holds two values.
std::string pack_float16(std::string_view low, std::string_view high, DType);
/// Returns an expression that rounds a value to f16, bf16 or tf32. `op` is round_f16, round_bf16 or round_tf32.
std::string round_float(Op op, std::string_view value, int lanes);
/// Returns the definitions of the functions and types that the texts above use.
std::string float16_definition(DType, int lanes, Dialect);
std::string tf32_definition(int lanes, Dialect);

}  // namespace deplo::ir
