// Evaluates Tensor IR in an arithmetic other than double.
#pragma once
#include <vector>

#include "ir/interpret/arithmetic/arithmetic.h"
#include "ir/tensor/tensor.h"

namespace deplo::ir::tensor {

/// Like evaluate(graph, sources), but floats in sources and results are values of this arithmetic.
std::vector<std::vector<double>> evaluate(const Graph&, const std::vector<std::vector<double>>& sources,
                                          const Arithmetic&);

}  // namespace deplo::ir::tensor
