#include "bench/cpu_libraries.h"

#include <dnnl.h>
#include <omp.h>

#include <Eigen/Core>

#include "core/error.h"

namespace deplo::bench {

void eigen_matmul(const float* a, const float* b, float* c, long m, long n, long k) {
  using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Eigen::Map<Matrix>(c, m, n).noalias() = Eigen::Map<const Matrix>(a, m, k) * Eigen::Map<const Matrix>(b, k, n);
}

void onednn_matmul(const float* a, const float* b, float* c, long m, long n, long k) {
  CHECK(dnnl_sgemm('N', 'N', m, n, k, 1.0f, a, k, b, n, 0.0f, c, n) == dnnl_success);
}

int library_threads() { return omp_get_max_threads(); }

}  // namespace deplo::bench
