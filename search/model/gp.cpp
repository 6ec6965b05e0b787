#include "search/model/gp.h"

#include <Eigen/Cholesky>
#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace deplo::search::model {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;
using MatrixF = Eigen::MatrixXf;
using VectorF = Eigen::VectorXf;

constexpr float jitter = 1e-5F;  // of the weight: what single precision leaves of a squared distance

struct Prior {
  double mean, sd;
};
const Prior length_prior{std::log(0.8), 1}, weight_prior{0, 2}, noise_prior{std::log(0.02), 2};

// Rprop, without backtracking: Riedmiller and Braun, A direct adaptive method for faster backpropagation learning,
// 1993; for Gaussian processes: Blum and Riedmiller, Optimization of Gaussian process hyperparameters using Rprop,
// 2013.
constexpr double rprop_first = 0.2, rprop_up = 1.2, rprop_down = 0.5, rprop_most = 1, rprop_least = 1e-3;

}  // namespace

struct GaussianProcess::State {
  Vector theta;  // logs: lengths, weight, noise
  Vector step;
  // Of condition():
  MatrixF scaled;  // dimensions × points, over the lengths
  MatrixF lower;   // L
  MatrixF alpha;   // points × columns
  float weight = 1, noise = 0;
  VectorF inverse_length;  // per dimension
  // Of predict():
  MatrixF solved;   // V
  MatrixF targets;  // scaled
  MatrixF means;
  VectorF variance, deviation;
  std::vector<VectorF> expected;

  void resize(std::size_t groups);
};

void GaussianProcess::State::resize(std::size_t groups) {
  const auto size = static_cast<Eigen::Index>(groups) + 2;
  if (theta.size() == size) return;
  Vector grown = Vector::Constant(size, length_prior.mean);
  const Eigen::Index kept = std::min(theta.size(), size) - 2;
  for (Eigen::Index i = 0; i < kept; ++i) grown(i) = theta(i);
  grown(size - 2) = kept < 0 ? weight_prior.mean : theta(theta.size() - 2);
  grown(size - 1) = kept < 0 ? noise_prior.mean : theta(theta.size() - 1);
  theta = grown;
}

namespace {

/// Squared distances along each group.
std::vector<MatrixF> distances(const Points& points, std::span<const std::size_t> group, std::size_t groups) {
  const auto n = static_cast<Eigen::Index>(points.size());
  std::vector<MatrixF> result(groups, MatrixF::Zero(n, n));
  for (std::size_t d = 0; d < points.dimensions; ++d) {
    MatrixF& sum = result[group[d]];
    for (Eigen::Index i = 0; i < n; ++i)
      for (Eigen::Index j = 0; j < i; ++j) {
        const auto at = [&](Eigen::Index p) {
          return points.values[static_cast<std::size_t>(p) * points.dimensions + d];
        };
        const float away = at(i) - at(j);
        sum(i, j) += away * away;
      }
  }
  for (MatrixF& sum : result) sum.triangularView<Eigen::StrictlyUpper>() = sum.transpose();
  return result;
}

/// Gradient of log p(values | theta) + log p(theta); nothing where the matrix is not positive definite.
bool gradient(const std::vector<MatrixF>& squares, const VectorF& y, const Vector& theta, Vector& out) {
  const auto groups = static_cast<Eigen::Index>(squares.size());
  const Eigen::Index n = y.size();
  MatrixF r = MatrixF::Zero(n, n);
  for (Eigen::Index g = 0; g < groups; ++g)
    r += squares[static_cast<std::size_t>(g)] * static_cast<float>(5 * std::exp(-2 * theta(g)));
  r = r.cwiseSqrt();
  const auto weight = static_cast<float>(std::exp(theta(groups))),
             noise = static_cast<float>(std::exp(theta(groups + 1)));
  const MatrixF fall = weight * (-r.array()).exp();
  const MatrixF smooth = (1 + r.array() + r.array().square() / 3) * fall.array();
  MatrixF k = smooth;
  k.diagonal().array() += noise + jitter * weight;
  const Eigen::LLT<MatrixF> llt(k);
  if (llt.info() != Eigen::Success) return false;
  const VectorF alpha = llt.solve(y);
  // dL/dK = (α αᵀ - K⁻¹)/2
  MatrixF slope = llt.solve(MatrixF::Identity(n, n));
  slope.array() = 0.5F * ((alpha * alpha.transpose()).array() - slope.array());
  out(groups) = static_cast<double>(slope.cwiseProduct(smooth).sum());
  out(groups + 1) = static_cast<double>(noise * slope.trace());
  // dk/d(log l_g) = s² 5/3 (1 + √5 r) exp(-√5 r) d_g²/l_g²
  slope.array() *= 5.0F / 3 * (1 + r.array()) * fall.array();
  for (Eigen::Index g = 0; g < groups; ++g)
    out(g) =
        static_cast<double>(slope.cwiseProduct(squares[static_cast<std::size_t>(g)]).sum()) * std::exp(-2 * theta(g));
  for (Eigen::Index i = 0; i < theta.size(); ++i) {
    const Prior& prior = i < groups ? length_prior : i == groups ? weight_prior : noise_prior;
    out(i) -= (theta(i) - prior.mean) / (prior.sd * prior.sd);
  }
  return true;
}

}  // namespace

GaussianProcess::GaussianProcess() : state_(std::make_unique<State>()) {}
GaussianProcess::~GaussianProcess() = default;

