// Elements of a buffer in memory: walking them, and what their bytes mean.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ir/numbers.h"
#include "ir/types.h"

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

/// From the first to the last address; at least one element.
std::size_t size_in_bytes(const ir::Buffer&);

/// Numbers to elements of a type (of an integer the nearest; of bool a byte, 1 where not 0), and back.
void encode(const ir::Numbers& values, ir::DType, std::byte* to);
ir::Numbers decode(std::span<const std::byte> from, ir::DType);

/// write(bytes) with the elements that the numbers are; no copy is made of numbers that are stored as such elements.
template <class Write>
void write_elements(const ir::Numbers& values, ir::DType dtype, const Write& write) {
  if (dtype == ir::DType::f32 || ir::is_integer(dtype))
    return values.as(dtype).visit([&](const auto& elements) { write(elements.data()); });
  std::vector<std::byte> elements(values.size() * static_cast<std::size_t>(ir::bytes(dtype)));
  encode(values, dtype, elements.data());
  write(elements.data());
}
/// The numbers of the elements that read(bytes) fetches, `size` bytes of them.
template <class Read>
ir::Numbers read_elements(std::size_t size, ir::DType dtype, const Read& read) {
  if (dtype == ir::DType::f32 || ir::is_integer(dtype)) {
    ir::Numbers values(dtype, size / static_cast<std::size_t>(ir::bytes(dtype)));
    values.visit([&](auto& elements) { read(elements.data()); });
    return values;
  }
  std::vector<std::byte> elements(size);
  read(elements.data());
  return decode(elements, dtype);
}

/// A poisoned element (all bits 1) reads as a NaN, -1 or 255: of an integer output that may be -1 it cannot be told.
bool is_poison(double value, ir::DType);

}  // namespace deplo::measure
