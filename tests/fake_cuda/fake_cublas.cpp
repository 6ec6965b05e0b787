// The functions of cublas_api.h that measure/cuda/cublas.cpp uses.
#include <fmt/format.h>

#include <bit>

#include "fake_cuda/fake_call.h"

using namespace deplo::measure::cuda;

namespace {

int math_mode = 0;  // math mode of the only handle

// Rounds to the nearest number with 10 bits of mantissa.
float to_tf32(float value) {
  return std::bit_cast<float>((std::bit_cast<std::uint32_t>(value) + 0x1000) & 0xffffe000U);
}

struct Shape {
  int op_a, m, n, k, lda, ldb, ldc, batch;
  long long stride_a, stride_b, stride_c;
};
template <class T, class To, class Operand, class Store>
void multiply(const Shape& s, const T* a, const T* b, To* c, const Operand& operand, const Store& store) {
  for (long long i = 0; i < s.batch; ++i)
    for (int row = 0; row < s.m; ++row)
      for (int column = 0; column < s.n; ++column) {
        float sum = 0;
        for (int p = 0; p < s.k; ++p)
          sum += operand(&a[i * s.stride_a + (s.op_a == 0 ? row + p * s.lda : p + row * s.lda)]) *
                 operand(&b[i * s.stride_b + p + column * s.ldb]);
        store(sum, &c[i * s.stride_c + row + column * s.ldc]);
      }
  state.now_us += 30;
}

// Truncates, unlike the hardware. The tests do not notice this, because their sums are exact.
float bf16_value(const std::uint16_t* bits) { return std::bit_cast<float>(std::uint32_t{*bits} << 16); }
std::uint16_t bf16_bits(float value) { return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16); }

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
  const auto operand = [tf32 = math_mode == 3](const float* from) { return tf32 ? to_tf32(*from) : *from; };
  const auto store = [](float value, float* to) { *to = value; };
  enqueue([=] {
    multiply({op_a, m, n, k, lda, ldb, ldc, batch, stride_a, stride_b, stride_c}, a, b, c, operand, store);
  });
  return 0;
}
int cublasSgemm_v2(void* handle, int op_a, int op_b, int m, int n, int k, const float* alpha, const float* a, int lda,
                   const float* b, int ldb, const float* beta, float* c, int ldc) {
  return cublasSgemmStridedBatched(handle, op_a, op_b, m, n, k, alpha, a, lda, 0, b, ldb, 0, beta, c, ldc, 0, 1);
}

// Takes bf16 and gives bf16 or f32. Types are those of cudaDataType; the compute type is CUBLAS_COMPUTE_32F.
int cublasGemmStridedBatchedEx(void*, int op_a, int op_b, int m, int n, int k, const void* alpha, const void* a,
                               int type_a, int lda, long long stride_a, const void* b, int type_b, int ldb,
                               long long stride_b, const void* beta, void* c, int type_c, int ldc, long long stride_c,
                               int batch, int compute, int algorithm) {
  BEGIN("cublasGemmEx {} {} m={} n={} k={} lda={} ldb={} ldc={} batch={} types={},{},{} compute={}", op_a, op_b, m, n,
        k, lda, ldb, ldc, batch, type_a, type_b, type_c, compute);
  if (*static_cast<const float*>(alpha) != 1 || *static_cast<const float*>(beta) != 0 || op_b != 0) return 7;
  if (algorithm != -1 || type_a != type_b || type_a != 14 || (type_c != 14 && type_c != 0)) return 15;
  const Shape shape{op_a, m, n, k, lda, ldb, ldc, batch, stride_a, stride_b, stride_c};
  const auto *left = static_cast<const std::uint16_t*>(a), *right = static_cast<const std::uint16_t*>(b);
  enqueue([=] {
    if (type_c == 0)
      multiply(shape, left, right, static_cast<float*>(c), bf16_value, [](float value, float* to) { *to = value; });
    else
      multiply(shape, left, right, static_cast<std::uint16_t*>(c), bf16_value,
               [](float value, std::uint16_t* to) { *to = bf16_bits(value); });
  });
  return 0;
}
int cublasGemmEx(void* handle, int op_a, int op_b, int m, int n, int k, const void* alpha, const void* a, int type_a,
                 int lda, const void* b, int type_b, int ldb, const void* beta, void* c, int type_c, int ldc,
                 int compute, int algorithm) {
  return cublasGemmStridedBatchedEx(handle, op_a, op_b, m, n, k, alpha, a, type_a, lda, 0, b, type_b, ldb, 0, beta, c,
                                    type_c, ldc, 0, 1, compute, algorithm);
}

}  // extern "C"
