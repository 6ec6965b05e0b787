// Tensor IR in other arithmetics than double.
#pragma once
#include <vector>

#include "ir/interpret/arithmetic/arithmetic.h"
#include "ir/tensor/tensor.h"

namespace deplo::ir::tensor {

/// As evaluate(graph, sources), with floats of this arithmetic in sources and results.
std::vector<std::vector<double>> evaluate(const Graph&, const std::vector<std::vector<double>>& sources,
                                          const Arithmetic&);

}  // namespace deplo::ir::tensor
