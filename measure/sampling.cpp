#include "measure/sampling.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace deplo::measure {
namespace {

/// One launch with both clocks: the device's says how long the kernel took, ours what else the first launch did.
struct FirstLaunches {
  Executable& executable;
  Arrays& arrays;
  double extra_ms = 0;

  Result<double> launch(std::int64_t blocks) {
    const auto start = std::chrono::steady_clock::now();
    auto time = executable.launch(arrays, blocks);
    const std::chrono::duration<double, std::milli> wall = std::chrono::steady_clock::now() - start;
    if (!time.ok()) return time;
    if (!std::isfinite(time.value()) || time.value() <= 0)
      return Failure{Status::implausible, fmt::format("a launch of {} blocks took {} µs", blocks, time.value())};
    extra_ms += std::max(wall.count() - time.value() * 1e-3, 0.0);
    return time;
  }
};

/// What the warm-up decides: how many blocks a screening launch runs, and about how long that takes.
struct Extent {
  std::int64_t blocks = 1;
  double us = 0;
  bool hopeless = false;
};

/// Launches a growing prefix of the grid until it is the whole, or takes as long as a full run may, or is hopeless.
Result<Extent> warm_up(FirstLaunches& first, const Grid& grid, const Protocol& protocol, double best_us) {
  constexpr std::int64_t probe_waves = 2;  // enough to see the throughput, a small part of a long run
  constexpr double growth = 1.5;           // a prefix that would not grow by this is long enough
  Extent extent{std::min(grid.blocks, probe_waves * grid.wave)};
  const double limit_us = protocol.full_run_ms * 1e3;
  for (;;) {
    auto time = first.launch(extent.blocks);
    if (!time.ok()) return time.failure();
    extent.us = time.value();
    if (extent.blocks == grid.blocks) return extent;
    const auto full_us = [&] {
      return extent.us * static_cast<double>(grid.blocks) / static_cast<double>(extent.blocks);
    };
    const auto hopeless = [&] { return full_us() > std::max(protocol.slow * best_us, protocol.slow_us); };
    if (hopeless()) {  // the first launch of a kernel is often slower: judge it by its second
      time = first.launch(extent.blocks);
      if (!time.ok()) return time.failure();
      extent.us = std::min(extent.us, time.value());
      extent.hopeless = hopeless();
      if (extent.hopeless) return extent;
    }
    auto next = grid.blocks;
    if (full_us() > limit_us) {
      next = static_cast<std::int64_t>(limit_us / extent.us * static_cast<double>(extent.blocks));
      next = next / grid.wave * grid.wave;  // whole waves: a started one would count as a full one
      if (static_cast<double>(next) < growth * static_cast<double>(extent.blocks)) return extent;
    }
    extent.blocks = std::min(next, grid.blocks);
  }
}

/// Compares what the last launch left. Where blocks add to the outputs that says something after a whole run only: one
/// is made for it, unless the candidate is too slow to be of interest.
std::optional<Failure> verify(FirstLaunches& first, const Grid& grid, const Extent& extent, Problem& problem) {
  if (extent.blocks == grid.blocks) return problem.check(Coverage::whole);
  if (!grid.adds) return problem.check(Coverage::prefix);
  if (extent.hopeless) return problem.check(Coverage::partial_sums);
  if (const auto time = first.launch(grid.blocks); !time.ok()) return time.failure();
  return problem.check(Coverage::whole);
}

}  // namespace

std::string Protocol::text() const {
  return fmt::format(
      "v1 device-events warm-operands samples={} sample_us={} confirm_us={} batch={} stop={} full_ms={} slow={}x{}us "
      "rounds={}",
      samples, sample_us, confirm_sample_us, max_batch, early_stop, full_run_ms, slow, slow_us, rounds);
}

Grid grid_of(const ir::KernelSource& source, const DeviceInfo& device) {
  // A GPU's multiprocessor holds up to 2048 threads and 32 blocks (CUDA; other vendors hold about as much); a CPU's
  // core runs one block at a time.
  const std::int64_t per_unit = device.cpu ? 1 : std::clamp<std::int64_t>(2048 / source.threads, 1, 32);
  return {source.blocks, std::max<std::int64_t>(device.units, 1) * per_unit, !source.zeroed.empty()};
}

int batch_size(double sample_us, double launch_us, const Protocol& protocol) {
  if (!(launch_us > 0)) return 1;  // implausible: the sample will say so
  return static_cast<int>(std::clamp(sample_us / launch_us, 1.0, static_cast<double>(protocol.max_batch)));
}

Result<double> sample(Executable& executable, Arrays& arrays, std::int64_t blocks, int batch) {
  double sum = 0;
  for (int i = 0; i < batch; ++i) {
    const auto time = executable.launch(arrays, blocks);
    if (!time.ok()) return time;
    sum += time.value();
  }
  const double mean = sum / batch;
  if (!std::isfinite(mean) || mean <= 0)
    return Failure{Status::implausible, fmt::format("a sample of {} launches took {} µs each", batch, mean)};
  return mean;
}

double median(std::vector<double> values) {
  CHECK(!values.empty());
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

Result<Timing> screen(Executable& executable, const Grid& grid, Problem& problem, const Protocol& protocol,
                      double best_us) {
  problem.poison_outputs();
  FirstLaunches first{executable, problem.arrays()};
  const auto extent = warm_up(first, grid, protocol, best_us);
  if (!extent.ok()) return extent.failure();
  if (auto wrong = verify(first, grid, extent.value(), problem)) return *wrong;

  const std::int64_t blocks = extent.value().blocks;
  Timing timing;
  timing.first_launch_ms = first.extra_ms;
  timing.fidelity = static_cast<double>(blocks) / static_cast<double>(grid.blocks);
  timing.batch = batch_size(protocol.sample_us, extent.value().us, protocol);
  double fastest = std::numeric_limits<double>::infinity();
  for (int i = 0; i < protocol.samples; ++i) {
    const auto time = sample(executable, problem.arrays(), blocks, timing.batch);
    if (!time.ok()) return time.failure();
    timing.samples.push_back(time.value() / timing.fidelity);
    fastest = std::min(fastest, timing.samples.back());
    if (fastest > protocol.early_stop * best_us) break;
  }
  timing.median_us = median(timing.samples);
  return timing;
}

}  // namespace deplo::measure
