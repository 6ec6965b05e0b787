// A name of the operations in `.pt2` files, and what reads a call of it.
#pragma once
#include <string_view>
#include <vector>

#include "ir/torch/graph.h"

namespace deplo::ir::torch::pt2 {

class Call;

struct Function {
  std::string_view name;  // "aten.linear": of every overload
  /// Makes the call's outputs, in order. Fewer than it has: the others are not supported.
  std::vector<Id> (*read)(Call&) = nullptr;
  std::string_view op = {};  // of Torch IR: that of the row which names the function
};

}  // namespace deplo::ir::torch::pt2
