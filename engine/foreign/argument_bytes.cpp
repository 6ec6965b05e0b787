#include "engine/foreign/argument_bytes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/error.h"
#include "ir/hardware/float16.h"

namespace deplo::engine::foreign {
namespace {

constexpr ElementType element_types[] = {
    {"float", ir::DType::f32, false},   {"half", ir::DType::f16, false},     {"int", ir::DType::i32, false},
    {"int32", ir::DType::i32, false},   {"uint", ir::DType::i32, true},      {"uint32", ir::DType::i32, true},
    {"long", ir::DType::i64, false},    {"int64", ir::DType::i64, false},    {"float32", ir::DType::f32, false},
    {"float16", ir::DType::f16, false}, {"bool", ir::DType::boolean, false},
};

template <class T>
std::vector<std::uint8_t> bytes_of(T value) {
  std::vector<std::uint8_t> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

/// Of one element.
std::vector<std::uint8_t> encode_element(const Scalar& value, const std::string& name, const Config& type) {
  const auto* integer = std::get_if<std::int64_t>(&value);
  const double number = integer != nullptr                       ? static_cast<double>(*integer)
                        : std::get_if<double>(&value) != nullptr ? std::get<double>(value)
                                                                 : NAN;
  const auto whole = [&](double low, double high) {
    if (!(number >= low && number <= high) || std::floor(number) != number)
      throw Error(fmt::format("{}: expected a value of the type {}, found {}", type.place(), name, print(value)));
    return integer != nullptr ? *integer : static_cast<std::int64_t>(number);
  };
  if (name == "float" || name == "float32") return bytes_of(static_cast<float>(number));
  if (name == "double" || name == "float64") return bytes_of(number);
  if (name == "half" || name == "float16")
    return bytes_of(ir::float16_bits(static_cast<float>(number), ir::DType::f16));
  if (name == "int" || name == "int32") return bytes_of(static_cast<std::int32_t>(whole(-0x1p31, 0x1p31 - 1)));
  if (name == "uint" || name == "uint32") return bytes_of(static_cast<std::uint32_t>(whole(0, 0x1p32 - 1)));
  if (name == "long" || name == "int64") return bytes_of(whole(-0x1p63, 0x1p63));
  type.expected("a type of values (float, double, half, int, uint, long)");
}

/// "float" and 4 of "float4"; 1 of a type that is no vector.
std::pair<std::string, std::size_t> lanes_of(const std::string& type) {
  constexpr std::string_view scalars[] = {"float32", "float64", "float16", "int32", "uint32", "int64"};
  if (std::ranges::find(scalars, type) == std::end(scalars))
    for (const std::size_t lanes : {16, 8, 4, 3, 2})
      if (const std::string suffix = fmt::format("{}", lanes); type.ends_with(suffix))
        return {type.substr(0, type.size() - suffix.size()), lanes};
  return {type, 1};
}

}  // namespace

std::pair<ElementType, std::int64_t> read_type(const Config& config) {
  std::string name = config.text();
  for (const std::int64_t lanes : {16, 8, 4, 3, 2, 1}) {
    const std::string suffix = lanes == 1 ? "" : fmt::format("{}", lanes);
    if (!name.ends_with(suffix)) continue;
    const std::string element = name.substr(0, name.size() - suffix.size());
    const auto found = std::ranges::find(element_types, element, &ElementType::name);
    if (found != std::end(element_types)) return {*found, lanes == 3 ? 4 : lanes};  // OpenCL C 6.1.5
  }
  config.expected("a type (float, half, int, uint, long, bool, or a vector of these such as float4)");
}

std::vector<std::uint8_t> encode(const std::vector<Scalar>& values, const Config& type) {
  const auto [element, lanes] = lanes_of(type.text());
  if (values.size() != 1 && values.size() != lanes) type.expected(fmt::format("a type of {} values", values.size()));
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i < (lanes == 3 ? 4 : lanes); ++i) {
    const std::vector<std::uint8_t> one =
        encode_element(values[values.size() == 1 ? 0 : std::min(i, values.size() - 1)], element, type);
    bytes.insert(bytes.end(), one.begin(), one.end());
  }
  return bytes;
}

std::vector<std::uint8_t> encode_struct(const std::vector<std::vector<std::uint8_t>>& members) {
  std::vector<std::uint8_t> bytes;
  std::size_t alignment = 1;
  const auto pad = [&](std::size_t to) { bytes.resize((bytes.size() + to - 1) / to * to); };
  for (const std::vector<std::uint8_t>& member : members) {
    alignment = std::max(alignment, member.size());
    pad(member.size());
    bytes.insert(bytes.end(), member.begin(), member.end());
  }
  pad(alignment);
  return bytes;
}

}  // namespace deplo::engine::foreign
