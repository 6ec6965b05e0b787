#include "engine/foreign/argument_fit.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace deplo::engine::foreign {
namespace {

struct CType {
  ir::DType element = ir::DType::f32;
  int lanes = 1;
};

/// Types of C, OpenCL C and CUDA C++, with their sizes on 64-bit Linux and on the devices.
constexpr std::pair<std::string_view, ir::DType> c_types[] = {
    {"float", ir::DType::f32},
    {"double", ir::DType::f64},
    {"half", ir::DType::f16},
    {"__half", ir::DType::f16},
    {"bool", ir::DType::boolean},
    {"char", ir::DType::i8},
    {"signed char", ir::DType::i8},
    {"unsigned char", ir::DType::u8},
    {"uchar", ir::DType::u8},
    {"short", ir::DType::i16},
    {"short int", ir::DType::i16},
    {"unsigned short", ir::DType::u16},
    {"ushort", ir::DType::u16},
    {"int", ir::DType::i32},
    {"signed", ir::DType::i32},
    {"signed int", ir::DType::i32},
    {"unsigned", ir::DType::u32},
    {"unsigned int", ir::DType::u32},
    {"uint", ir::DType::u32},
    {"long", ir::DType::i64},
    {"long int", ir::DType::i64},
    {"long long", ir::DType::i64},
    {"long long int", ir::DType::i64},
    {"unsigned long", ir::DType::u64},
    {"ulong", ir::DType::u64},
    {"unsigned long int", ir::DType::u64},
    {"unsigned long long", ir::DType::u64},
    {"size_t", ir::DType::u64},
    {"int8_t", ir::DType::i8},
    {"uint8_t", ir::DType::u8},
    {"int16_t", ir::DType::i16},
    {"uint16_t", ir::DType::u16},
    {"int32_t", ir::DType::i32},
    {"uint32_t", ir::DType::u32},
    {"int64_t", ir::DType::i64},
    {"uint64_t", ir::DType::u64},
};

std::optional<CType> c_type(std::string_view name) {
  const auto* found = std::ranges::find(c_types, name, &std::pair<std::string_view, ir::DType>::first);
  if (found != std::end(c_types)) return CType{found->second, 1};
  for (const int lanes : {16, 8, 4, 3, 2}) {
    const std::string suffix = std::to_string(lanes);
    if (!name.ends_with(suffix)) continue;
    found = std::ranges::find(c_types, name.substr(0, name.size() - suffix.size()),
                              &std::pair<std::string_view, ir::DType>::first);
    if (found != std::end(c_types)) return CType{found->second, lanes};
  }
  return std::nullopt;
}

bool are_alike(ir::DType a, ir::DType b) { return ir::is_float(a) == ir::is_float(b) && ir::bytes(a) == ir::bytes(b); }

/// Kernels reinterpret raw bytes, and halves as 16-bit integers.
bool may_be_read_as(ir::DType array, ir::DType declared) {
  const std::int64_t size = ir::bytes(declared);
  return size == 1 || (size == 2 && ir::bytes(array) == 2) || are_alike(array, declared);
}

bool fits_value(const PassedArgument& argument, const DeclaredParameter& parameter, const CType& type) {
  if (type.lanes == 3) return true;  // 12 bytes in CUDA, 16 in OpenCL: the compiled kernel tells
  const auto bytes = static_cast<std::size_t>(type.lanes * ir::bytes(type.element));
  if (argument.bytes != bytes) return false;
  return !argument.element || !parameter.is_known || are_alike(*argument.element, type.element);
}

}  // namespace

std::string misfit(const PassedArgument& argument, const DeclaredParameter& parameter) {
  using enum PassedArgument::Kind;
  const std::optional<CType> type = parameter.is_known ? c_type(parameter.type) : std::nullopt;
  const std::string wanted = parameter.type + (parameter.is_pointer ? "*" : "");
  constexpr std::size_t pointer_bytes = 8;
  if (argument.kind == value) {
    // CUDA takes an address by its bytes, such as a null pointer.
    if (parameter.is_pointer) return argument.bytes == pointer_bytes ? "" : wanted;
    return type && !fits_value(argument, parameter, *type) ? wanted : "";
  }
  if (!type) return "";
  if (!parameter.is_pointer) return wanted;
  return argument.kind == local || !argument.element || may_be_read_as(*argument.element, type->element) ? "" : wanted;
}

}  // namespace deplo::engine::foreign
