#include "measure/worker/local_runner.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "measure/worker/redirected_output.h"
#include "rules/cost/least_work.h"

namespace deplo::measure::worker {
namespace {

/// An executable that reports each step before it takes it. After a failure that spoils the process, it launches
/// nothing more.
class Watched final : public Executable {
 public:
  Watched(Executable& inner, const LocalRunner::Enter& enter, std::size_t number, bool& spoilt)
      : inner_(inner), enter_(enter), number_(number), spoilt_(spoilt) {}

  Result<double> launch(Arrays& arrays, std::int64_t blocks) override {
    return run(Step::launch, [&] { return inner_.launch(arrays, blocks); });
  }
  Result<Sample> sample(std::span<Arrays* const> sets, std::int64_t blocks, int batch) override {
    return run(Step::sample, [&] { return inner_.sample(sets, blocks, batch); });
  }
  std::optional<Failure> repeat(std::span<Arrays* const> sets, std::int64_t blocks, int batch,
                                const std::function<void()>& meanwhile) override {
    const auto done = run(Step::sample, [&]() -> Result<bool> {
      if (auto failure = inner_.repeat(sets, blocks, batch, meanwhile)) return *failure;
      return true;
    });
    return done.ok() ? std::nullopt : std::optional(done.failure());
  }
  const Resources& resources() const override { return inner_.resources(); }

 private:
  template <class F>
  auto run(Step step, F work) -> decltype(work()) {
    if (spoilt_) return Failure{Status::device_lost, "a candidate before this one spoilt the process"};
    enter_(step, number_);
    auto result = work();
    enter_(Step::check, number_);  // between launches the outputs are checked
    if (!result.ok()) spoilt_ = spoils_process(result.failure().status);
    return result;
  }

  Executable& inner_;
  const LocalRunner::Enter& enter_;
  std::size_t number_;
  bool& spoilt_;
};

/// Returns true if the rate of memory may bound the kernel's speed. It does not if the last-level cache may hold all
/// data of a batch.
bool depends_on_memory(const Task& task, const DeviceInfo& info) {
  constexpr double little = 1 << 20;  // bytes; they take 10 µs at 100 GB/s, a bound that a tuner does not need
  const double bytes = rules::least_work(task.loop).bytes;
  return bytes > std::min(little, rules::cached_bytes(info.l2_bytes, task.protocol.max_batch));
}

}  // namespace

bool spoils_process(Status status) {
  return status == Status::illegal_access || status == Status::hang || status == Status::guard_hit ||
         status == Status::device_lost;
}

/// The reply so far, and the executable: itself, and watched. Both are null if the build failed.
struct LocalRunner::Built {
  Reply reply;
  std::unique_ptr<Executable> itself = nullptr, executable = nullptr;

  /// Returns the reply after the launches, with resources that only the launches may have revealed.
  Reply measured() && {
    if (itself) reply.resources = itself->resources();
    return std::move(reply);
  }
};

LocalRunner::LocalRunner(std::unique_ptr<Device> device, Enter enter)
    : device_(std::move(device)), enter_(std::move(enter)) {}

std::string LocalRunner::why_no_energy() {
  try {
    device_->energy();
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

// What kernels print goes to standard error, because standard output may be a document of the program.
void LocalRunner::open(const Task& task) {
  const RedirectedOutput printed(STDERR_FILENO);
  enter_(Step::prepare, 0);
  problem_.reset();  // first, because the next one needs its memory
  baselines_ = {};
  libraries_ = {};
  energy_ = nullptr;
  protocol_ = task.protocol;
  if (!probe_) probe_ = std::make_unique<Probe>(*device_, task.known);
  try {
    if (task.memory_rates || depends_on_memory(task, device_->info())) probe_->include_memory();
    problem_ = std::make_unique<Problem>(task.loop, *device_, task.seed, probe_.get(), task.protocol.tolerance,
                                         task.files, task.expected);
    problem_->reference();  // now, so that its time does not count as a candidate's
    if (task.libraries) find_libraries(task);
    if (task.energy) energy_ = &device_->energy();
  } catch (const Error& error) {
    problem_.reset();
    throw Untunable(error);
  }
}

void LocalRunner::find_libraries(const Task& task) {
  baselines_ = find_baselines(task.loop, *device_, task.tile);
  libraries_.none = baselines_.none;
  for (const Baseline& b : baselines_.found) libraries_.found.push_back({b.library, b.version, b.precision, b.threads});
}

LocalRunner::Built LocalRunner::build(const KernelCode& candidate, std::size_t number) {
  enter_(Step::build, number);
  const double start = monotonic_now();
  auto built = device_->build(candidate);
  const double build_ms = (monotonic_now() - start) * 1e3;
  if (!built.ok()) return {{built.failure(), {}, build_ms}};
  auto watched = std::make_unique<Watched>(*built.value(), enter_, number, spoilt_);
  return {{Failure{}, built.value()->resources(), build_ms}, std::move(built.value()), std::move(watched)};
}

Reply LocalRunner::screen(const KernelCode& candidate, double best_us, double effort) {
  const RedirectedOutput printed(STDERR_FILENO);
  CHECK(problem_ != nullptr);
  spoilt_ = false;
  Built built = build(candidate, 0);
  if (built.executable)
    built.reply.timing = measure::screen(*built.executable, grid_of(candidate.source, info()), *problem_,
                                         protocol_.with_effort(effort), best_us, energy_);
  return std::move(built).measured();
}

std::vector<Reply> LocalRunner::confirm(std::span<const KernelCode> candidates, const ConfirmOptions& options) {
  const RedirectedOutput printed(STDERR_FILENO);
  CHECK(problem_ != nullptr);
  spoilt_ = false;
  std::vector<Built> all;
  std::vector<Contender> contenders;
  for (const KernelCode& candidate : candidates) {
    Built& built = all.emplace_back(build(candidate, all.size()));
    if (built.executable) contenders.push_back({built.executable.get(), grid_of(candidate.source, info())});
  }
  std::vector<std::unique_ptr<Watched>> watched;
  for (const Baseline& b : baselines_.found) {
    watched.push_back(std::make_unique<Watched>(*b.executable, enter_, all.size() + watched.size(), spoilt_));
    contenders.push_back({watched.back().get(), {}, b.precision == "tf32"});
  }
  ConfirmOptions with_energy = options;
  with_energy.energy = energy_;
  auto results = measure::confirm(contenders, *problem_, protocol_, with_energy);
  auto result = results.begin();
  std::vector<Reply> replies;
  for (Built& built : all) {
    if (built.executable) built.reply.timing = std::move(*result++);
    replies.push_back(std::move(built).measured());
  }
  for (; result != results.end(); ++result) replies.push_back({std::move(*result)});
  return replies;
}

}  // namespace deplo::measure::worker
