#include "search/model/gp.h"

#include <Eigen/Cholesky>
#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <complex>

#include "core/error.h"

namespace deplo::search::model {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;
using MatrixF = Eigen::MatrixXf;
using VectorF = Eigen::VectorXf;

constexpr float jitter = 1e-5F;  // relative to the weight: the rounding error of squared distances in single precision

struct Prior {
  double mean, sd;
};
const Prior length_prior{std::log(0.8), 1}, stretch_prior{std::log(2), 0.5}, weight_prior{0, 2},
    noise_prior{std::log(0.02), 2};

// w of gp.h. It is not fitted, because the most likely share is misleading for a few values (docs/strategies.md, "The
// constants of the model").
constexpr float sum_share = 0.8F;

// Rprop, without backtracking: Riedmiller and Braun, A direct adaptive method for faster backpropagation learning,
// 1993; for Gaussian processes: Blum and Riedmiller, Optimization of Gaussian process hyperparameters using Rprop,
// 2013.
constexpr double rprop_first = 0.2, rprop_up = 1.2, rprop_down = 0.5, rprop_most = 1, rprop_least = 1e-3;

/// Indices of the hyperparameters in theta: the lengths come first.
struct Theta {
  explicit Theta(Eigen::Index size) : lengths(size - others) {}
  static constexpr Eigen::Index others = 3;
  Eigen::Index lengths, stretch = lengths, weight = lengths + 1, noise = lengths + 2;
  Eigen::Index size() const { return lengths + others; }
  const Prior& prior(Eigen::Index i) const {
    return i < lengths ? length_prior : i == stretch ? stretch_prior : i == weight ? weight_prior : noise_prior;
  }
};

/// The values that points have along a group of dimensions. A knob has few values, so its kernel is computed only for
/// these.
struct Along {
  MatrixF values;                    // dimensions × distinct values
  std::vector<Eigen::Index> number;  // for each point: the column of its value
};

/// Points at which to predict, divided by the lengths.
struct Targets {
  MatrixF points;
  std::vector<Along> groups;
};

}  // namespace

struct GaussianProcess::State {
  Vector theta;  // logs of the hyperparameters, in the places that Theta gives
  // Set by condition():
  MatrixF scaled;                                     // dimensions × points, divided by the lengths
  MatrixF lower;                                      // L
  MatrixF alpha;                                      // points × columns
  float weight = 1, noise = 0, squeeze = 1;           // squeeze: 1/c², the factor of squared distances
  VectorF inverse_length;                             // per dimension
  std::vector<std::vector<Eigen::Index>> dimensions;  // for each group that has dimensions
  // Set by predict():
  MatrixF solved;  // V
  Targets targets;
  MatrixF means;
  VectorF variance, deviation;
  std::vector<VectorF> expected;

  void resize(std::size_t groups);
  Targets targets_of(MatrixF points) const;
  MatrixF kernel(const MatrixF& points, const Targets& to) const;
};

void GaussianProcess::State::resize(std::size_t groups) {
  const Theta at(static_cast<Eigen::Index>(groups) + Theta::others);
  if (theta.size() == at.size()) return;
  Vector grown(at.size());
  for (Eigen::Index i = 0; i < at.size(); ++i) grown(i) = at.prior(i).mean;
  if (theta.size() > 0) {
    const Eigen::Index kept = std::min(Theta(theta.size()).lengths, at.lengths);
    grown.head(kept) = theta.head(kept);
    grown.tail(Theta::others) = theta.tail(Theta::others);
  }
  theta = grown;
}

