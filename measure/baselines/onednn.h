// oneDNN's sgemm, which PyTorch's eager mode uses on CPUs. The library is opened at run time.
#pragma once
#include "measure/baselines/baselines.h"
#include "measure/matmul_shape.h"

namespace deplo::measure {

/// The oneDNN baseline of a matmul. It works on arrays in host memory (Arrays::host_memory), is timed by the host's
/// clock, and uses all threads that OpenMP offers. Throws a one-line Error(environment) if oneDNN is missing.
Baseline onednn_matmul(const MatmulShape&);

}  // namespace deplo::measure
