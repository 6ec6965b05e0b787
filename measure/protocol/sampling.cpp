#include "measure/protocol/sampling.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>

#include "measure/protocol/energy.h"
#include "measure/protocol/interval.h"
#include "measure/protocol/stopping.h"

namespace deplo::measure {
namespace {

/// Times the first launches of a kernel with two clocks: the device's for the kernel, the host's for everything else
/// (extra_ms).
struct FirstLaunches {
  Executable& executable;
  Arrays& arrays;
  double extra_ms = 0;
  int count = 0;

  Result<double> launch(std::int64_t blocks) {
    const auto start = std::chrono::steady_clock::now();
    auto time = executable.launch(arrays, blocks);
    const std::chrono::duration<double, std::milli> wall = std::chrono::steady_clock::now() - start;
    if (!time.ok()) return time;
    if (auto noop = check_time(time.value())) return *noop;
    extra_ms += std::max(wall.count() - time.value() * 1e-3, 0.0);
    ++count;
    return time;
  }
};

/// The result of the warm-up: how many blocks a screening launch runs, and about how long that takes.
struct Launched {
  std::int64_t blocks = 1;
  double us = 0;
  bool hopeless = false;
  bool warmed_up = false;  // the last launch was not the kernel's first
};

/// Launches a growing prefix of the grid until it is the whole grid, takes about full_run_ms, or is hopeless.
Result<Launched> warm_up(FirstLaunches& first, const Grid& grid, const Protocol& protocol, double best_us) {
  constexpr std::int64_t probe_waves = 2;  // enough to see the throughput, a small part of a long run
  constexpr double growth = 1.5;           // a prefix is long enough if it would grow by less than this factor
  Launched launched{std::min(grid.blocks, probe_waves * grid.wave)};
  const double limit_us = protocol.full_run_ms * 1e3;
  for (;;) {
    auto time = first.launch(launched.blocks);
    if (!time.ok()) return time.failure();
    launched.us = time.value();
    if (launched.blocks == grid.blocks) return launched;
    const auto full_us = [&] {
      return launched.us * static_cast<double>(grid.blocks) / static_cast<double>(launched.blocks);
    };
    const auto hopeless = [&] { return full_us() > std::max(protocol.slow * best_us, protocol.slow_us); };
    if (hopeless()) {  // the first launch of a kernel is often slower, so its second decides
      time = first.launch(launched.blocks);
      if (!time.ok()) return time.failure();
      launched.us = std::min(launched.us, time.value());
      launched.hopeless = hopeless();
      if (launched.hopeless) return launched;
    }
    auto next = grid.blocks;
    if (full_us() > limit_us) {
      next = static_cast<std::int64_t>(limit_us / launched.us * static_cast<double>(launched.blocks));
      next = next / grid.wave * grid.wave;  // whole waves: a partial one takes as long as a full one
      if (static_cast<double>(next) < growth * static_cast<double>(launched.blocks)) return launched;
    }
    launched.blocks = std::min(next, grid.blocks);
  }
}

/// Checks the outputs of the last launch. If blocks add to the outputs, only a launch of the whole grid can be checked.
/// That launch is made here, unless the candidate is hopeless.
std::optional<Failure> verify(FirstLaunches& first, const Grid& grid, const Launched& launched, Problem& problem) {
  if (launched.blocks == grid.blocks) return problem.check(Coverage::whole);
  if (!grid.adds) return problem.check(Coverage::prefix);
  if (launched.hopeless)
    return Failure{Status::slow, fmt::format("{:.4g} µs for {} of {} blocks, not checked", launched.us, launched.blocks,
                                             grid.blocks)};
  if (const auto time = first.launch(grid.blocks); !time.ok()) return time.failure();
  return problem.check(Coverage::whole);
}

/// Fills in the times. If a sample is one launch, the warm-up's last launch is the discarded sample.
std::optional<Failure> take_samples(Executable& executable, Problem& problem, const Protocol& protocol,
                                    const Launched& launched, double best_us, Timing& timing) {
  Sampler& sampler = problem.screening(protocol.screen_clock);
  ScreenRule rule(protocol, best_us);
  timing.batch = batch_size(protocol.sample_us, launched.us, protocol, problem.sets());
  if (auto failure = sampler.wake(executable, problem.sets(), launched.blocks, timing.batch)) return failure;
  bool discard = timing.batch > 1 || !launched.warmed_up;
  if (!discard) rule.add(launched.us / timing.fidelity);
  std::vector<double> clocks;
  while (!rule.done()) {
    auto taken = sampler.take(executable, problem.sets(), launched.blocks, timing.batch);
    if (!taken.ok()) return taken.failure();
    const auto& [sample, rejected] = taken.value();
    for (const double us : rejected) timing.rejected.push_back(us / timing.fidelity);
    // An outlier must not end the screening: it ends only if the warm-up's last launch was as slow.
    rule.add((discard ? std::min(sample.us, launched.us) : sample.us) / timing.fidelity);
    clocks.push_back(sample.clock_mhz);
    if (std::exchange(discard, false))
      timing.batch = batch_size(protocol.sample_us, sample.us, protocol, problem.sets());
  }
  timing.samples = rule.samples();
  timing.median_us = rule.value();
  timing.stopped = rule.stopped();
  timing.clock_mhz = clocks.empty() ? 0 : median(clocks);
  return std::nullopt;
}

/// Launches and checks again. Fails with nondeterministic if the bits differ, unless blocks add to outputs. (After a
/// prefix of such a grid nothing can be checked; the confirmation checks the candidate.)
std::optional<Failure> check_again(Executable& executable, const Grid& grid, std::int64_t blocks, Problem& problem) {
  if (grid.adds && blocks != grid.blocks) return std::nullopt;
  const std::uint64_t bits = problem.checked_bits();
  problem.poison_outputs();
  if (const auto time = executable.launch(problem.arrays(), blocks); !time.ok()) return time.failure();
  if (auto wrong = problem.check(blocks == grid.blocks ? Coverage::whole : Coverage::prefix)) return wrong;
  if (grid.adds || problem.checked_bits() == bits) return std::nullopt;
  return Failure{Status::nondeterministic, "two runs on the same inputs gave different bits"};
}

}  // namespace

Grid grid_of(const ir::KernelSource& source, const DeviceInfo& device) {
  // A GPU's multiprocessor holds up to 2048 threads and 32 blocks (CUDA; other vendors hold about as much); a CPU's
  // core runs one block at a time.
  const std::int64_t per_unit = device.cpu ? 1 : std::clamp<std::int64_t>(2048 / source.threads, 1, 32);
  const std::int64_t wave = std::max<std::int64_t>(device.units, 1) * per_unit;
  const bool adds = !source.zeroed.empty() || !source.restored.empty();
  return {source.blocks, (wave + source.cluster - 1) / source.cluster * source.cluster, adds};
}

int batch_size(double sample_us, double launch_us, const Protocol& protocol, const OperandSets& sets) {
  const auto batch = static_cast<int>(std::clamp(sample_us / launch_us, 1.0, static_cast<double>(protocol.max_batch)));
  const auto all = static_cast<int>(sets.size());
  if (sets.on_cpu() || launch_us * all > protocol.full_run_ms * 1e3) return batch;
  return std::max(batch / all, 1) * all;
}

std::vector<std::size_t> finalists(std::span<const double> us, const Protocol& protocol) {
  std::vector<std::size_t> order(us.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return us[a] < us[b]; });
  // A shared machine may take twice the time for the same kernel, but not more. In a round, a slower candidate would
  // take more time than all others together.
  constexpr double usual_hopeless = 2;
  const double hopeless = std::max(usual_hopeless, protocol.finalist_margin);
  const auto in = [&](std::size_t rank) {
    if (us[order[rank]] > hopeless * us[order[0]]) return false;
    if (rank < static_cast<std::size_t>(protocol.finalists)) return true;
    return rank < static_cast<std::size_t>(protocol.max_finalists) &&
           us[order[rank]] <= protocol.finalist_margin * us[order[0]];
  };
  std::size_t count = 0;
  while (count < order.size() && in(count)) ++count;
  order.resize(count);
  return order;
}

