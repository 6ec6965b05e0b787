#include "ir/torch/operations/not_a_number.h"

namespace deplo::ir::torch {

Id not_a_number(Builder& b, const TensorType& type, std::string_view name) {
  const Id zero = b.call("full", {}, {{"shape", type.shape}, {"value", 0.0}, {"dtype", type.dtype}}, "zero");
  return b.call("div", {zero, zero}, {}, name);
}

}  // namespace deplo::ir::torch
