// The functions of cublas_api.h that measure/cuda/cublas.cpp uses.
#include <fmt/format.h>

#include <bit>

#include "fake_cuda/fake_call.h"

using namespace deplo::measure::cuda;

namespace {

int math_mode = 0;  // of the one handle

// To 10 bits of mantissa, to the nearest.
float to_tf32(float value) {
  return std::bit_cast<float>((std::bit_cast<std::uint32_t>(value) + 0x1000) & 0xffffe000U);
}

}  // namespace

extern "C" {

int cublasCreate_v2(void** handle) {
  BEGIN("cublasCreate");
  ++state.cublas_handles;
  *handle = &state;
  return 0;
}
int cublasDestroy_v2(void*) {
  --state.cublas_handles;
  return 0;
}
int cublasGetVersion_v2(void*, int* version) {
  *version = 130002;
  return 0;
}
int cublasSetStream_v2(void*, void*) { return 0; }
int cublasSetWorkspace_v2(void*, void* address, std::size_t bytes) { return inside(address, bytes) ? 0 : 7; }
int cublasSetMathMode(void*, int mode) {
  BEGIN("cublasSetMathMode {}", mode);
  math_mode = mode;
  return 0;
}
const char* cublasGetStatusName(int) { return "CUBLAS_STATUS_SOMETHING"; }

int cublasSgemmStridedBatched(void*, int op_a, int op_b, int m, int n, int k, const float* alpha, const float* a,
                              int lda, long long stride_a, const float* b, int ldb, long long stride_b,
                              const float* beta, float* c, int ldc, long long stride_c, int batch) {
  BEGIN("cublasSgemm {} {} m={} n={} k={} lda={} ldb={} ldc={} batch={}", op_a, op_b, m, n, k, lda, ldb, ldc, batch);
  if (*alpha != 1 || *beta != 0 || op_b != 0) return 7;
  const auto operand = [tf32 = math_mode == 3](float value) { return tf32 ? to_tf32(value) : value; };
  enqueue([=] {
    for (long long i = 0; i < batch; ++i)
      for (int row = 0; row < m; ++row)
        for (int column = 0; column < n; ++column) {
          float sum = 0;
          for (int p = 0; p < k; ++p)
            sum += operand(a[i * stride_a + (op_a == 0 ? row + p * lda : p + row * lda)]) *
                   operand(b[i * stride_b + p + column * ldb]);
          c[i * stride_c + row + column * ldc] = sum;
        }
    state.now_us += 30;
  });
  return 0;
}
int cublasSgemm_v2(void* handle, int op_a, int op_b, int m, int n, int k, const float* alpha, const float* a, int lda,
                   const float* b, int ldb, const float* beta, float* c, int ldc) {
  return cublasSgemmStridedBatched(handle, op_a, op_b, m, n, k, alpha, a, lda, 0, b, ldb, 0, beta, c, ldc, 0, 1);
}

}  // extern "C"
