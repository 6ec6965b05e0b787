#include "measure/protocol/sampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "measure/protocol/interval.h"
#include "measure/protocol/warm_up.h"

namespace deplo::measure {
namespace {

constexpr std::size_t window = 32;  // samples whose median clock is the usual one; about two rounds of a confirmation
constexpr std::size_t min_samples = 5;  // with fewer samples, no clock counts as low
constexpr int rejects_before_rest = 3, max_rests = 2;
constexpr double first_rest_ms = 50, rest_growth = 1.5, longest_rest_ms = 500;

}  // namespace

std::optional<Failure> check_time(double us) {
  if (std::isfinite(us) && us > 0) return std::nullopt;
  return Failure{Status::noop, fmt::format("a launch took {} µs", us)};
}

Result<Sampler::Taken> Sampler::take(Executable& executable, OperandSets& sets, std::int64_t blocks, int batch) {
  return settle([&] { return executable.sample(sets.next(batch), blocks, batch); });
}

Result<Sampler::Taken> Sampler::take_warm(Executable& executable, OperandSets& sets, std::int64_t blocks, int batch) {
  return settle([&] { return executable.sample(sets.warm(), blocks, batch); });
}

Result<Sampler::Taken> Sampler::watch(Executable& executable, Arrays& arrays, std::int64_t blocks) {
  Arrays* const set = &arrays;
  return settle([&] {
    auto sample = executable.sample({&set, 1}, blocks, 1);
    if (sample.ok() && sample.value().clock_mhz == 0) sample.value().clock_mhz = 1 / sample.value().us;
    return sample;
  });
}

std::optional<Failure> Sampler::wake(Executable& executable, OperandSets& sets, std::int64_t blocks, int batch) {
  constexpr std::chrono::milliseconds idle{20};
  if (device_.info().cpu || std::chrono::steady_clock::now() - last_ < idle) return std::nullopt;
  WarmUp warm_up(static_cast<double>(device_.info().clock_mhz), woken_mhz_);
  while (!warm_up.done()) {
    const auto sample = executable.sample(sets.next(batch), blocks, batch);
    if (!sample.ok()) return sample.failure();
    if (auto noop = check_time(sample.value().us)) return noop;
    warm_up.add(sample.value().us * batch, sample.value().clock_mhz);
  }
  woken_mhz_ = warm_up.mhz();
  return std::nullopt;
}

Result<Sampler::Taken> Sampler::settle(const Draw& draw) {
  std::vector<double> rejected;
  for (int rejects = 0;; ++rejects) {
    auto sample = draw();
    last_ = std::chrono::steady_clock::now();
    if (!sample.ok()) return sample.failure();
    if (auto noop = check_time(sample.value().us)) return *noop;
    const bool low = is_low(sample.value().clock_mhz);
    if (!low) rest_ms_ = 0;
    if (!low || rejects == rejects_before_rest * max_rests) return Taken{sample.value(), std::move(rejected)};
    rejected.push_back(sample.value().us);
    if ((rejects + 1) % rejects_before_rest == 0) rest();
  }
}

bool Sampler::is_low(double clock_mhz) {
  if (clock_mhz <= 0) return false;  // not known
  const bool low = clocks_.size() >= min_samples && clock_mhz < least_clock_ * median({clocks_.begin(), clocks_.end()});
  clocks_.push_back(clock_mhz);
  if (clocks_.size() > window) clocks_.pop_front();
  return low;
}

void Sampler::rest() {
  rest_ms_ = rest_ms_ == 0 ? first_rest_ms : std::min(rest_ms_ * rest_growth, longest_rest_ms);
  device_.pause(rest_ms_);
}

}  // namespace deplo::measure