namespace {

MatrixF squared_distances(const MatrixF& a, const MatrixF& b) {
  MatrixF result = -2 * (a.transpose() * b);
  const VectorF squares_a = a.colwise().squaredNorm().transpose(), squares_b = b.colwise().squaredNorm().transpose();
  result = ((result.colwise() + squares_a).rowwise() + squares_b.transpose()).cwiseMax(0);
  return result;
}

Along along(const MatrixF& points, const std::vector<Eigen::Index>& dimensions) {
  const MatrixF part = points(dimensions, Eigen::all);
  std::vector<Eigen::Index> first;
  Along result;
  for (Eigen::Index i = 0; i < part.cols(); ++i) {
    const std::span<const float> value(part.col(i).data(), dimensions.size());
    const auto same = std::ranges::find_if(
        first, [&](Eigen::Index at) { return std::equal(value.begin(), value.end(), part.col(at).data()); });
    result.number.push_back(same - first.begin());
    if (same == first.end()) first.push_back(i);
  }
  result.values = part(Eigen::all, first);
  return result;
}

/// Adds f(value of i, value of j) to out(i, j), for all points i and j.
void spread(const MatrixF& f, const Along& group, MatrixF& out) {
  const MatrixF rows = f(group.number, Eigen::all);  // one for each point, so that columns are added as vectors
  for (Eigen::Index j = 0; j < out.cols(); ++j) out.col(j) += rows.col(group.number[static_cast<std::size_t>(j)]);
}

/// The reverse of spread(), for two symmetric matrices, one in the real parts: for each two values, the sum over the
/// pairs of points that have them.
Eigen::MatrixXcf collect(const Eigen::MatrixXcf& from, const Along& group) {
  Eigen::MatrixXcf sums = Eigen::MatrixXcf::Zero(group.values.cols(), group.values.cols());
  for (Eigen::Index j = 0; j < from.cols(); ++j) {
    std::complex<float>* const column = sums.col(group.number[static_cast<std::size_t>(j)]).data();
    for (Eigen::Index i = j + 1; i < from.rows(); ++i) column[group.number[static_cast<std::size_t>(i)]] += from(i, j);
  }
  return 2 * sums;
}

/// The dimensions of each group.
std::vector<std::vector<Eigen::Index>> dimensions_of(std::span<const std::size_t> group, std::size_t groups) {
  std::vector<std::vector<Eigen::Index>> result(groups);
  for (std::size_t d = 0; d < group.size(); ++d) result[group[d]].push_back(static_cast<Eigen::Index>(d));
  return result;
}

/// √5 r, where `squares` are squared distances between points that are divided by the lengths.
MatrixF scaled_distances(const MatrixF& squares) { return (5 * squares).cwiseSqrt(); }
MatrixF matern(const MatrixF& r, float weight) {
  return weight * (1 + r.array() + r.array().square() / 3) * (-r.array()).exp();
}
/// The factor f in d k/d(log l) = f d²/l², where d²/l² is the part of the squared distance along the dimensions of l.
MatrixF matern_fall(const MatrixF& r, float weight) { return (weight * 5 / 3) * (1 + r.array()) * (-r.array()).exp(); }

/// The weights of the kernel of one group and of the kernel over all groups.
struct Weights {
  float own, all;
};
Weights weights(float weight, std::size_t groups) {
  if (groups == 0) return {0, weight};
  return {weight * sum_share / static_cast<float>(groups), weight * (1 - sum_share)};
}
/// The factor by which the kernel over all groups scales squared distances.
float squeezed(double log_stretch) { return static_cast<float>(std::exp(-2 * log_stretch)); }

/// A group as fit() uses it: its number, its points, and the squared distances of its values.
struct Fitted {
  Eigen::Index number;
  Along points;
  MatrixF squares;
};

/// Computes the gradient of log p(values | theta) + log p(theta). Returns false if the matrix is not positive definite.
bool gradient(const std::vector<Fitted>& groups, const VectorF& y, const Vector& theta, Vector& out) {
  const Eigen::Index n = y.size();
  const Theta at(theta.size());
  const auto weight = static_cast<float>(std::exp(theta(at.weight))),
             noise = static_cast<float>(std::exp(theta(at.noise)));
  const float squeeze = squeezed(theta(at.stretch));
  const Weights parts = weights(weight, groups.size());
  const auto scaled = [&](const Fitted& group) -> MatrixF {
    return group.squares * static_cast<float>(std::exp(-2 * theta(group.number)));
  };
  MatrixF all = MatrixF::Zero(n, n), smooth = all;
  for (const Fitted& group : groups) {
    const MatrixF squares = scaled(group);
    spread(squares * squeeze, group.points, all);
    spread(matern(scaled_distances(squares), parts.own), group.points, smooth);
  }
  all = scaled_distances(all);
  smooth += matern(all, parts.all);
  MatrixF k = smooth;
  k.diagonal().array() += noise + jitter * weight;
  const Eigen::LLT<MatrixF> llt(k);
  if (llt.info() != Eigen::Success) return false;
  const VectorF alpha = llt.solve(y);
  // dL/dK = (α αᵀ - K⁻¹)/2
  MatrixF slope = llt.solve(MatrixF::Identity(n, n));
  slope.array() = 0.5F * ((alpha * alpha.transpose()).array() - slope.array());
  out.setZero();
  out(at.weight) = static_cast<double>(slope.cwiseProduct(smooth).sum());
  out(at.noise) = static_cast<double>(noise * slope.trace());
  Eigen::MatrixXcf slopes(n, n);  // of the kernel over all groups, and of those of the groups: collected in one pass
  slopes.real() = slope.cwiseProduct(matern_fall(all, parts.all * squeeze));
  slopes.imag() = slope;
  for (const Fitted& group : groups) {
    const MatrixF squares = scaled(group), own = matern_fall(scaled_distances(squares), parts.own);
    const Eigen::MatrixXcf sums = collect(slopes, group.points);
    const auto of_all = static_cast<double>(sums.real().cwiseProduct(squares).sum());
    const auto of_own = static_cast<double>(sums.imag().cwiseProduct(own).cwiseProduct(squares).sum());
    out(group.number) = of_all + of_own;
    out(at.stretch) += of_all;
  }
  for (Eigen::Index i = 0; i < at.size(); ++i) {
    const Prior& prior = at.prior(i);
    out(i) -= (theta(i) - prior.mean) / (prior.sd * prior.sd);
  }
  return true;
}

MatrixF matrix(const Points& points) {
  return Eigen::Map<const MatrixF>(points.values.data(), static_cast<Eigen::Index>(points.dimensions),
                                   static_cast<Eigen::Index>(points.size()));
}

}  // namespace

