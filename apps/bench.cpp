#include "apps/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <memory>
#include <utility>

#include "apps/bench_store.h"
#include "apps/experiment.h"
#include "apps/kernel_space.h"
#include "apps/measurer.h"
#include "apps/module_table.h"
#include "core/error.h"
#include "measure/baselines/baselines.h"
#include "measure/probe.h"

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
  if (!baseline.date.empty()) {
    baseline.ratio = baseline.time.median_us / ours.median_us;
    return;
  }
  const std::size_t rounds = std::min(baseline.time.samples.size(), ours.samples.size());
  std::vector<double> ratios;
  for (std::size_t i = 0; i < rounds; ++i) ratios.push_back(baseline.time.samples[i] / ours.samples[i]);
  baseline.ratio = measure::median(ratios);
  baseline.interval = measure::median_interval(ratios);
}

struct NamedLoop {
  std::string name;
  ir::Program loop;
  std::size_t first = 0;
};

std::vector<NamedLoop> read_loops(const BenchOptions& options) {
  std::vector<NamedLoop> loops;
  if (options.config) {
    for (KernelCase& kernel : load_experiment(*options.config).kernels) {
      const std::size_t first = loops.size();
      loops.push_back({kernel.name, std::move(kernel.loop), first});
      for (std::string& name : kernel.same) loops.push_back({std::move(name), {}, first});
    }
    return loops;
  }
  std::vector<ir::Program> programs;
  for (NumberedKernel& kernel : read_kernels(options.source)) programs.push_back(std::move(kernel.loop));
  const std::vector<std::size_t> first = first_equals(programs);
  for (std::size_t i = 0; i < programs.size(); ++i)
    loops.push_back({programs[i].name, std::move(programs[i]), first[i]});
  return loops;
}

class Bencher {
 public:
  Bencher(const BenchOptions& options, Progress& progress)
      : options_(options),
        progress_(progress),
        device_(measure::open_device(options.device)),
        target_(pick_target(options.target, device_->info(), device_->dialect(), options.device, "--target")) {}

  BenchReport run() {
    const std::vector<NamedLoop> loops = read_loops(options_);
    if (options_.store) store_.emplace(*options_.store, device_->info(), options_, protocol_.text());
    probe_.emplace(*device_, store_ ? store_->known_ceilings() : measure::Ceilings{});
    BenchReport report{device_->info().name, target_.name, options_.store.value_or(""), protocol_.text(), {}};
    for (std::size_t i = 0; i < loops.size(); ++i) {
      progress_.status(fmt::format("[{}/{}] {}", i + 1, loops.size(), loops[i].name), "timing");
      BenchKernel kernel = loops[i].first == i ? bench(loops[i]) : report.kernels[loops[i].first];
      kernel.name = loops[i].name;
      kernel.first = loops[i].first;
      report.kernels.push_back(std::move(kernel));
    }
    if (store_) store_->add_ceilings(probe_->measured());
    return report;
  }

 private:
  Prepared choose(const ir::Program& loop, BenchKernel& row) {
    const KernelSpace space(loop, target_);
    search::Candidate candidate;
    if (store_) candidate = store_->stored_best(space, target_);
    row.stored = candidate != nullptr;
    if (!candidate) candidate = search::heuristic(space);
    row.trail = print(candidate->trail());
    return prepare(candidate, target_);
  }

  BenchKernel bench(const NamedLoop& kernel) {
    BenchKernel row;
    if (store_) store_->enter(kernel.name, kernel.loop);
    const Prepared prepared = choose(kernel.loop, row);
    const auto start = std::chrono::steady_clock::now();
    auto built = device_->build(prepared.code);
    const std::chrono::duration<double, std::milli> build_time = std::chrono::steady_clock::now() - start;
    measure::Reply reply{Failure{}, {}, build_time.count()};
    if (built.ok()) {
      reply.resources = built.value()->resources();
      reply.timing = time(kernel.loop, {built.value().get(), grid_of(prepared.code.source, device_->info())}, row);
    } else {
      reply.timing = built.failure();
    }
    row.ours = bench_time(reply.timing);
    if (store_) {
      store_->add(prepared, reply);
      std::ranges::move(store_->earlier(row.baselines), std::back_inserter(row.baselines));
    }
    for (BenchBaseline& baseline : row.baselines) compare(baseline, row.ours);
    return row;
  }

  /// Ours, and in the row the libraries.
  Result<measure::Timing> time(const ir::Program& loop, const measure::Contender& ours, BenchKernel& row) {
    const measure::Baselines baselines = measure::find_baselines(loop, *device_);
    row.no_baseline = baselines.none;
    std::vector<measure::Contender> contenders{ours};
    for (const measure::Baseline& b : baselines.found)
      contenders.push_back({b.executable.get(), {}, b.precision == "tf32"});
    measure::Problem problem(loop, *device_, options_.seed, &*probe_);
    auto times = measure::confirm(contenders, problem, protocol_, {options_.seed, options_.seconds, {}});
    for (std::size_t i = 0; i < baselines.found.size(); ++i) {
      const measure::Baseline& b = baselines.found[i];
      row.baselines.push_back({b.library, b.version, b.precision, b.threads, bench_time(times[i + 1])});
      if (store_) store_->add(row.baselines.back(), times[i + 1]);
    }
    return std::move(times[0]);
  }

  const BenchOptions& options_;
  Progress& progress_;
  std::unique_ptr<measure::Device> device_;
  Target target_;
  measure::Protocol protocol_;
  std::optional<measure::Probe> probe_;
  std::optional<BenchStore> store_;
};

}  // namespace

bool BenchReport::right() const {
  return std::ranges::all_of(kernels, [](const BenchKernel& kernel) { return kernel.ours.failure.empty(); });
}

BenchReport bench_kernels(const BenchOptions& options, Progress& progress) { return Bencher(options, progress).run(); }

}  // namespace deplo::apps
