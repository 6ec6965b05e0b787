// Types of a kernel file's arguments, and values as the device stores them.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/config.h"
#include "engine/foreign/expression.h"
#include "ir/types/types.h"

namespace deplo::engine::foreign {

/// The type of an argument: that of its elements, and how many of them a vector has. "float4" has four; "float3" takes
/// the place of four (OpenCL C, 6.1.5).
struct ArgumentType {
  ir::DType element = ir::DType::f32;
  std::int64_t lanes = 1, given = 1;  // `given`: 3 of float3
  std::int64_t bytes() const { return lanes * ir::bytes(element); }
};

/// The type of a name of OpenCL C, such as "float" or "uchar4". nullopt: there is none.
std::optional<ArgumentType> opencl_type(std::string_view name);
/// Reads the name of a type of OpenCL C ("float", "uchar4"), or one with the number of bits, as T1 and NumPy have
/// ("uint8"). "int8" and "int16" are T1's, not vectors; "float16" is a vector, as in T1. Throws Error at `config` for
/// another name.
ArgumentType read_type(const Config& config);

/// The bytes of a value of the type at `type`, which has as many values as the type, or one that all elements have.
/// Throws Error at `place` if it cannot have the values.
std::vector<std::uint8_t> encode(const std::vector<Scalar>& values, const Config& type, const std::string& place);
/// The bytes of a struct whose members have these bytes. Each member is aligned to its size, as in C.
std::vector<std::uint8_t> encode_struct(const std::vector<std::vector<std::uint8_t>>& members);

}  // namespace deplo::engine::foreign
