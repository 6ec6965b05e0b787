#include "engine/source/values.h"

#include <fmt/format.h>

#include "core/error.h"
#include "core/hash.h"
#include "core/rng.h"
#include "ir/types/float16.h"

namespace deplo::engine {
namespace {

std::uint64_t mixed_seed(std::uint64_t seed, std::string_view name) {
  const std::string text = digest(fmt::format("{} {}", seed, name));
  return std::stoull(text.substr(0, 16), nullptr, 16);
}

}  // namespace

ir::Numbers source_values(const ir::ValueSource& source, std::string_view name, const ir::TensorType& type,
                          std::uint64_t seed) {
  const auto count = static_cast<std::size_t>(ir::element_count(type.shape));
  if (source.values) {
    if (source.values->size() != count)
      throw Error(fmt::format("{}: expected {} values for the shape {}, found {}", name, count, ir::print(type.shape),
                              source.values->size()));
    ir::Numbers values = source.values->as(type.dtype);
    if (type.dtype == ir::DType::boolean)
      for (std::size_t i = 0; i < count; ++i) values.set(i, values[i] != 0 ? 1 : 0);
    if (ir::is_float16(type.dtype))
      for (std::size_t i = 0; i < count; ++i) values.set(i, ir::rounded(values[i], type.dtype));
    return values;
  }
  Rng rng(mixed_seed(seed, name));
  const std::vector<double> drawn = ir::draw(source.fill, type.dtype, static_cast<std::int64_t>(count), rng);
  ir::Numbers values(type.dtype, count);
  for (std::size_t i = 0; i < count; ++i) values.set(i, drawn[i]);
  return values;
}

ir::Numbers permute(const ir::Numbers& values, const ir::Shape& shape, const std::vector<int>& permutation) {
  const std::size_t rank = shape.size();
  CHECK(permutation.size() == rank && values.size() == static_cast<std::size_t>(ir::element_count(shape)));
  const std::vector<std::int64_t> strides = ir::row_major_strides(shape);
  ir::Numbers result = values;
  std::vector<std::int64_t> index(rank, 0);
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < result.size(); ++i) {
    result.set(i, values, static_cast<std::size_t>(offset));
    for (std::size_t d = rank; d-- > 0;) {  // advance to the next index of the result, last dimension fastest
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
