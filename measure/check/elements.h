// The elements of a buffer in memory: iteration, and conversion between bytes and numbers.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "ir/types/numbers.h"
#include "ir/types/types.h"

namespace deplo::measure {

/// Calls visit(offset) for every element, in row-major order of the indices.
template <class Visit>
void for_each_element(const ir::Buffer& buffer, const Visit& visit, std::size_t dim = 0, std::int64_t offset = 0) {
  if (dim == buffer.shape.size()) {
    visit(offset);
    return;
  }
  const std::int64_t extent = buffer.shape[dim], stride = buffer.strides[dim];
  const bool innermost = dim + 1 == buffer.shape.size();
  for (std::int64_t i = 0; i < extent; ++i, offset += stride) {
    if (innermost)
      visit(offset);
    else
      for_each_element(buffer, visit, dim + 1, offset);
  }
}

/// Returns the number of bytes from the start of the first element to the end of the last; at least the size of one
/// element.
std::size_t size_in_bytes(const ir::Buffer&);

/// These convert numbers to elements of a type that has whole bytes, and back. Integers are rounded to the nearest; a
/// bool is a byte that is 1 if the number is not 0.
void encode(const ir::Numbers& values, ir::DType, std::byte* to);
ir::Numbers decode(std::span<const std::byte> from, ir::DType);

/// The elements of a buffer as they are stored in memory.
class StoredElements {
 public:
  StoredElements(ir::DType dtype, std::vector<std::uint8_t> bytes)
      : dtype_(dtype), size_(static_cast<std::size_t>(ir::bytes(dtype))), bytes_(std::move(bytes)) {}
  std::span<const std::uint8_t> bytes() const { return bytes_; }
  double operator[](std::size_t i) const;
  /// The bits of an element.
  std::uint64_t word(std::size_t i) const;
  /// True for a poisoned element, which has all bits 1. In an integer output that may also be a result.
  bool is_poison(std::size_t i) const;

 private:
  template <class T>
  T element(std::size_t i) const;

  ir::DType dtype_;
  std::size_t size_;  // bytes of an element
  std::vector<std::uint8_t> bytes_;
};

/// Calls write(bytes) with the numbers as elements. Numbers that are already stored in the form of such elements are
/// not copied.
template <class Write>
void write_elements(const ir::Numbers& values, ir::DType dtype, const Write& write) {
  if (ir::is_held_as_stored(dtype))
    return values.as(dtype).visit([&](const auto& elements) { write(elements.data()); });
  std::vector<std::byte> elements(values.size() * static_cast<std::size_t>(ir::bytes(dtype)));
  encode(values, dtype, elements.data());
  write(elements.data());
}
/// Calls read(bytes), which must fetch `size` bytes of elements, and returns the elements' numbers.
template <class Read>
ir::Numbers read_elements(std::size_t size, ir::DType dtype, const Read& read) {
  if (ir::is_held_as_stored(dtype)) {
    ir::Numbers values(dtype, size / static_cast<std::size_t>(ir::bytes(dtype)));
    values.visit([&](auto& elements) { read(elements.data()); });
    return values;
  }
  std::vector<std::byte> elements(size);
  read(elements.data());
  return decode(elements, dtype);
}

/// True for a poisoned element (all bits 1), which reads as a NaN, as -1, or as the largest unsigned number. In an
/// integer output it cannot be distinguished from a result with that number.
bool is_poison(double value, ir::DType);

/// The sum, in double, of the elements that were written. All integers count, because -1 looks like a poisoned element.
struct Sum {
  double value = 0;
  double magnitude = 0;   // the sum of the absolute values
  std::size_t count = 0;  // number of elements that count
};
Sum sum_of(const ir::Numbers& values, ir::DType);

}  // namespace deplo::measure
