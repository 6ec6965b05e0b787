// The one place of Eigen: its products in double take seconds where plain loops take minutes.
#include <Eigen/Core>
#include <algorithm>
#include <thread>

#include "ir/torch/operations/operands.h"

namespace deplo::ir::torch {
namespace {

using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Columns = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor>;

constexpr std::int64_t most_threads = 32;
constexpr double products_per_thread = 1 << 24;  // some milliseconds: a thread starts in 0.05

/// Columns begin … end of the result. A transposed row-major matrix is a column-major one.
void multiply_columns(const Matrix& a, const Matrix& b, double* to, std::int64_t begin, std::int64_t end) {
  const Eigen::Map<const Rows> left(a.data, a.rows, a.columns);
  Eigen::Map<Rows> result(to, a.rows, b.columns);
  auto columns = result.middleCols(begin, end - begin);
  if (b.transposed)
    columns.noalias() = left * Eigen::Map<const Columns>(b.data, b.rows, b.columns).middleCols(begin, end - begin);
  else
    columns.noalias() = left * Eigen::Map<const Rows>(b.data, b.rows, b.columns).middleCols(begin, end - begin);
}

std::int64_t threads_for(const Matrix& a, const Matrix& b) {
  const double products = static_cast<double>(a.rows * a.columns) * static_cast<double>(b.columns);
  const auto cores = static_cast<std::int64_t>(std::thread::hardware_concurrency());
  const auto useful = static_cast<std::int64_t>(std::min(products / products_per_thread, 1e6));
  return std::clamp<std::int64_t>(std::min({useful, cores, b.columns}), 1, most_threads);
}

}  // namespace

void multiply(Matrix a, Matrix b, double* result) {
  const std::int64_t count = threads_for(a, b);
  std::vector<std::jthread> threads;
  for (std::int64_t i = 1; i < count; ++i)
    threads.emplace_back([=] { multiply_columns(a, b, result, b.columns * i / count, b.columns * (i + 1) / count); });
  multiply_columns(a, b, result, 0, b.columns / count);
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
