#include "measure/check/elements.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "core/error.h"
#include "ir/hardware/float16.h"

namespace deplo::measure {
std::size_t size_in_bytes(const ir::Buffer& buffer) {
  return static_cast<std::size_t>(std::max<std::int64_t>(ir::span(buffer), 1) * ir::bytes(buffer.dtype));
}

namespace {

/// Stores make(value) of every value, one after the other.
template <class Element, class Make>
void store_all(const ir::Numbers& values, std::byte* to, const Make& make) {
  for (std::size_t i = 0; i < values.size(); ++i, to += sizeof(Element)) {
    const Element element = make(static_cast<float>(values[i]));
    std::memcpy(to, &element, sizeof element);
  }
}

}  // namespace

void encode(const ir::Numbers& values, ir::DType dtype, std::byte* to) {
  if (ir::is_float16(dtype))
    return store_all<std::uint16_t>(values, to, [&](float value) { return ir::float16_bits(value, dtype); });
  if (dtype == ir::DType::boolean)
    return store_all<std::uint8_t>(values, to, [](float value) { return std::uint8_t{value != 0}; });
  const ir::Numbers elements = values.as(dtype);
  elements.visit([&](const auto& stored) { std::ranges::copy(std::as_bytes(std::span(stored)), to); });
}

ir::Numbers decode(std::span<const std::byte> from, ir::DType dtype) {
  ir::Numbers values(dtype, from.size() / static_cast<std::size_t>(ir::bytes(dtype)));
  if (ir::is_float16(dtype)) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::uint16_t element = 0;
      std::memcpy(&element, from.data() + i * sizeof element, sizeof element);
      values.set(i, ir::float16_value(element, dtype));
    }
  } else if (dtype == ir::DType::boolean) {
    for (std::size_t i = 0; i < values.size(); ++i) values.set(i, std::to_integer<std::uint8_t>(from[i]));
  } else {
    values.visit([&](auto& stored) { std::ranges::copy(from, std::as_writable_bytes(std::span(stored)).begin()); });
  }
  return values;
}

bool is_poison(double value, ir::DType dtype) {
  if (dtype == ir::DType::f32) return std::bit_cast<std::uint32_t>(static_cast<float>(value)) == 0xffffffffU;
  if (ir::is_float16(dtype))
    return std::bit_cast<std::uint32_t>(static_cast<float>(value)) ==
           std::bit_cast<std::uint32_t>(ir::float16_value(0xffff, dtype));
  if (dtype == ir::DType::f64) return std::bit_cast<std::uint64_t>(value) == ~std::uint64_t{0};
  if (ir::is_integer(dtype) && !ir::is_unsigned(dtype)) return value == -1;
  return value == std::ldexp(1.0, static_cast<int>(8 * ir::bytes(dtype))) - 1;
}

}  // namespace deplo::measure
