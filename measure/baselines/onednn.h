// oneDNN's sgemm, which PyTorch's eager mode runs on CPUs; opened at run time.
#pragma once
#include "measure/baselines/baselines.h"
#include "measure/baselines/matmul_shape.h"

namespace deplo::measure {

/// Works on arrays in the host's memory (Arrays::host_memory), timed by the host's clock, with as many threads as
/// OpenMP takes: all. Throws Error(environment) in one line where there is no oneDNN.
Baseline onednn_matmul(const MatmulShape&);

}  // namespace deplo::measure
