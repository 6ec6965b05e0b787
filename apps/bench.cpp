#include "apps/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <span>
#include <utility>

#include "apps/kernel_space.h"
#include "apps/measurer.h"
#include "apps/module_table.h"
#include "core/error.h"
#include "measure/baselines/baselines.h"
#include "measure/probe.h"
#include "measure/store.h"

namespace deplo::apps {
namespace {

BenchTime bench_time(const Result<measure::Timing>& result) {
  if (!result.ok())
    return {fmt::format("{}: {}", status_name(result.failure().status), result.failure().message), 0, 0, 1, 1, {}};
  const measure::Timing& t = result.value();
  return {"", t.median_us, t.warm_us, t.batch, t.sets, t.samples};
}

void compare(BenchBaseline& baseline, const BenchTime& ours) {
  if (!baseline.time.failure.empty() || !ours.failure.empty()) return;
  const std::size_t rounds = std::min(baseline.time.samples.size(), ours.samples.size());
  std::vector<double> ratios;
  for (std::size_t i = 0; i < rounds; ++i) ratios.push_back(baseline.time.samples[i] / ours.samples[i]);
  baseline.ratio = measure::median(ratios);
  baseline.interval = measure::median_interval(ratios);
}

class Bencher {
 public:
  Bencher(const BenchOptions& options, Progress& progress)
      : options_(options),
        progress_(progress),
        device_(measure::open_device(options.device)),
        target_(pick_target(options.target, device_->info(), device_->dialect(), options.device, "--target")) {
    if (options.store) open_store(*options.store);
  }

  BenchReport run() {
    std::vector<ir::Program> loops;
    for (NumberedKernel& kernel : read_kernels(options_.source)) loops.push_back(std::move(kernel.loop));
    probe_.emplace(*device_);
    const std::vector<std::size_t> first = first_equals(loops);
    BenchReport report{device_->info().name, target_.name, options_.store.value_or(""), protocol_.text(), {}};
    for (std::size_t i = 0; i < loops.size(); ++i) {
      progress_.status(fmt::format("[{}/{}] {}", i + 1, loops.size(), loops[i].name), "timing");
      BenchKernel kernel = first[i] == i ? bench(loops[i]) : report.kernels[first[i]];
      kernel.name = loops[i].name;
      kernel.first = first[i];
      report.kernels.push_back(std::move(kernel));
    }
    return report;
  }

 private:
  void open_store(const std::string& file) {
    std::error_code error;
    if (!std::filesystem::exists(file, error))
      throw Error(fmt::format("--tuned: expected the store of an earlier `deplo tune`, found no file '{}'", file));
    store_ = measure::Store::open(file);
    device_id_ = store_->add_device(device_->info());
  }

  Prepared choose(const ir::Program& loop, BenchKernel& row) {
    const KernelSpace space(loop, target_);
    search::Candidate candidate;
    if (store_) {
      const std::int64_t kernel = store_->add_kernel({loop.name, print(loop)});
      candidate = stored_best(*store_, kernel, device_id_, space, target_);
    }
    row.stored = candidate != nullptr;
    if (!candidate) candidate = search::heuristic(space);
    row.trail = print(candidate->trail());
    return prepare(candidate, target_);
  }

  BenchKernel bench(const ir::Program& loop) {
    BenchKernel row;
    const Prepared prepared = choose(loop, row);
    auto built = device_->build(prepared.code);
    if (!built.ok()) {
      row.ours.failure = fmt::format("{}: {}", status_name(built.failure().status), built.failure().message);
      return row;
    }
    const measure::Baselines baselines = measure::find_baselines(loop, *device_);
    row.no_baseline = baselines.none;
    std::vector<measure::Contender> contenders{
        {built.value().get(), measure::grid_of(prepared.code.source, device_->info())}};
    for (const measure::Baseline& b : baselines.found) contenders.push_back({b.executable.get(), {}});
    measure::Problem problem(loop, *device_, options_.seed, &*probe_);
    const auto times = measure::confirm(contenders, problem, protocol_, {options_.seed, options_.seconds, {}});
    row.ours = bench_time(times[0]);
    for (std::size_t i = 0; i < baselines.found.size(); ++i) {
      const measure::Baseline& b = baselines.found[i];
      row.baselines.push_back({b.library, b.version, b.precision, b.threads, bench_time(times[i + 1])});
      compare(row.baselines.back(), row.ours);
    }
    return row;
  }

  const BenchOptions& options_;
  Progress& progress_;
  std::unique_ptr<measure::Device> device_;
  Target target_;
  measure::Protocol protocol_;
  std::optional<measure::Probe> probe_;
  std::optional<measure::Store> store_;
  std::int64_t device_id_ = 0;
};

}  // namespace

bool BenchReport::right() const {
  return std::ranges::all_of(kernels, [](const BenchKernel& kernel) { return kernel.ours.failure.empty(); });
}

BenchReport bench_kernels(const BenchOptions& options, Progress& progress) {
  check_source(options.source);
  return Bencher(options, progress).run();
}

}  // namespace deplo::apps
