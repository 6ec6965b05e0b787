// The CPU libraries that we compare with. Row-major f32: c[M, N] = a[M, K] * b[K, N]. Apart from the benchmark, because
// these headers are heavy and the file needs OpenMP and the machine's vector instructions.
#pragma once

namespace deplo::bench {

void eigen_matmul(const float* a, const float* b, float* c, long m, long n, long k);
/// oneDNN's sgemm, which PyTorch's eager mode runs on CPUs.
void onednn_matmul(const float* a, const float* b, float* c, long m, long n, long k);
/// Threads that both use.
int library_threads();

}  // namespace deplo::bench
