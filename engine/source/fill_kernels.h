// Input distributions for the kernels of a graph, so that the kernels can be measured one by one.
#pragma once
#include "ir/module.h"

namespace deplo::engine {

/// Sets the distribution of each kernel's inputs. An input of the graph gets the distribution of its source. A tensor
/// that another kernel computes is evaluated at some elements. If the range of the values contains -1 to 1, the tensor
/// gets the default, uniform(-1, 1); otherwise a uniform distribution over the range (docs/measurement.md).
void fill_kernels(ir::Module&);

}  // namespace deplo::engine
