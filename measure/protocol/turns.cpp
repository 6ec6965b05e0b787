// Times executables in turns with the samples of a confirmation. The caller checks their outputs.
#include <optional>
#include <utility>
#include <vector>

#include "core/mapped.h"
#include "measure/protocol/interval.h"
#include "measure/protocol/sampling.h"

namespace deplo::measure {
namespace {

class Turn {
 public:
  Turn(Executable& executable, OperandSets& sets, Sampler& sampler, const Protocol& protocol)
      : executable_(executable), sets_(sets), sampler_(sampler), protocol_(protocol) {
    timing_.fidelity = 1;
    timing_.sets = static_cast<int>(sets.size());
  }

  /// Determines the number of launches per sample, from one launch and a first sample. Both times are discarded.
  void begin() {
    const auto first = executable_.launch(sets_[0], 1);
    if (!first.ok()) return fail(first.failure());
    if (auto noop = check_time(first.value())) return fail(*noop);
    timing_.batch = batch_size(protocol_.confirm_sample_us, first.value(), protocol_, sets_);
    if (auto failure = sampler_.wake(executable_, sets_, 1, timing_.batch)) return fail(*failure);
    if (const auto us = sample()) timing_.batch = batch_size(protocol_.confirm_sample_us, *us, protocol_, sets_);
  }

  void take() {
    if (const auto us = sample()) timing_.samples.push_back(*us);
  }

  void take_warm() {
    if (failure_) return;
    const auto taken = sampler_.take_warm(executable_, sets_, 1, timing_.batch);
    if (!taken.ok()) return fail(taken.failure());
    warm_.push_back(taken.value().sample.us);
  }

  Result<Timing> result() {
    if (failure_) return *failure_;
    timing_.median_us = timing_.warm_us = median(timing_.samples);
    timing_.clock_mhz = median(clocks_);
    if (!warm_.empty()) timing_.warm_us = median(warm_);
    return std::move(timing_);
  }

 private:
  void fail(Failure failure) { failure_ = std::move(failure); }

  std::optional<double> sample() {
    if (failure_) return std::nullopt;
    auto taken = sampler_.take(executable_, sets_, 1, timing_.batch);
    if (!taken.ok()) {
      fail(taken.failure());
      return std::nullopt;
    }
    const auto& [sample, rejected] = taken.value();
    timing_.rejected.insert(timing_.rejected.end(), rejected.begin(), rejected.end());
    clocks_.push_back(sample.clock_mhz);
    return sample.us;
  }

  Executable& executable_;
  OperandSets& sets_;
  Sampler& sampler_;
  const Protocol& protocol_;
  Timing timing_;
  std::optional<Failure> failure_;
  std::vector<double> clocks_, warm_;
};

}  // namespace

std::vector<Result<Timing>> time_in_turns(std::span<Executable* const> executables, OperandSets& sets, Device& device,
                                          const Protocol& protocol) {
  Sampler sampler(device, protocol.confirm_clock);
  std::vector<Turn> turns;
  for (Executable* const executable : executables) turns.emplace_back(*executable, sets, sampler, protocol);
  for (Turn& turn : turns) turn.begin();
  for (int i = 0; i < protocol.rounds; ++i)
    for (Turn& turn : turns) turn.take();
  for (int i = 0; i < protocol.warm_samples && sets.size() > 1; ++i)
    for (Turn& turn : turns) turn.take_warm();
  return mapped(turns, &Turn::result);
}

}  // namespace deplo::measure
