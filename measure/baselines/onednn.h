// oneDNN's sgemm, which PyTorch's eager mode uses on CPUs. The library is opened at run time.
#pragma once
#include "measure/baselines/baselines.h"
#include "measure/baselines/matmul_shape.h"

namespace deplo::measure {

/// Works on arrays in the host's memory (Arrays::host_memory). It is timed by the host's clock, and uses all threads
/// that OpenMP offers. Throws Error(environment) in one line if oneDNN is missing.
Baseline onednn_matmul(const MatmulShape&);

}  // namespace deplo::measure
