// The CPU libraries that we compare with. Arrays are row-major f32: c[M, N] = a[M, K] * b[K, N]. This is a file of its
// own because the libraries' headers are heavy, and because it needs OpenMP and the machine's vector instructions.
#pragma once

namespace deplo::bench {

void eigen_matmul(const float* a, const float* b, float* c, long m, long n, long k);
/// oneDNN's sgemm, which PyTorch's eager mode runs on CPUs.
void onednn_matmul(const float* a, const float* b, float* c, long m, long n, long k);
/// Returns the number of threads that both libraries use.
int library_threads();

}  // namespace deplo::bench
