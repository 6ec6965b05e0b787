#include "engine/foreign/argument_bytes.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "core/error.h"
#include "ir/types/numbers.h"
#include "measure/check/elements.h"

namespace deplo::engine::foreign {
namespace {

/// A scalar type, and its name in OpenCL C or, for bfloat16, in PyTorch.
struct TypeName {
  std::string_view name;
  ir::DType dtype;
};
constexpr TypeName type_names[] = {
    {"float", ir::DType::f32},     {"half", ir::DType::f16},  {"int", ir::DType::i32},    {"uint", ir::DType::u32},
    {"long", ir::DType::i64},      {"ulong", ir::DType::u64}, {"short", ir::DType::i16},  {"ushort", ir::DType::u16},
    {"char", ir::DType::i8},       {"uchar", ir::DType::u8},  {"double", ir::DType::f64}, {"bool", ir::DType::boolean},
    {"bfloat16", ir::DType::bf16},
};

/// Returns the scalar type with this name: knows "float", but not "float4".
std::optional<ir::DType> element_named(std::string_view name) {
  const auto* const found = std::ranges::find(type_names, name, &TypeName::name);
  return found == std::end(type_names) ? std::nullopt : std::optional(found->dtype);
}

/// Returns the type with this name in T1 and NumPy, where names contain the number of bits.
std::optional<ir::DType> named_by_bits(std::string_view name) {
  for (const TypeName& type : type_names)
    // "float16" is a vector of 16 floats
    if (type.dtype != ir::DType::f16 && ir::torch_name(type.dtype) == name) return type.dtype;
  return std::nullopt;
}

std::string known_names() {
  std::string text;
  for (const TypeName& type : type_names) text += fmt::format("{}, ", type.name);
  return text;
}

/// Returns the bytes of one element. Throws Error at `place` if `dtype` cannot represent the value.
std::vector<std::uint8_t> encode_element(const Scalar& value, ir::DType dtype, const std::string& type,
                                         const std::string& place) {
  const auto* integer = std::get_if<std::int64_t>(&value);
  const auto* real = std::get_if<double>(&value);
  ir::Numbers given(integer != nullptr ? ir::DType::i64 : ir::DType::f64, 1);
  if (integer != nullptr) given = std::vector<std::int64_t>{*integer};
  if (real != nullptr) given.set(0, *real);
  const ir::Numbers element = given.as(dtype);
  if ((integer == nullptr && real == nullptr) || (ir::is_integer(dtype) && !(element == given)))
    throw Error(fmt::format("{}: expected a value of the type {}, found {}", place, type, print(value)));
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(ir::bytes(dtype)));
  measure::encode(element, dtype, reinterpret_cast<std::byte*>(bytes.data()));
  return bytes;
}

}  // namespace

std::optional<ArgumentType> opencl_type(std::string_view name) {
  if (const auto dtype = element_named(name)) return ArgumentType{*dtype};
  for (const std::int64_t lanes : {16, 8, 4, 3, 2}) {
    const std::string suffix = fmt::format("{}", lanes);
    if (!name.ends_with(suffix)) continue;
    if (const auto dtype = element_named(name.substr(0, name.size() - suffix.size())))
      return ArgumentType{*dtype, lanes == 3 ? 4 : lanes, lanes};
  }
  return std::nullopt;
}

ArgumentType read_type(const Config& config, Dialect language) {
  std::string name = config.text();
  constexpr std::string_view is_unsigned = "unsigned ";
  if (name.starts_with(is_unsigned)) name = "u" + name.substr(is_unsigned.size());
  if (const auto dtype = named_by_bits(name)) return {*dtype};
  if (auto type = opencl_type(name)) {
    if (language == Dialect::cuda) type->lanes = type->given;
    return *type;
  }
  config.expected(fmt::format("a type ({}or a vector of these such as float4)", known_names()));
}

std::vector<std::uint8_t> encode(const std::vector<Scalar>& values, const Config& config, Dialect language,
                                 const std::string& place) {
  const ArgumentType type = read_type(config, language);
  const auto count = static_cast<std::size_t>(type.given);
  if (values.size() != 1 && values.size() != count)
    throw Error(fmt::format("{}: expected {} of the type {}, found {} values", place,
                            count == 1 ? "one value" : fmt::format("{} values", count), config.text(), values.size()));
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i < static_cast<std::size_t>(type.lanes); ++i) {
    const std::vector<std::uint8_t> one =
        encode_element(values[std::min(i, values.size() - 1)], type.element, config.text(), place);
    bytes.insert(bytes.end(), one.begin(), one.end());
  }
  return bytes;
}

std::vector<std::uint8_t> encode_struct(const std::vector<StructMember>& members) {
  std::vector<std::uint8_t> bytes;
  std::size_t alignment = 1;
  const auto pad = [&](std::size_t to) { bytes.resize((bytes.size() + to - 1) / to * to); };
  for (const StructMember& member : members) {
    alignment = std::max(alignment, member.alignment);
    pad(member.alignment);
    bytes.insert(bytes.end(), member.bytes.begin(), member.bytes.end());
  }
  pad(alignment);
  return bytes;
}

}  // namespace deplo::engine::foreign
