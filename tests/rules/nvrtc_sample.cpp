#include "rules/nvrtc_sample.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include "core/rng.h"
#include "ir/emit/emit.h"
#include "rules/lower.h"

namespace deplo::rules {
namespace {

Lowering random_schedule(const ir::Program& loop, const Target& target, std::uint64_t seed) {
  Rng rng(seed);
  Lowering lowering(loop, target);
  while (lowering.fork()) lowering.choose(rng.below(lowering.fork()->options.size()));
  return lowering;
}

}  // namespace

NvrtcSample compile_random(const Nvrtc& nvrtc, const ir::Program& loop, const Target& target, int count,
                           std::uint64_t seed, unsigned threads) {
  NvrtcSample sample;
  std::mutex mutex;  // of the sample
  std::atomic<int> next = 0;
  const auto work = [&] {
    for (int i = next++; i < count; i = next++) {
      const Lowering lowering = random_schedule(loop, target, seed + static_cast<std::uint64_t>(i));
      const ir::KernelSource source = ir::emit(materialize(lowering.program(), target), target);
      const Compiled result = nvrtc.build(source.text, target.name);
      const std::scoped_lock lock(mutex);
      if (!result.log.empty()) sample.failures.push_back(print(lowering.trail()) + "\n" + result.log);
      sample.compiled += result.log.empty() ? 1 : 0;
      sample.spilling += result.spilled_bytes > 0 ? 1 : 0;
      sample.most_registers = std::max(sample.most_registers, result.registers);
      sample.most_shared_bytes = std::max(sample.most_shared_bytes, source.shared_bytes);
    }
  };
  std::vector<std::jthread> workers;
  for (unsigned i = 0; i < std::max(threads, 1U); ++i) workers.emplace_back(work);
  workers.clear();
  return sample;
}

}  // namespace deplo::rules
