#include "measure/check/elements.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "core/parallel.h"
#include "ir/types/float16.h"

namespace deplo::measure {
std::size_t size_in_bytes(const ir::Buffer& buffer) {
  return static_cast<std::size_t>(std::max<std::int64_t>(ir::span(buffer), 1) * ir::bytes(buffer.dtype));
}

namespace {

void store(std::span<const float> values, ir::DType dtype, std::byte* to) {
  constexpr double values_of_thread = 1 << 21;  // takes some milliseconds
  in_parts(values.size(), threads_for(static_cast<double>(values.size()), values_of_thread),
           [&](std::size_t first, std::size_t end) {
             ir::store_float16(values.subspan(first, end - first), dtype, to + first * sizeof(std::uint16_t));
           });
}

}  // namespace

void encode(const ir::Numbers& values, ir::DType dtype, std::byte* to) {
  if (ir::is_float16(dtype))
    return values.visit([&](const auto& numbers) {
      if constexpr (std::is_same_v<std::decay_t<decltype(numbers)>, std::vector<float>>)
        store(numbers, dtype, to);
      else
        store(values.as(ir::DType::f32).floats(), dtype, to);
    });
  if (dtype == ir::DType::boolean)
    return values.visit([&](const auto& numbers) {
      std::ranges::transform(numbers, to, [](auto number) { return std::byte{number != 0}; });
    });
  const ir::Numbers elements = values.as(dtype);
  elements.visit([&](const auto& stored) { std::ranges::copy(std::as_bytes(std::span(stored)), to); });
}

ir::Numbers decode(std::span<const std::byte> from, ir::DType dtype) {
  const std::size_t size = from.size() / static_cast<std::size_t>(ir::bytes(dtype));
  if (ir::is_float16(dtype)) {
    std::vector<float> values(size);
    ir::load_float16(from.data(), dtype, values);
    return values;
  }
  if (dtype == ir::DType::boolean) {
    std::vector<float> values(size);
    std::ranges::transform(from, values.begin(), [](std::byte value) { return std::to_integer<std::uint8_t>(value); });
    return values;
  }
  ir::Numbers values(dtype, size);
  values.visit([&](auto& stored) {
    const std::span<std::byte> to = std::as_writable_bytes(std::span(stored));
    std::ranges::copy(from.first(to.size()), to.begin());
  });
  return values;
}

template <class T>
T StoredElements::element(std::size_t i) const {
  T value;
  std::memcpy(&value, bytes_.data() + i * sizeof value, sizeof value);
  return value;
}

std::uint64_t StoredElements::word(std::size_t i) const {
  switch (size_) {
    case 1:
      return element<std::uint8_t>(i);
    case 2:
      return element<std::uint16_t>(i);
    case 4:
      return element<std::uint32_t>(i);
    default:
      return element<std::uint64_t>(i);
  }
}

double StoredElements::operator[](std::size_t i) const {
  switch (dtype_) {
    case ir::DType::f16:
    case ir::DType::bf16:
      return static_cast<double>(ir::float16_value(element<std::uint16_t>(i), dtype_));
    case ir::DType::f32:
      return static_cast<double>(element<float>(i));
    case ir::DType::f64:
      return element<double>(i);
    case ir::DType::i8:
      return element<std::int8_t>(i);
    case ir::DType::i16:
      return element<std::int16_t>(i);
    case ir::DType::i32:
      return element<std::int32_t>(i);
    case ir::DType::i64:
      return static_cast<double>(element<std::int64_t>(i));
    default:  // a bool or an unsigned integer
      return static_cast<double>(word(i));
  }
}

bool StoredElements::is_poison(std::size_t i) const { return word(i) == ~std::uint64_t{0} >> (64 - 8 * size_); }

bool is_poison(double value, ir::DType dtype) {
  if (dtype == ir::DType::f32) return std::bit_cast<std::uint32_t>(static_cast<float>(value)) == 0xffffffffU;
  if (ir::is_float16(dtype))
    return std::bit_cast<std::uint32_t>(static_cast<float>(value)) ==
           std::bit_cast<std::uint32_t>(ir::float16_value(0xffff, dtype));
  if (dtype == ir::DType::f64) return std::bit_cast<std::uint64_t>(value) == ~std::uint64_t{0};
  if (ir::is_integer(dtype) && !ir::is_unsigned(dtype)) return value == -1;
  return value == std::ldexp(1.0, static_cast<int>(8 * ir::bytes(dtype))) - 1;
}

Sum sum_of(const ir::Numbers& values, ir::DType dtype) {
  Sum sum;
  for (const double value : values) {
    if (ir::is_float(dtype) && is_poison(value, dtype)) continue;
    sum.value += value;
    sum.magnitude += std::abs(value);
    ++sum.count;
  }
  return sum;
}

}  // namespace deplo::measure
