#include "engine/foreign/argument_fit.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "engine/foreign/argument_bytes.h"

namespace deplo::engine::foreign {
namespace {

/// Names of OpenCL C's types in C and CUDA C++. The sizes are those of 64-bit Linux and of the devices.
constexpr std::pair<std::string_view, std::string_view> spellings[] = {
    {"__half", "half"},
    {"__half2", "half2"},
    {"nv_bfloat16", "bfloat16"},
    {"__nv_bfloat16", "bfloat16"},
    {"__nv_bfloat162", "bfloat162"},
    {"signed char", "char"},
    {"unsigned char", "uchar"},
    {"short int", "short"},
    {"unsigned short", "ushort"},
    {"signed", "int"},
    {"signed int", "int"},
    {"unsigned", "uint"},
    {"unsigned int", "uint"},
    {"long int", "long"},
    {"long long", "long"},
    {"long long int", "long"},
    {"unsigned long", "ulong"},
    {"unsigned long int", "ulong"},
    {"unsigned long long", "ulong"},
    {"size_t", "ulong"},
    {"int8_t", "char"},
    {"uint8_t", "uchar"},
    {"int16_t", "short"},
    {"uint16_t", "ushort"},
    {"int32_t", "int"},
    {"uint32_t", "uint"},
    {"int64_t", "long"},
    {"uint64_t", "ulong"},
};

std::optional<ArgumentType> c_type(std::string_view name) {
  const auto* const found = std::ranges::find(spellings, name, &std::pair<std::string_view, std::string_view>::first);
  return opencl_type(found == std::end(spellings) ? name : found->second);
}

bool are_alike(ir::DType a, ir::DType b) {
  return ir::is_float(a) == ir::is_float(b) && ir::bytes(a) == ir::bytes(b) &&
         (a == ir::DType::bf16) == (b == ir::DType::bf16);
}

/// Kernels may reinterpret arrays as raw bytes, and halves as 16-bit integers.
bool may_be_read_as(ir::DType array, ir::DType declared) {
  const std::int64_t size = ir::bytes(declared);
  return size == 1 || (size == 2 && ir::bytes(array) == 2) || are_alike(array, declared);
}

bool fits_value(const PassedArgument& argument, const DeclaredParameter& parameter, const ArgumentType& type) {
  // float3 has 12 bytes in CUDA and 16 in OpenCL; the check of the compiled kernel decides
  if (type.given == 3) return true;
  if (argument.bytes != static_cast<std::size_t>(type.bytes())) return false;
  return !argument.element || !parameter.is_known || are_alike(*argument.element, type.element);
}

}  // namespace

bool is_handle(const DeclaredParameter& parameter) {
  constexpr std::string_view handles[] = {"cudaTextureObject_t", "cudaSurfaceObject_t", "CUtexObject",
                                          "CUsurfObject",        "CUtensorMap",         "sampler_t"};
  const std::string_view type = parameter.type;
  const bool is_image = type.starts_with("image1d_") || type.starts_with("image2d_") || type.starts_with("image3d_");
  return parameter.is_known && !parameter.is_pointer &&
         (is_image || std::ranges::find(handles, type) != std::end(handles));
}

std::string misfit(const PassedArgument& argument, const DeclaredParameter& parameter) {
  using enum PassedArgument::Kind;
  const std::optional<ArgumentType> type = parameter.is_known ? c_type(parameter.type) : std::nullopt;
  const std::string wanted = parameter.type + (parameter.is_pointer ? "*" : "");
  constexpr std::size_t pointer_bytes = 8;
  if (argument.kind == value) {
    // CUDA accepts the bytes of an address for a pointer, such as a null pointer.
    if (parameter.is_pointer) return argument.bytes == pointer_bytes ? "" : wanted;
    return type && !fits_value(argument, parameter, *type) ? wanted : "";
  }
  if (!type) return "";
  if (!parameter.is_pointer) return wanted;
  return argument.kind == local || !argument.element || may_be_read_as(*argument.element, type->element) ? "" : wanted;
}

}  // namespace deplo::engine::foreign
