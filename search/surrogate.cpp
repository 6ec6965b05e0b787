#include "search/surrogate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/error.h"
#include "search/maximin.h"
#include "search/tree.h"

namespace deplo::search {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::size_t incumbents = 4;  // whose neighbours are in the pool
constexpr std::size_t design_pool = 1000;
constexpr double refresh = 0.25;  // of the pool's random ones, in each round: a path of a kernel's space is slow
// The hyperparameters hardly move after 128 evaluations, and a fit takes the cube of them; conditioning on more than
// 256 costs more time than it gains.
constexpr std::size_t most_fitted = 128, most_conditioned = 256;
constexpr std::size_t most_in_vain = 50;  // draws in a row: hardly anything is left then
constexpr double refit_growth = 1.3;
constexpr int first_steps = 24, more_steps = 12;  // of the fit; later ones start from the last

/// Mean 0 and variance 1. The deviation it had.
double standardise(std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (double& v : values) {
    v -= mean;
    squares += v * v;
  }
  const double deviation = std::sqrt(squares / n);
  for (double& v : values) v /= deviation > 0 ? deviation : 1;
  return deviation;
}

double quantile(std::vector<double> values, double q) {
  const double place = q * static_cast<double>(values.size() - 1);
  const auto low = static_cast<std::ptrdiff_t>(place);
  std::nth_element(values.begin(), values.begin() + low, values.end());
  const double below = values[static_cast<std::size_t>(low)];
  if (low + 1 == static_cast<std::ptrdiff_t>(values.size())) return below;
  const double above = *std::min_element(values.begin() + low + 1, values.end());
  return below + (place - static_cast<double>(low)) * (above - below);
}

void clip(std::vector<double>& values, double last) {
  const double n = std::clamp(static_cast<double>(values.size()), 4.0, 32.0);
  const double limit = quantile(values, 1 + (last - 1) * (n - 4) / 28);
  for (double& v : values) v = std::min(v, limit);
}

std::vector<double> at(const std::vector<double>& values, const std::vector<std::size_t>& numbers) {
  std::vector<double> result;
  for (const std::size_t i : numbers) result.push_back(values[i]);
  return result;
}

}  // namespace

Candidate follow(const Space& space, const Sample& sample) {
  std::size_t level = 0;
  return follow(space, [&](const Position&) { return sample.options[level++]; });
}

std::size_t Surrogate::Hash::operator()(const Codes& codes) const {
  std::uint64_t hash = 0xcbf29ce484222325ULL;  // FNV-1a, and a shift for the upper bits
  for (const std::int16_t code : codes) {
    hash = (hash ^ static_cast<std::uint16_t>(code)) * 0x100000001b3ULL;
    hash ^= hash >> 29;
  }
  return hash;
}

Surrogate::Surrogate(const Space& space, const Settings& settings)
    : space_(space),
      rng_(settings.seed()),
      kappa_(settings.number("kappa")),
      cost_(settings.number("cost")),
      clip_(settings.number("clip")),
      pool_size_(settings.integer("pool")) {}

void Surrogate::asked(const Candidate& candidate) { asked_.insert(encoding_.codes(candidate->trail())); }

void Surrogate::tell(const Candidate& candidate, const Outcome& outcome) {
  Codes codes = encoding_.codes(candidate->trail());
  asked_.insert(codes);
  if (!known_.insert(codes).second) return;
  const double speed = reward(outcome);
  told_.push_back({std::move(codes), candidate->trail(), speed > 0 ? -std::log(speed) : infinity,
                   outcome.seconds > 0 ? std::log(outcome.seconds) : std::nan("")});
  const auto place = std::ranges::upper_bound(by_time_, told_.back().time, {}, [&](auto i) { return told_[i].time; });
  by_time_.insert(place, told_.size() - 1);
}

bool Surrogate::ready() const { return told_.size() >= 3 && std::isfinite(told_[by_time_[1]].time); }

std::vector<Trail> Surrogate::best(std::size_t count) const {
  std::vector<Trail> result;
  for (const std::size_t i : by_time_)
    if (result.size() < count && std::isfinite(told_[i].time)) result.push_back(told_[i].trail);
  return result;
}

Sample Surrogate::sample(const Pick& pick) {
  Sample sample;
  follow(space_, [&](const Position& position) {
    const std::size_t option = pick(position);
    sample.options.push_back(static_cast<std::uint32_t>(option));
    encoding_.note(position.fork()->knob, position.fork()->options[option], sample.codes);
    return option;
  });
  encoding_.close(sample.codes);
  return sample;
}

void Surrogate::draw(std::vector<Sample>& samples, std::size_t size) {
  std::unordered_set<Codes, Hash> listed;
  for (const Sample& known : samples) listed.insert(known.codes);
  for (std::size_t in_vain = 0; samples.size() < size && in_vain < most_in_vain;) {
    Sample drawn = sample([this](const Position& position) { return random_option(position, rng_); });
    if (seen(drawn) || !listed.insert(drawn.codes).second) {
      ++in_vain;
      continue;
    }
    samples.push_back(std::move(drawn));
    in_vain = 0;
  }
}

std::vector<Sample> Surrogate::unseen(const std::vector<Sample>& samples) const {
  std::unordered_set<Codes, Hash> listed;
  std::vector<Sample> result;
  for (const Sample& sample : samples)
    if (!seen(sample) && listed.insert(sample.codes).second) result.push_back(sample);
  return result;
}

Points Surrogate::points(const std::vector<Sample>& samples) {
  Points result{encoding_.dimensions().size(), {}};
  result.values.reserve(result.dimensions * samples.size());
  for (const Sample& sample : samples) encoding_.point(sample.codes, result.add());
  return result;
}