GaussianProcess::GaussianProcess() : state_(std::make_unique<State>()) {}
GaussianProcess::~GaussianProcess() = default;

void GaussianProcess::fit(const Points& points, std::span<const double> values, std::span<const std::size_t> group,
                          std::size_t groups, int steps) {
  CHECK(points.size() == values.size() && group.size() == points.dimensions);
  State& s = *state_;
  s.resize(groups);
  std::vector<Fitted> fitted;
  const MatrixF raw = matrix(points);
  for (Eigen::Index number = 0; const std::vector<Eigen::Index>& dimensions : dimensions_of(group, groups)) {
    if (!dimensions.empty()) {
      Along part = along(raw, dimensions);
      const MatrixF squares = squared_distances(part.values, part.values);
      fitted.push_back({number, std::move(part), squares});
    }
    ++number;
  }
  const VectorF y = Eigen::Map<const Vector>(values.data(), static_cast<Eigen::Index>(values.size())).cast<float>();
  Vector step = Vector::Constant(s.theta.size(), rprop_first), slope(s.theta.size()),
         before = Vector::Zero(s.theta.size());
  for (int i = 0; i < steps; ++i) {
    if (!gradient(fitted, y, s.theta, slope)) {  // the kernel is too smooth for the noise
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
  return inverse_length.asDiagonal() * matrix(points);
}

}  // namespace

Targets GaussianProcess::State::targets_of(MatrixF points) const {
  Targets result{std::move(points), {}};
  for (const std::vector<Eigen::Index>& group : dimensions) result.groups.push_back(along(result.points, group));
  return result;
}

MatrixF GaussianProcess::State::kernel(const MatrixF& points, const Targets& to) const {
  const Weights parts = weights(weight, dimensions.size());
  MatrixF k = matern(scaled_distances(squeeze * squared_distances(points, to.points)), parts.all);
  for (std::size_t g = 0; g < dimensions.size(); ++g) {
    const Along& group = to.groups[g];
    const MatrixF own =
        matern(scaled_distances(squared_distances(points(dimensions[g], Eigen::all), group.values)), parts.own);
    for (Eigen::Index i = 0; i < k.cols(); ++i) k.col(i) += own.col(group.number[static_cast<std::size_t>(i)]);
  }
  return k;
}

void GaussianProcess::condition(const Points& points, std::span<const std::size_t> group,
                                std::span<const double> values, std::size_t columns) {
  State& s = *state_;
  const auto n = static_cast<Eigen::Index>(points.size());
  const std::size_t met = group.empty() ? 0 : *std::ranges::max_element(group) + 1;
  const std::size_t fitted = s.theta.size() == 0 ? 0 : static_cast<std::size_t>(Theta(s.theta.size()).lengths);
  s.resize(std::max(met, fitted));
  const Theta at(s.theta.size());
  s.inverse_length.resize(static_cast<Eigen::Index>(group.size()));
  for (std::size_t d = 0; d < group.size(); ++d)
    s.inverse_length(static_cast<Eigen::Index>(d)) =
        static_cast<float>(std::exp(-s.theta(static_cast<Eigen::Index>(group[d]))));
  s.dimensions = dimensions_of(group, static_cast<std::size_t>(at.lengths));
  std::erase_if(s.dimensions, [](const auto& dimensions) { return dimensions.empty(); });
  s.squeeze = squeezed(s.theta(at.stretch));
  s.weight = static_cast<float>(std::exp(s.theta(at.weight)));
  s.noise = static_cast<float>(std::exp(s.theta(at.noise)));
  s.scaled = scale(points, s.inverse_length);
  Matrix k = s.kernel(s.scaled, s.targets_of(s.scaled)).cast<double>();
  // In single precision, distances have an error of 1e-7 of the squared norms. The diagonal gets more than that.
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
  const VectorF means = s.kernel(s.scaled, s.targets_of(scale(points, s.inverse_length))).transpose() * s.alpha.col(0);
  return {means.data(), means.data() + means.size()};
}

void GaussianProcess::predict(const Points& points) {
  State& s = *state_;
  s.targets = s.targets_of(scale(points, s.inverse_length));
  s.solved = s.kernel(s.scaled, s.targets);
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

// Adds one row to V: (k(x, *) - V(x)ᵀ V(*)) / sqrt(variance(x) + noise).
void GaussianProcess::expect(std::size_t point) {
  State& s = *state_;
  const auto x = static_cast<Eigen::Index>(point);
  VectorF row = s.kernel(s.targets.points.col(x), s.targets).transpose();
  row -= s.solved.transpose() * s.solved.col(x);
  for (const VectorF& earlier : s.expected) row -= earlier(x) * earlier;
  row /= std::sqrt(s.variance(x) + s.noise + 1e-5F * s.weight);
  s.variance = (s.variance - row.cwiseAbs2()).cwiseMax(1e-8F * s.weight);
  s.deviation = s.variance.cwiseSqrt();
  s.expected.push_back(std::move(row));
}

}  // namespace deplo::search::model
