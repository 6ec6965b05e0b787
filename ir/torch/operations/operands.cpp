#include "ir/torch/operations/operands.h"

#include <fmt/format.h>

#include "core/error.h"

namespace deplo::ir::torch {

Shape broadcast_strides(const Shape& operand, const Shape& result) {
  const Shape own = row_major_strides(operand);
  Shape strides(result.size(), 0);
  const std::size_t extra = result.size() - operand.size();
  for (std::size_t i = 0; i < operand.size(); ++i) strides[extra + i] = operand[i] == 1 ? 0 : own[i];
  return strides;
}

Values strided(const Operands& o, const Shape& strides, std::int64_t start) {
  Values result;
  result.reserve(o.result_count());
  const double* from = o.value(0).data() + start;
  for_each_index(o.result(), std::array{strides}, [&](std::size_t i) { result.push_back(from[i]); });
  return result;
}

std::size_t checked_index(const Operands& o, double index, std::int64_t extent, bool wraps) {
  const auto end = static_cast<double>(extent);
  if (!(index >= (wraps ? -end : 0) && index < end))
    throw Error(fmt::format("{} ({}): expected an index from {} to {}, found {}", o.node.name, o.node.op,
                            wraps ? -extent : 0, extent - 1, index));
  return static_cast<std::size_t>(index < 0 ? index + end : index);
}

double to_truth(double x) { return x != 0 ? 1 : 0; }

}  // namespace deplo::ir::torch
