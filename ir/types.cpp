#include "ir/types.h"

#include <fmt/format.h>

#include "core/text/text.h"

namespace deplo::ir {

std::string_view name(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return "f32";
    case DType::f16:
      return "f16";
    case DType::bf16:
      return "bf16";
    case DType::i32:
      return "i32";
    case DType::boolean:
      return "bool";
    case DType::i64:
      return "i64";
  }
  return "?";
}

std::int64_t bytes(DType dtype) {
  switch (dtype) {
    case DType::i64:
      return 8;
    case DType::f32:
    case DType::i32:
      return 4;
    case DType::f16:
    case DType::bf16:
      return 2;
    case DType::boolean:
      return 1;
  }
  return 1;
}

std::optional<DType> parse_dtype(std::string_view text) {
  for (const DType d : dtypes)
    if (text == name(d) || text == torch_name(d)) return d;
  return std::nullopt;
}

std::vector<std::int64_t> row_major_strides(const Shape& shape) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

std::string_view torch_name(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return "float32";
    case DType::f16:
      return "float16";
    case DType::bf16:
      return "bfloat16";
    case DType::i32:
      return "int32";
    case DType::boolean:
      return "bool";
    case DType::i64:
      return "int64";
  }
  return "?";
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
