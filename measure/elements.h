// Walking the elements of a strided buffer.
#pragma once
#include <cstddef>
#include <cstdint>

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

}  // namespace deplo::measure
