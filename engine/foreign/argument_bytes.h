// Types of a kernel file's arguments, and values as the device stores them.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/config.h"
#include "engine/foreign/expression.h"
#include "ir/types.h"

namespace deplo::engine::foreign {

/// A type of an argument: that of its elements.
struct ElementType {
  std::string_view name;
  ir::DType dtype;
  bool is_unsigned;
};

/// "float4": the element type and four elements; three take the place of four. Throws Error at `config` for another type.
std::pair<ElementType, std::int64_t> read_type(const Config& config);

/// The bytes of a value of the type at `type`: "float", "double", "int", …, or "float4" of four values or of one that all
/// elements have. Throws Error at `type` if it cannot have the values.
std::vector<std::uint8_t> encode(const std::vector<Scalar>& values, const Config& type);
/// The bytes of a struct whose members have these bytes. Each member is aligned to its size, as in C.
std::vector<std::uint8_t> encode_struct(const std::vector<std::vector<std::uint8_t>>& members);

}  // namespace deplo::engine::foreign
