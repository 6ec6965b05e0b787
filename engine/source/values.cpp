#include "engine/source/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/hash.h"
#include "core/rng.h"
#include "ir/hardware/float16.h"

namespace deplo::engine {
namespace {

std::uint64_t mixed_seed(std::uint64_t seed, std::string_view name) {
  const std::string text = digest(fmt::format("{} {}", seed, name));
  return std::stoull(text.substr(0, 16), nullptr, 16);
}

double as_dtype(double value, ir::DType dtype) {
  if (dtype == ir::DType::i32) return std::trunc(value);
  if (dtype == ir::DType::boolean) return value != 0 ? 1 : 0;
  return ir::is_float16(dtype) ? ir::rounded(value, dtype) : value;
}

}  // namespace

std::vector<float> source_values(const ir::ValueSource& source, std::string_view name, const ir::TensorType& type,
                                 std::uint64_t seed) {
  const auto count = static_cast<std::size_t>(ir::element_count(type.shape));
  std::vector<float> values(count);
  if (source.values) {
    if (source.values->size() != count)
      throw Error(fmt::format("{}: expected {} values for the shape {}, found {}", name, count, ir::print(type.shape),
                              source.values->size()));
    for (std::size_t i = 0; i < count; ++i)
      values[i] = static_cast<float>(as_dtype(static_cast<double>((*source.values)[i]), type.dtype));
    return values;
  }
  Rng rng(mixed_seed(seed, name));
  const std::vector<double> drawn = ir::draw(source.fill, type.dtype, static_cast<std::int64_t>(count), rng);
  std::ranges::copy(drawn, values.begin());
  return values;
}

std::vector<float> permute(const std::vector<float>& values, const ir::Shape& shape,
                           const std::vector<int>& permutation) {
  const std::size_t rank = shape.size();
  CHECK(permutation.size() == rank && values.size() == static_cast<std::size_t>(ir::element_count(shape)));
  const std::vector<std::int64_t> strides = ir::row_major_strides(shape);
  std::vector<float> result(values.size());
  std::vector<std::int64_t> index(rank, 0);
  std::int64_t offset = 0;
  for (float& value : result) {
    value = values[static_cast<std::size_t>(offset)];
    for (std::size_t d = rank; d-- > 0;) {  // the next index of the result, last dimension fastest
      const auto from = static_cast<std::size_t>(permutation[d]);
      offset += strides[from];
      if (++index[d] < shape[from]) break;
      offset -= strides[from] * shape[from];
      index[d] = 0;
    }
  }
  return result;
}

}  // namespace deplo::engine
