#include "ir/numbers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "core/error.h"

namespace deplo::ir {
namespace {

template <class T>
T nearest_number(double value) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value);
  } else {
    if (std::isnan(value)) return 0;
    constexpr double end = static_cast<double>(std::uint64_t{1} << (8 * sizeof(T) - 1));  // one above the greatest
    if (value >= end) return std::numeric_limits<T>::max();
    return value < -end ? std::numeric_limits<T>::min() : static_cast<T>(std::nearbyint(value));
  }
}

}  // namespace

Numbers::Numbers(DType dtype, std::size_t count) {
  if (dtype == DType::i32)
    values_ = std::vector<std::int32_t>(count);
  else if (dtype == DType::i64)
    values_ = std::vector<std::int64_t>(count);
  else
    values_ = std::vector<float>(count);
}

void Numbers::set(std::size_t i, double value) {
  visit([&](auto& values) { values[i] = nearest_number<std::decay_t<decltype(values[0])>>(value); });
}

void Numbers::set(std::size_t i, const Numbers& other, std::size_t from) {
  visit([&](auto& to) {
    using T = std::decay_t<decltype(to[0])>;
    other.visit([&](const auto& values) {
      using From = std::decay_t<decltype(values[0])>;
      const bool exact = std::is_same_v<T, From> || (std::is_integral_v<From> && sizeof(From) <= sizeof(T));
      if constexpr (exact) to[i] = values[from];
      if constexpr (!exact) to[i] = nearest_number<T>(static_cast<double>(values[from]));
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
      if constexpr (std::is_integral_v<A> == std::is_integral_v<B>)
        return std::equal(a.begin(), a.end(), b.begin());
      else
        return std::equal(a.begin(), a.end(), b.begin(),
                          [](A x, B y) { return static_cast<double>(x) == static_cast<double>(y); });
    });
  });
}

}  // namespace deplo::ir
