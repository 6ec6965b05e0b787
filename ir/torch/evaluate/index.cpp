// What looks at indices: masks, look-ups, and tensors made of nothing.
#include <fmt/format.h>

#include "core/error.h"
#include "ir/torch/evaluate/ops.h"

namespace deplo::ir::torch {
namespace {

std::size_t checked_index(const Operands& o, double index, std::int64_t extent) {
  if (!(index >= 0 && index < static_cast<double>(extent)))
    throw Error(
        fmt::format("{} ({}): expected an index from 0 to {}, found {}", o.node.name, o.node.op, extent - 1, index));
  return static_cast<std::size_t>(index);
}

}  // namespace

Values evaluate_triangle(const Operands& o) {
  const std::int64_t rows = o.result().end()[-2], columns = o.result().back(), diagonal = o.node.integer("diagonal");
  const bool upper = o.node.op == "triu";
  Values result = o.value(0);
  std::int64_t at = 0;
  for (double& value : result) {
    const std::int64_t i = at / columns % rows, j = at % columns;
    if (upper ? j - i < diagonal : j - i > diagonal) value = 0;
    ++at;
  }
  return result;
}

Values evaluate_embedding(const Operands& o) {
  const auto width = static_cast<std::size_t>(o.shape(0)[1]);
  Values result;
  result.reserve(o.result_count());
  for (const double index : o.value(1)) {
    const std::size_t row = checked_index(o, index, o.shape(0)[0]);
    const double* from = o.value(0).data() + row * width;
    result.insert(result.end(), from, from + width);
  }
  return result;
}

Values evaluate_gather(const Operands& o) {
  const auto dim = static_cast<std::size_t>(o.node.integer("dim"));
  Shape strides = row_major_strides(o.shape(0));
  const auto stride = static_cast<std::size_t>(std::exchange(strides[dim], 0));
  Values result;
  result.reserve(o.result_count());
  for_each_index(o.result(), std::array{row_major_strides(o.result()), strides}, [&](std::size_t i, std::size_t at) {
    result.push_back(o.value(0)[at + checked_index(o, o.value(1)[i], o.shape(0)[dim]) * stride]);
  });
  return result;
}

Values evaluate_arange(const Operands& o) {
  Values result(o.result_count());
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i] = static_cast<double>(o.node.integer("start") + static_cast<std::int64_t>(i) * o.node.integer("step"));
  return result;
}

Values evaluate_full(const Operands& o) { return Values(o.result_count(), o.node.number("value")); }

}  // namespace deplo::ir::torch
