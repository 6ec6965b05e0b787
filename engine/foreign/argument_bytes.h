// The types of a kernel file's arguments, and the encoding of values as bytes for the device.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/config.h"
#include "core/target.h"
#include "engine/foreign/expression.h"
#include "ir/types/types.h"

namespace deplo::engine::foreign {

/// The type of an argument: its element type and its number of vector lanes. "float4" has four lanes. "float3" has
/// three. In OpenCL it takes the memory of four (OpenCL C, 6.1.5), in CUDA that of three.
struct ArgumentType {
  ir::DType element = ir::DType::f32;
  std::int64_t lanes = 1, given = 1;  // `lanes`: lanes in memory; `given`: lanes with a value, 3 for float3
  std::int64_t bytes() const { return lanes * ir::bytes(element); }
  /// Its address is a multiple of this. CUDA C++ Programming Guide, "Alignment Requirements in Device Code", has it for
  /// CUDA's vectors of three.
  std::int64_t alignment() const { return lanes == 3 ? ir::bytes(element) : bytes(); }
};

/// Returns the type with this OpenCL C name, such as "float" or "uchar4", or nullopt if there is none.
std::optional<ArgumentType> opencl_type(std::string_view name);
/// Reads the name of a type: one of OpenCL C ("float", "uchar4"), or one with the number of bits, as in T1 and NumPy
/// ("uint8"). "int8" and "int16" have 8 and 16 bits, as in T1, and are not vectors; "float16" is a vector, as in T1.
/// Throws Error at `config` for any other name.
ArgumentType read_type(const Config& config, Dialect);

/// Returns the bytes of a value. `type` names its type. `values` has one value per lane, or one value for all lanes.
/// Throws Error at `place` if the type cannot represent a value, or if the number of values is wrong.
std::vector<std::uint8_t> encode(const std::vector<Scalar>& values, const Config& type, Dialect,
                                 const std::string& place);

struct StructMember {
  std::vector<std::uint8_t> bytes;
  std::size_t alignment = 1;
};
/// Returns the bytes of a struct as C lays it out.
std::vector<std::uint8_t> encode_struct(const std::vector<StructMember>& members);

}  // namespace deplo::engine::foreign
