// Conversions of 16-bit floats in the emitted source: their elements are integers there, so that no extension and no
// header is needed.
#pragma once
#include <string>
#include <string_view>

#include "core/target.h"
#include "ir/op.h"
#include "ir/types.h"

namespace deplo::ir {

/// An f32, or with lanes an OpenCL vector of them, of the elements from `at` on of an OpenCL buffer; `space` is its
/// address space: "__local". Several of f16 call what float16_definition defines.
std::string load_float16(std::string_view buffer, std::string_view at, DType, int lanes, std::string_view space);
/// The statement that stores them; the value has as many lanes. Of bf16 it calls what float16_definition defines.
std::string store_float16(std::string_view buffer, std::string_view at, DType, int lanes, std::string_view space,
                          std::string_view value);
/// The same of the bits of some bf16.
std::string store_bf16(std::string_view buffer, std::string_view at, int lanes, std::string_view space,
                       std::string_view bits);
/// The f32 in lane `lane` of `word`, which in CUDA holds two elements; the word that holds two values.
std::string unpack_float16(std::string_view word, DType, int lane);
std::string pack_float16(std::string_view low, std::string_view high, DType);
/// The nearest number of 16 bits or of tf32: `op` is round_f16, round_bf16 or round_tf32.
std::string round_float(Op op, std::string_view value, int lanes);
/// The functions that the texts above call, and their types.
std::string float16_definition(DType, int lanes, Dialect);
std::string tf32_definition(int lanes, Dialect);

}  // namespace deplo::ir
