// The elements of a tensor on the host, held exactly.
#pragma once
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <variant>
#include <vector>

#include "ir/types/types.h"

namespace deplo::ir {

/// A list of numbers of one element type. Floats and bools are stored as float, which holds every f16 and bf16; f64 and
/// integers are stored in their own type. So large tensors take no more memory than their values need.
class Numbers {
 public:
  Numbers() = default;
  // Implicit, so that a list of floats can be passed as Numbers.
  Numbers(std::vector<float> values) : values_(std::move(values)) {}         // NOLINT(google-explicit-constructor)
  Numbers(std::vector<std::int32_t> values) : values_(std::move(values)) {}  // NOLINT(google-explicit-constructor)
  Numbers(std::vector<std::int64_t> values) : values_(std::move(values)) {}  // NOLINT(google-explicit-constructor)
  /// Holds `count` zeros of the type.
  Numbers(DType, std::size_t count);

  /// Calls function(values), where `values` is the vector that holds the numbers in their own type.
  template <class Visit>
  auto visit(const Visit& function) const {
    return std::visit(function, values_);
  }
  template <class Visit>
  auto visit(const Visit& function) {
    return std::visit(function, values_);
  }
  std::size_t size() const {
    return visit([](const auto& values) { return values.size(); });
  }
  bool empty() const { return size() == 0; }
  /// Returns element i as a double. A 64-bit integer beyond 2^53 becomes the nearest double.
  double operator[](std::size_t i) const {
    return visit([i](const auto& values) { return static_cast<double>(values[i]); });
  }
  double at(std::size_t i) const {
    return visit([i](const auto& values) { return static_cast<double>(values.at(i)); });
  }
  /// Iterates over the elements as doubles, as operator[] returns them.
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = double;
    using difference_type = std::ptrdiff_t;
    using pointer = const double*;
    using reference = double;
    Iterator() = default;
    Iterator(const Numbers& numbers, std::size_t at) : numbers_(&numbers), at_(at) {}
    double operator*() const { return (*numbers_)[at_]; }
    Iterator& operator++() { return ++at_, *this; }
    Iterator operator++(int) { return {*numbers_, at_++}; }
    bool operator==(const Iterator& other) const { return at_ == other.at_; }

   private:
    const Numbers* numbers_ = nullptr;
    std::size_t at_ = 0;
  };
  using value_type = double;
  using const_reference = double;
  using iterator = Iterator;
  using const_iterator = Iterator;
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size()}; }

  /// Stores the nearest number that the type holds. Integer types store a NaN as 0.
  void set(std::size_t i, double value);
  /// Stores element `from` of other numbers: exactly if the type can hold it, otherwise as the nearest number.
  void set(std::size_t i, const Numbers& other, std::size_t from);

  /// Converts all numbers to a type, as set() does.
  Numbers as(DType) const&;
  Numbers as(DType) &&;
  std::vector<double> doubles() const;

  /// Returns the floats. CHECKs that the numbers are stored as floats.
  const std::vector<float>& floats() const&;
  std::vector<float> floats() && { return std::as_const(*this).floats(); }
  /// Returns the 64-bit integers. CHECKs that the numbers are stored as 64-bit integers.
  const std::vector<std::int64_t>& integers() const;
  operator std::vector<float>() const { return floats(); }  // NOLINT(google-explicit-constructor)

  /// Whether all numbers are equal, regardless of the types they are stored in. A NaN equals nothing.
  bool operator==(const Numbers&) const;

 private:
  using Values =
      std::variant<std::vector<float>, std::vector<double>, std::vector<std::int8_t>, std::vector<std::int16_t>,
                   std::vector<std::int32_t>, std::vector<std::int64_t>, std::vector<std::uint8_t>,
                   std::vector<std::uint16_t>, std::vector<std::uint32_t>, std::vector<std::uint64_t>>;
  static Values zeros(DType, std::size_t count);
  Values values_;
};

/// Whether Numbers store elements of the type with the same bits as tensors in memory.
inline bool is_held_as_stored(DType d) {
  return d == DType::f32 || d == DType::f64 || (is_integer(d) && d != DType::i4);
}

}  // namespace deplo::ir
