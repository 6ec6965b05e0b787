#include "bench/tuned.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "core/rng.h"
#include "engine/compile/compiled.h"
#include "engine/tune/board.h"
#include "engine/tune/measurer.h"
#include "engine/tune/open_runner.h"
#include "engine/tune/tune_kernel.h"
#include "rules/lower.h"

namespace deplo::bench {
namespace {

std::string search(const engine::KernelCase& kernel, const SearchFlags& flags) {
  const std::string file = "/tmp/bench." + std::to_string(getpid()) + ".db";
  measure::Store store = measure::Store::open(file);
  const auto bench = engine::open_runner("opencl", /*in_process=*/true, {}, {});
  engine::Session session{*bench, store, measure::target_of(bench->info()), {}};
  session.device_id = store.add_device(bench->info());
  session.run_id = store.add_run({session.device_id, "", "", flags.strategy, 0, ""});
  engine::Experiment experiment;
  experiment.strategy = flags.strategy;
  experiment.trials = experiment.patience = flags.trials;
  constexpr double long_enough = 3600;  // seconds; the number of trials ends the search
  Progress progress(stderr, true);
  engine::Narrator narrator{progress, kernel.name, engine::now() + long_enough, [](const engine::Row&) {}};
  engine::Prospect prospect;
  const engine::Row row =
      tune_kernel(kernel, experiment, {long_enough, long_enough, flags.trials}, session, narrator, prospect);
  for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(file + suffix);
  return row.trail;
}

std::vector<float> random_values(std::size_t count, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(rng.uniform(-1, 1));
  return values;
}

}  // namespace

SearchFlags take_search_flags(int& argc, char** argv) {
  SearchFlags flags;
  int kept = 1;
  const auto value = [](const char* arg, const char* flag) {
    const std::size_t length = std::strlen(flag);
    return std::strncmp(arg, flag, length) == 0 ? arg + length : nullptr;
  };
  for (int i = 1; i < argc; ++i) {
    if (const char* schedule = value(argv[i], "--schedule="))
      flags.schedule = schedule;
    else if (const char* trials = value(argv[i], "--trials="))
      flags.trials = std::atoll(trials);
    else if (const char* strategy = value(argv[i], "--search="))
      flags.strategy = strategy;
    else
      argv[kept++] = argv[i];
  }
  argc = kept;
  return flags;
}

Tuned::Tuned(const engine::KernelCase& kernel, const SearchFlags& flags) : device_(measure::open_device("opencl")) {
  const Target target = measure::target_of(device_->info());
  trail_ = flags.schedule.empty() ? search(kernel, flags) : flags.schedule;
  candidate_ = engine::compile(rules::follow(kernel.loop, target, parse_trail(trail_)).value_or_throw()).code;
  executable_ = device_->build(candidate_).value_or_throw();
  arrays_ = device_->allocate(kernel.loop.buffers);
  for (std::size_t i = 0; i < kernel.loop.buffers.size(); ++i) {
    const ir::Buffer& buffer = kernel.loop.buffers[i];
    if (buffer.role != ir::Role::input) continue;
    inputs_.resize(i + 1);
    inputs_[i] = random_values(static_cast<std::size_t>(span(buffer)), i + 1);
    arrays_->write(i, inputs_[i]);
  }
}

void Tuned::launch() { CHECK(executable_->launch(*arrays_, candidate_.source.blocks).ok()); }

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

double host_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace deplo::bench
