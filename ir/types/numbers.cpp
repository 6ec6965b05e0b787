#include "ir/types/numbers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "core/error.h"

namespace deplo::ir {
namespace {

template <class T>
T nearest_number(double value) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value);
  } else {
    if (std::isnan(value)) return 0;
    constexpr double end = 2 * static_cast<double>(std::uint64_t{1} << (std::numeric_limits<T>::digits - 1));
    constexpr T min_value = std::numeric_limits<T>::min();
    const double whole = std::nearbyint(value);
    if (whole >= end) return std::numeric_limits<T>::max();  // `end` is one above the maximum
    return whole < static_cast<double>(min_value) ? min_value : static_cast<T>(whole);
  }
}

template <class T, class From>
T nearest_integer(From value) {
  if (std::in_range<T>(value)) return static_cast<T>(value);
  return std::cmp_less(value, 0) ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
}

}  // namespace

Numbers::Values Numbers::zeros(DType dtype, std::size_t count) {
  switch (dtype) {
    case DType::f64:
      return std::vector<double>(count);
    case DType::i8:
      return std::vector<std::int8_t>(count);
    case DType::i16:
      return std::vector<std::int16_t>(count);
    case DType::i32:
      return std::vector<std::int32_t>(count);
    case DType::i64:
      return std::vector<std::int64_t>(count);
    case DType::u8:
      return std::vector<std::uint8_t>(count);
    case DType::u16:
      return std::vector<std::uint16_t>(count);
    case DType::u32:
      return std::vector<std::uint32_t>(count);
    case DType::u64:
      return std::vector<std::uint64_t>(count);
    default:
      return std::vector<float>(count);
  }
}

Numbers::Numbers(DType dtype, std::size_t count) : values_(zeros(dtype, count)) {}

void Numbers::set(std::size_t i, double value) {
  visit([&](auto& values) { values[i] = nearest_number<std::decay_t<decltype(values[0])>>(value); });
}

void Numbers::set(std::size_t i, const Numbers& other, std::size_t from) {
  visit([&](auto& to) {
    using T = std::decay_t<decltype(to[0])>;
    other.visit([&](const auto& values) {
      using From = std::decay_t<decltype(values[0])>;
      if constexpr (std::is_integral_v<T> && std::is_integral_v<From>)
        to[i] = nearest_integer<T>(values[from]);
      else
        to[i] = nearest_number<T>(static_cast<double>(values[from]));
    });
  });
}

Numbers Numbers::as(DType dtype) const& {
  Numbers result(dtype, 0);
  if (result.values_.index() == values_.index()) return *this;
  result = Numbers(dtype, size());
  for (std::size_t i = 0; i < size(); ++i) result.set(i, *this, i);
  return result;
}

Numbers Numbers::as(DType dtype) && {
  if (Numbers(dtype, 0).values_.index() == values_.index()) return std::move(*this);
  return static_cast<const Numbers&>(*this).as(dtype);
}

std::vector<double> Numbers::doubles() const {
  return visit([](const auto& values) { return std::vector<double>(values.begin(), values.end()); });
}

const std::vector<float>& Numbers::floats() const& {
  const auto* floats = std::get_if<std::vector<float>>(&values_);
  CHECK(floats != nullptr);
  return *floats;
}

const std::vector<std::int64_t>& Numbers::integers() const {
  const auto* integers = std::get_if<std::vector<std::int64_t>>(&values_);
  CHECK(integers != nullptr);
  return *integers;
}

bool Numbers::operator==(const Numbers& other) const {
  if (size() != other.size()) return false;
  return visit([&](const auto& a) {
    return other.visit([&](const auto& b) {
      using A = std::decay_t<decltype(a[0])>;
      using B = std::decay_t<decltype(b[0])>;
      if constexpr (std::is_integral_v<A> && std::is_integral_v<B>)
        return std::equal(a.begin(), a.end(), b.begin(), [](A x, B y) { return std::cmp_equal(x, y); });
      else
        return std::equal(a.begin(), a.end(), b.begin(),
                          [](A x, B y) { return static_cast<double>(x) == static_cast<double>(y); });
    });
  });
}

}  // namespace deplo::ir
