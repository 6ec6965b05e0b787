// The only file that uses Eigen. Its products in double take seconds; plain loops take minutes.
#include <Eigen/Core>
#include <algorithm>

#include "core/parallel.h"
#include "ir/torch/operations/operands.h"

namespace deplo::ir::torch {
namespace {

using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Columns = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor>;

constexpr double products_per_thread = 1 << 24;  // a few milliseconds

/// Computes the columns begin … end - 1 of the result. A transposed row-major matrix is a column-major one.
void multiply_columns(const Matrix& a, const Matrix& b, double* to, std::int64_t begin, std::int64_t end) {
  const Eigen::Map<const Rows> left(a.data, a.rows, a.columns);
  Eigen::Map<Rows> result(to, a.rows, b.columns);
  auto columns = result.middleCols(begin, end - begin);
  if (b.transposed)
    columns.noalias() = left * Eigen::Map<const Columns>(b.data, b.rows, b.columns).middleCols(begin, end - begin);
  else
    columns.noalias() = left * Eigen::Map<const Rows>(b.data, b.rows, b.columns).middleCols(begin, end - begin);
}

}  // namespace

void multiply(Matrix a, Matrix b, double* result) {
  const double products = static_cast<double>(a.rows * a.columns) * static_cast<double>(b.columns);
  const auto columns = static_cast<std::size_t>(b.columns);
  in_parts(columns, std::min(threads_for(products, products_per_thread), std::max<std::size_t>(columns, 1)),
           [=](std::size_t begin, std::size_t end) {
             multiply_columns(a, b, result, static_cast<std::int64_t>(begin), static_cast<std::int64_t>(end));
           });
}

void multiply(const Operands& o, Matrix a, Matrix b, double* result) {
  multiply(a, b, result);
  const auto count = static_cast<std::size_t>(a.rows * b.columns);
  Values magnitudes(count);
  if (o.apart) {
    const auto absolute = [](Matrix& m) {
      Values values(m.data, m.data + m.rows * m.columns);
      for (double& value : values) value = std::isfinite(value) ? std::abs(value) : 0;
      m.data = values.data();
      return values;
    };
    const Values left = absolute(a), right = absolute(b);
    multiply(a, b, magnitudes.data());
  }
  for (std::size_t i = 0; i < count; ++i) result[i] = o.sum(result[i], o.apart ? magnitudes[i] : 0);
}

}  // namespace deplo::ir::torch
