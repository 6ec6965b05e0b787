#include "measure/check/elements.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "core/error.h"
#include "ir/hardware/float16.h"

namespace deplo::measure {
namespace {

std::int32_t nearest(float value) {
  constexpr float low = -2147483648.0F, high = 2147483520.0F;  // the last float below 2^31
  return std::isnan(value) ? 0 : static_cast<std::int32_t>(std::nearbyint(std::clamp(value, low, high)));
}

}  // namespace

std::size_t size_in_bytes(const ir::Buffer& buffer) {
  return static_cast<std::size_t>(std::max<std::int64_t>(ir::span(buffer), 1) * ir::bytes(buffer.dtype));
}

void encode(std::span<const float> values, ir::DType dtype, std::byte* to) {
  if (dtype == ir::DType::f32) {
    std::memcpy(to, values.data(), values.size_bytes());
  } else if (dtype == ir::DType::i32) {
    for (const float value : values) {
      const std::int32_t element = nearest(value);
      std::memcpy(to, &element, sizeof element);
      to += sizeof element;
    }
  } else if (ir::is_float16(dtype)) {
    for (const float value : values) {
      const std::uint16_t element = ir::float16_bits(value, dtype);
      std::memcpy(to, &element, sizeof element);
      to += sizeof element;
    }
  } else {
    CHECK(dtype == ir::DType::boolean);
    for (const float value : values) *to++ = std::byte{value != 0 ? std::uint8_t{1} : std::uint8_t{0}};
  }
}

std::vector<float> decode(std::span<const std::byte> from, ir::DType dtype) {
  std::vector<float> values(from.size() / static_cast<std::size_t>(ir::bytes(dtype)));
  if (dtype == ir::DType::f32) {
    std::memcpy(values.data(), from.data(), from.size());
  } else if (dtype == ir::DType::i32) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::int32_t element = 0;
      std::memcpy(&element, from.data() + i * sizeof element, sizeof element);
      values[i] = static_cast<float>(element);
    }
  } else if (ir::is_float16(dtype)) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::uint16_t element = 0;
      std::memcpy(&element, from.data() + i * sizeof element, sizeof element);
      values[i] = ir::float16_value(element, dtype);
    }
  } else {
    CHECK(dtype == ir::DType::boolean);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::to_integer<std::uint8_t>(from[i]);
  }
  return values;
}

bool is_poison(float value, ir::DType dtype) {
  if (dtype == ir::DType::f32) return std::bit_cast<std::uint32_t>(value) == 0xffffffffU;
  if (ir::is_float16(dtype))
    return std::bit_cast<std::uint32_t>(value) == std::bit_cast<std::uint32_t>(ir::float16_value(0xffff, dtype));
  return value == (dtype == ir::DType::i32 ? -1.0F : 255.0F);
}

}  // namespace deplo::measure