void GaussianProcess::fit(const Points& points, std::span<const double> values, std::span<const std::size_t> group,
                          std::size_t groups, int steps) {
  CHECK(points.size() == values.size() && group.size() == points.dimensions);
  State& s = *state_;
  s.resize(groups);
  const std::vector<MatrixF> squares = distances(points, group, groups);
  const VectorF y = Eigen::Map<const Vector>(values.data(), static_cast<Eigen::Index>(values.size())).cast<float>();
  Vector step = Vector::Constant(s.theta.size(), rprop_first), slope(s.theta.size()),
         before = Vector::Zero(s.theta.size());
  for (int i = 0; i < steps; ++i) {
    if (!gradient(squares, y, s.theta, slope)) {  // too smooth for the noise
      s.theta.tail(1).array() += 1;
      continue;
    }
    for (Eigen::Index p = 0; p < s.theta.size(); ++p) {
      const double agree = slope(p) * before(p);
      if (agree > 0) step(p) = std::min(step(p) * rprop_up, rprop_most);
      if (agree < 0) step(p) = std::max(step(p) * rprop_down, rprop_least);
      if (agree < 0) slope(p) = 0;
      if (slope(p) != 0) s.theta(p) += slope(p) > 0 ? step(p) : -step(p);
    }
    before = slope;
  }
}

namespace {

MatrixF scale(const Points& points, const VectorF& inverse_length) {
  const Eigen::Map<const MatrixF> raw(points.values.data(), static_cast<Eigen::Index>(points.dimensions),
                                      static_cast<Eigen::Index>(points.size()));
  return inverse_length.asDiagonal() * raw;
}

MatrixF kernel(const MatrixF& a, const MatrixF& b, float weight) {
  MatrixF r = -2 * (a.transpose() * b);
  const VectorF squares_a = a.colwise().squaredNorm().transpose(), squares_b = b.colwise().squaredNorm().transpose();
  r = (5 * ((r.colwise() + squares_a).rowwise() + squares_b.transpose()).cwiseMax(0)).cwiseSqrt();
  r.array() = weight * (1 + r.array() + r.array().square() / 3) * (-r.array()).exp();
  return r;
}

}  // namespace

void GaussianProcess::condition(const Points& points, std::span<const std::size_t> group,
                                std::span<const double> values, std::size_t columns) {
  State& s = *state_;
  const auto n = static_cast<Eigen::Index>(points.size());
  const std::size_t met = group.empty() ? 0 : *std::ranges::max_element(group) + 1;
  s.resize(std::max(met, static_cast<std::size_t>(std::max<Eigen::Index>(s.theta.size(), 2) - 2)));
  const Eigen::Index groups = s.theta.size() - 2;
  s.inverse_length.resize(static_cast<Eigen::Index>(group.size()));
  for (std::size_t d = 0; d < group.size(); ++d)
    s.inverse_length(static_cast<Eigen::Index>(d)) =
        static_cast<float>(std::exp(-s.theta(static_cast<Eigen::Index>(group[d]))));
  s.weight = static_cast<float>(std::exp(s.theta(groups)));
  s.noise = static_cast<float>(std::exp(s.theta(groups + 1)));
  s.scaled = scale(points, s.inverse_length);
  Matrix k = kernel(s.scaled, s.scaled, s.weight).cast<double>();
  // Single precision leaves the distances 1e-7 of the squared norms: the diagonal holds more than that.
  const Eigen::Map<const Matrix> y(values.data(), n, static_cast<Eigen::Index>(columns));
  for (double extra = 1e-5;; extra *= 10) {
    k.diagonal().array() = s.weight + s.noise + extra * s.weight;
    const Eigen::LLT<Matrix> llt(k);
    if (llt.info() != Eigen::Success) continue;
    s.lower = Matrix(llt.matrixL()).cast<float>();
    s.alpha = llt.solve(y).cast<float>();
    return;
  }
}

std::vector<float> GaussianProcess::mean(const Points& points) const {
  const State& s = *state_;
  const VectorF means = kernel(s.scaled, scale(points, s.inverse_length), s.weight).transpose() * s.alpha.col(0);
  return {means.data(), means.data() + means.size()};
}

void GaussianProcess::predict(const Points& points) {
  State& s = *state_;
  s.targets = scale(points, s.inverse_length);
  s.solved = kernel(s.scaled, s.targets, s.weight);
  s.means = s.solved.transpose() * s.alpha;
  s.lower.triangularView<Eigen::Lower>().solveInPlace(s.solved);
  s.variance = (s.weight - s.solved.colwise().squaredNorm().array()).cwiseMax(1e-8F * s.weight).transpose();
  s.deviation = s.variance.cwiseSqrt();
  s.expected.clear();
}

std::span<const float> GaussianProcess::means() const {
  return {state_->means.data(), static_cast<std::size_t>(state_->means.size())};
}
std::span<const float> GaussianProcess::deviations() const {
  return {state_->deviation.data(), static_cast<std::size_t>(state_->deviation.size())};
}

// One more row of V: (k(x, *) - V(x)ᵀ V(*)) / sqrt(variance(x) + noise).
void GaussianProcess::expect(std::size_t point) {
  State& s = *state_;
  const auto x = static_cast<Eigen::Index>(point);
  VectorF row = kernel(s.targets.col(x), s.targets, s.weight).transpose();
  row -= s.solved.transpose() * s.solved.col(x);
  for (const VectorF& earlier : s.expected) row -= earlier(x) * earlier;
  row /= std::sqrt(s.variance(x) + s.noise + 1e-5F * s.weight);
  s.variance = (s.variance - row.cwiseAbs2()).cwiseMax(1e-8F * s.weight);
  s.deviation = s.variance.cwiseSqrt();
  s.expected.push_back(std::move(row));
}

}  // namespace deplo::search::model
