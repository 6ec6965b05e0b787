// A name of an operation in `.pt2` files, and the reader of its calls.
#pragma once
#include <string_view>
#include <vector>

#include "ir/torch/graph.h"

namespace deplo::ir::torch::pt2 {

class Call;

struct Function {
  std::string_view name;  // the name without the overload: "aten.linear"
  /// Returns the call's outputs, in order. Further outputs of the call are not supported.
  std::vector<Id> (*read)(Call&) = nullptr;
  std::string_view op = {};  // the Torch IR operation whose row lists this function
};

}  // namespace deplo::ir::torch::pt2
