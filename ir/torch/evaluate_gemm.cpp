// The one place of Eigen: its products in double take seconds where plain loops take minutes.
#include <Eigen/Core>

#include "ir/torch/evaluate_ops.h"

namespace deplo::ir::torch {
namespace {

using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Columns = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor>;

// A transposed row-major matrix is a column-major one.
template <class Left>
void multiply_by(const Left& a, const Matrix& b, Eigen::Map<Rows> result) {
  if (b.transposed)
    result.noalias() = a * Eigen::Map<const Columns>(b.data, b.rows, b.columns);
  else
    result.noalias() = a * Eigen::Map<const Rows>(b.data, b.rows, b.columns);
}

}  // namespace

void multiply(Matrix a, Matrix b, double* result) {
  multiply_by(Eigen::Map<const Rows>(a.data, a.rows, a.columns), b, Eigen::Map<Rows>(result, a.rows, b.columns));
}

}  // namespace deplo::ir::torch