Points Surrogate::points(const Numbers& numbers) {
  Points result{encoding_.dimensions().size(), {}};
  for (const std::size_t i : numbers) encoding_.point(told_[i].codes, result.add());
  return result;
}

std::vector<Sample> Surrogate::design(std::size_t count) {
  std::vector<Sample> drawn, chosen;
  draw(drawn, design_pool);
  if (drawn.empty()) return {};
  const Points all = points(drawn);
  Nearest before(all);
  std::vector<float> point(all.dimensions);
  for (const Codes& codes : asked_) {
    encoding_.point(codes, point.data());
    before.give(point.data());
  }
  if (asked_.empty()) {
    Nearest centre(all);
    centre.give(middle(all).data());
    chosen.push_back(drawn[centre.nearest()]);
    before.give(centre.nearest());
  }
  while (chosen.size() < std::min(count, drawn.size())) {
    chosen.push_back(drawn[before.farthest()]);
    before.give(before.farthest());
  }
  return chosen;
}

std::vector<Sample> Surrogate::pool() {
  std::erase_if(pool_, [&](const Sample& sample) { return seen(sample); });
  const auto size = static_cast<std::size_t>(pool_size_);
  const auto fresh = static_cast<std::size_t>(std::ceil(refresh * static_cast<double>(size)));
  if (pool_.size() + fresh > size)  // the oldest go
    pool_.erase(pool_.begin(), pool_.begin() + static_cast<std::ptrdiff_t>(pool_.size() + fresh - size));
  draw(pool_, size);
  refresh_near();
  std::vector<Sample> result = pool_;
  for (const auto& [number, samples] : near_) result.insert(result.end(), samples.begin(), samples.end());
  return unseen(result);
}

void Surrogate::refresh_near() {
  std::map<std::size_t, std::vector<Sample>> near;
  for (const std::size_t number : by_time_) {
    if (near.size() == incumbents || !std::isfinite(told_[number].time)) break;
    const auto known = near_.find(number);
    if (known != near_.end()) {
      near.insert(std::move(*known));
      continue;
    }
    for (const Trail& wish : neighbours(space_, told_[number].trail))
      near[number].push_back(sample([&](const Position& position) { return wanted_option(*position.fork(), wish); }));
  }
  near_ = std::move(near);
}

std::vector<double> Surrogate::targets() const {
  double worst = -infinity;
  for (const Told& told : told_)
    if (std::isfinite(told.time)) worst = std::max(worst, told.time);
  std::vector<double> result;
  for (const Told& told : told_) result.push_back(std::min(told.time, worst));
  clip(result, clip_);
  standardise(result);
  return result;
}

std::vector<double> Surrogate::costs() const {
  std::vector<double> result;
  for (const Told& told : told_) result.push_back(told.cost);
  const bool known = std::ranges::none_of(result, [](double c) { return std::isnan(c); });
  return known && cost_ > 0 ? result : std::vector<double>();
}

/// The better half of the fastest and a random half of the rest.
Surrogate::Numbers Surrogate::subset(std::size_t most) {
  Numbers numbers = by_time_;
  if (numbers.size() <= most) return numbers;
  for (std::size_t i = most / 2; i < most; ++i) std::swap(numbers[i], numbers[i + rng_.below(numbers.size() - i)]);
  numbers.resize(most);
  return numbers;
}

void Surrogate::fit(const std::vector<double>& values) {
  const bool grown = static_cast<double>(told_.size()) >= refit_growth * static_cast<double>(fitted_);
  if (!grown && version_ == encoding_.version()) return;
  const Numbers numbers = subset(most_fitted);
  process_.fit(points(numbers), at(values, numbers), encoding_.dimensions(), encoding_.knobs(),
               fitted_ == 0 ? first_steps : more_steps);
  fitted_ = told_.size();
  version_ = encoding_.version();
}

void Surrogate::condition(const std::vector<double>& values) {
  const Numbers numbers = subset(most_conditioned);
  std::vector<double> columns = at(values, numbers);
  std::vector<double> logs = costs();
  cost_weight_ = logs.empty() ? 0 : cost_ * standardise(logs);
  if (!logs.empty())
    for (const std::size_t i : numbers) columns.push_back(logs[i]);
  process_.condition(points(numbers), encoding_.dimensions(), columns, logs.empty() ? 1 : 2);
}

double Surrogate::acquisition(std::size_t sample) const {
  const auto means = process_.means();
  const double bound = means[sample] - kappa_ * process_.deviations()[sample];
  return cost_weight_ > 0 ? bound + cost_weight_ * means[ranked_ + sample] : bound;
}

std::vector<double> Surrogate::rank(const std::vector<Sample>& samples) {
  CHECK(ready());
  const std::vector<double> values = targets();
  fit(values);
  condition(values);
  process_.predict(points(samples));
  ranked_ = samples.size();
  std::vector<double> result;
  for (std::size_t i = 0; i < ranked_; ++i) result.push_back(acquisition(i));
  return result;
}

std::vector<std::size_t> Surrogate::pick(std::size_t count, double random) {
  Numbers chosen, left(ranked_);
  std::iota(left.begin(), left.end(), 0);
  while (chosen.size() < count && !left.empty()) {
    auto next = left.begin() + static_cast<std::ptrdiff_t>(rng_.below(left.size()));
    if (rng_.uniform() >= random) next = std::ranges::min_element(left, {}, [&](auto i) { return acquisition(i); });
    chosen.push_back(*next);
    left.erase(next);
    if (chosen.size() < count) process_.expect(chosen.back());
  }
  return chosen;
}

}  // namespace deplo::search
