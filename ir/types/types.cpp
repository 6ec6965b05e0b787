#include "ir/types/types.h"

#include <fmt/format.h>

#include "core/text/text.h"

namespace deplo::ir {

std::vector<std::int64_t> row_major_strides(const Shape& shape) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

std::string print(const Shape& shape) { return fmt::format("({}{})", join(shape, ", "), shape.size() == 1 ? "," : ""); }

std::string print(const TensorType& type) { return fmt::format("{} {}", print(type.shape), torch_name(type.dtype)); }

std::int64_t element_count(const Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return count;
}

std::int64_t element_count(const Buffer& buffer) { return element_count(buffer.shape); }

std::int64_t span(const Buffer& buffer) {
  std::int64_t last = 0;
  for (std::size_t i = 0; i < buffer.shape.size(); ++i) {
    if (buffer.shape[i] == 0) return 0;
    last += (buffer.shape[i] - 1) * buffer.strides[i];
  }
  return last + 1;
}

}  // namespace deplo::ir