Result<Timing> screen(Executable& executable, const Grid& grid, Problem& problem, const Protocol& protocol,
                      double best_us, EnergyCounter* energy) {
  problem.poison_outputs();
  FirstLaunches first{executable, problem.arrays()};
  const auto warm = warm_up(first, grid, protocol, best_us);
  if (!warm.ok()) return warm.failure();
  Launched launched = warm.value();
  launched.warmed_up = first.count > 1;
  if (auto wrong = verify(first, grid, launched, problem)) return *wrong;

  Timing timing;
  timing.first_launch_ms = first.extra_ms;
  timing.fidelity = static_cast<double>(launched.blocks) / static_cast<double>(grid.blocks);
  timing.sets = static_cast<int>(problem.sets().size());
  if (launched.hopeless) {
    timing.samples = {launched.us / timing.fidelity};
    timing.median_us = timing.samples.front();
    timing.stopped = true;
    return timing;
  }
  if (auto failure = take_samples(executable, problem, protocol, launched, best_us, timing)) return *failure;
  if (timing.stopped) return timing;
  if (auto wrong = check_again(executable, grid, launched.blocks, problem)) return *wrong;
  if (timing.fidelity == 1)
    if (auto gate = problem.implausible(timing.median_us, timing.batch, protocol.plausible)) return *gate;
  if (energy != nullptr) {
    const auto of_launch =
        energy_of_launch(executable, problem.sets(), launched.blocks, timing.median_us * timing.fidelity, *energy);
    if (!of_launch.ok()) return of_launch.failure();
    timing.energy_mj = of_launch.value() / timing.fidelity;
  }
  return timing;
}

}  // namespace deplo::measure
