// Conversions of 16-bit floats in the emitted source. Their elements are integers there, so the source needs neither an
// extension nor a header.
#pragma once
#include <string>
#include <string_view>

#include "core/target.h"
#include "ir/op.h"
#include "ir/types/types.h"

namespace deplo::ir {

/// Loads `lanes` elements of an OpenCL buffer, from `at` on, as an f32 or a vector of f32. `space`: the buffer's
/// address space, "__local". Loads of several f16 call a function of float16_definition.
std::string load_float16(std::string_view buffer, std::string_view at, DType, int lanes, std::string_view space);
/// The statement that stores `value`, which has `lanes` lanes. Stores of bf16 call a function of float16_definition.
std::string store_float16(std::string_view buffer, std::string_view at, DType, int lanes, std::string_view space,
                          std::string_view value);
/// The statement that stores the bits of several bf16.
std::string store_bf16(std::string_view buffer, std::string_view at, int lanes, std::string_view space,
                       std::string_view bits);
/// CUDA: the f32 of an element of `word`, which holds two elements: the low one for even lanes, the high one for odd.
std::string unpack_float16(std::string_view word, DType, int lane);
/// CUDA: the word that holds two values.
std::string pack_float16(std::string_view low, std::string_view high, DType);
/// Rounds a value to f16, bf16 or tf32: `op` is round_f16, round_bf16 or round_tf32.
std::string round_float(Op op, std::string_view value, int lanes);
/// The definitions of the functions that the texts above call, and of their types.
std::string float16_definition(DType, int lanes, Dialect);
std::string tf32_definition(int lanes, Dialect);

}  // namespace deplo::ir
