// One executable that has no contender: the samples of a confirmation.
#include <vector>

#include "measure/protocol/interval.h"
#include "measure/protocol/sampling.h"

namespace deplo::measure {

Result<Timing> time_alone(Executable& executable, OperandSets& sets, Device& device, const Protocol& protocol) {
  Sampler sampler(device, protocol.confirm_clock);
  const auto first = executable.launch(sets[0], 1);
  if (!first.ok()) return first.failure();
  if (auto noop = check_time(first.value())) return *noop;
  Timing timing;
  timing.fidelity = 1;
  timing.sets = static_cast<int>(sets.size());
  timing.batch = batch_size(protocol.confirm_sample_us, first.value(), protocol, sets);
  if (auto failure = sampler.wake(executable, sets, 1, timing.batch)) return *failure;
  std::vector<double> clocks, warm;
  for (int i = -1; i < protocol.rounds; ++i) {
    auto taken = sampler.take(executable, sets, 1, timing.batch);
    if (!taken.ok()) return taken.failure();
    const auto& [sample, rejected] = taken.value();
    if (i < 0) {  // discarded: it says how many launches a sample has
      timing.batch = batch_size(protocol.confirm_sample_us, sample.us, protocol, sets);
      continue;
    }
    timing.samples.push_back(sample.us);
    timing.rejected.insert(timing.rejected.end(), rejected.begin(), rejected.end());
    clocks.push_back(sample.clock_mhz);
  }
  timing.median_us = timing.warm_us = median(timing.samples);
  timing.clock_mhz = median(clocks);
  for (int i = 0; i < protocol.warm_samples && sets.size() > 1; ++i) {
    const auto taken = sampler.take_warm(executable, sets, 1, timing.batch);
    if (!taken.ok()) return taken.failure();
    warm.push_back(taken.value().sample.us);
  }
  if (!warm.empty()) timing.warm_us = median(warm);
  return timing;
}

}  // namespace deplo::measure
