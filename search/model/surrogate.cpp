#include "search/model/surrogate.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "core/mapped.h"
#include "search/model/regression_targets.h"
#include "search/quantile.h"

namespace deplo::search::model {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
// The hyperparameters hardly move after 128 evaluations, and a fit takes cubic time. Conditioning on more than 256
// evaluations costs more time than it gains.
constexpr std::size_t max_fitted = 128, max_conditioned = 256;
constexpr std::size_t least_fitted = 3;
constexpr double refit_growth = 1.3;
// steps of the first fit and of later fits, which start from the latest result
constexpr int first_steps = 24, more_steps = 12;

}  // namespace

Surrogate::Surrogate(const Space& space, const Settings& settings)
    : rng_(settings.seed()),
      kappa_(settings.number("kappa")),
      cost_(settings.number("cost")),
      clip_(settings.number("clip")),
      pool_(space, settings, encoding_, rng_) {}

void Surrogate::asked(const Candidate& candidate) { pool_.asked(encoding_.codes(candidate->trail())); }

void Surrogate::tell(const Candidate& candidate, const Outcome& outcome) {
  Codes codes = encoding_.codes(candidate->trail());
  pool_.asked(codes);
  if (!known_.insert(codes).second) return;
  const double speed = reward(outcome);
  told_.push_back({std::move(codes), candidate->trail(), speed > 0 ? -std::log(speed) : infinity,
                   outcome.seconds > 0 ? std::log(outcome.seconds) : std::nan("")});
  const auto place = std::ranges::upper_bound(by_time_, told_.back().time, {}, [&](auto i) { return told_[i].time; });
  by_time_.insert(place, told_.size() - 1);
}

bool Surrogate::warm_start(std::span<const SourceTask> sources) {
  transfer_.learn(sources, encoding_, rng_);
  for (const Trail& wish : transfer_.best()) pool_.keep(wish);
  return warm();
}

bool Surrogate::ready() const { return warm() || (told_.size() >= 3 && std::isfinite(told_[by_time_[1]].time)); }

std::vector<Trail> Surrogate::best(std::size_t count) const {
  std::vector<Trail> result;
  for (const std::size_t i : by_time_)
    if (result.size() < count && std::isfinite(told_[i].time)) result.push_back(told_[i].trail);
  return result;
}

Points Surrogate::points(const Numbers& numbers) {
  Points result{encoding_.dimensions().size(), {}};
  for (const std::size_t i : numbers) encoding_.point(told_[i].codes, result.add());
  return result;
}

std::vector<double> Surrogate::targets() {
  if (by_time_.empty() || !std::isfinite(told_[by_time_[0]].time)) return {};
  std::vector<double> logs = mapped(told_, &Told::time);
  replace_failures(logs);
  limit_ = quantile(logs, clip_quantile(logs.size(), clip_));
  for (double& log : logs) log = std::min(log, limit_);
  if (warm()) return residuals(std::move(logs));
  standardise(logs);
  return logs;
}

std::vector<double> Surrogate::residuals(std::vector<double> logs) {
  const std::vector<Codes> codes = mapped(told_, &Told::codes);
  transfer_.match(codes, logs, encoding_);
  const std::vector<double> means = transfer_.means(codes, encoding_);
  for (std::size_t i = 0; i < logs.size(); ++i)
    logs[i] = (logs[i] - std::min(means[i], limit_)) / transfer_.deviation();
  return logs;
}

std::vector<double> Surrogate::costs() const {
  const std::vector<double> result = mapped(told_, &Told::cost);
  const bool known = std::ranges::none_of(result, [](double c) { return std::isnan(c); });
  return known && cost_ > 0 ? result : std::vector<double>();
}

void Surrogate::fit(const std::vector<double>& values) {
  if (values.size() < least_fitted) return;
  const bool grown = static_cast<double>(told_.size()) >= refit_growth * static_cast<double>(fitted_);
  if (!grown && version_ == encoding_.version()) return;
  const Numbers numbers = subset(by_time_, max_fitted, rng_);
  process_.fit(points(numbers), at(values, numbers), encoding_.dimensions(), encoding_.knobs(),
               fitted_ == 0 ? first_steps : more_steps);
  fitted_ = told_.size();
  version_ = encoding_.version();
}

void Surrogate::condition(const std::vector<double>& values) {
  const Numbers numbers = values.empty() ? Numbers() : subset(by_time_, max_conditioned, rng_);
  std::vector<double> columns = at(values, numbers);
  std::vector<double> logs = values.empty() ? std::vector<double>() : costs();
  cost_weight_ = logs.empty() ? 0 : cost_ * standardise(logs);
  if (!logs.empty())
    for (const std::size_t i : numbers) columns.push_back(logs[i]);
  process_.condition(points(numbers), encoding_.dimensions(), columns, logs.empty() ? 1 : 2);
}

double Surrogate::acquisition(std::size_t sample) const {
  const auto means = process_.means();
  const double bound = prior_[sample] + means[sample] - kappa_ * process_.deviations()[sample];
  return cost_weight_ > 0 ? bound + cost_weight_ * means[ranked_ + sample] : bound;
}

// Returns at once if nothing has changed, because the strategy evolve ranks several generations between two rounds.
void Surrogate::learn() {
  if (learned_ == told_.size() && learned_version_ == encoding_.version()) return;
  const std::vector<double> values = targets();
  fit(values);
  condition(values);
  learned_ = told_.size();
  learned_version_ = encoding_.version();
}

std::vector<SamplePtr> Surrogate::beginning() {
  const std::vector<Trail> fastest = best(1);
  if (!warm()) return pool_.beginning(fastest);
  if (!pool_.is_climbing() || fastest.empty()) return {};
  const std::vector<SamplePtr> samples = pool_.neighbours(fastest[0]);
  if (samples.empty()) return {};
  rank(samples);
  return pick(samples, 1, 0);
}

std::vector<double> Surrogate::rank(const std::vector<SamplePtr>& samples) {
  CHECK(ready());
  learn();
  process_.predict(model::points(samples, encoding_));
  ranked_ = samples.size();
  prior_.assign(ranked_, 0);
  if (warm()) {
    const std::vector<Codes> codes = mapped(samples, [](const SamplePtr& sample) { return sample->codes; });
    prior_ = transfer_.means(codes, encoding_);
    for (double& mean : prior_) mean = std::min(mean, limit_) / transfer_.deviation();
  }
  std::vector<double> result;
  for (std::size_t i = 0; i < ranked_; ++i) result.push_back(acquisition(i));
  return result;
}

std::vector<SamplePtr> Surrogate::pick(const std::vector<SamplePtr>& ranked, std::size_t count, double random) {
  return model::pick(
      ranked, count, random, rng_, [this](std::size_t sample) { return acquisition(sample); },
      [this](std::size_t sample) { process_.expect(sample); });
}

}  // namespace deplo::search::model
