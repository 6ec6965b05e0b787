// The distributions of the inputs of a graph's kernels, for measuring the kernels one by one.
#pragma once
#include "ir/module.h"

namespace deplo::engine {

/// Sets the distributions in each kernel. An input of the graph gets the distribution of its source. A tensor that
/// another kernel computes is evaluated at some elements: if their range contains -1 to 1, the tensor gets the default,
/// uniform(-1, 1), else a uniform distribution over this range (docs/measurement.md).
void fill_kernels(ir::Module&);

}  // namespace deplo::engine
