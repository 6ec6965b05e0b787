// The cost of a candidate in the framework, without building and running it: a simulated device takes no time of its
// own. The target is 2 ms. Each candidate is a new random schedule of a matmul for sm_90.
#include <benchmark/benchmark.h>

#include <filesystem>
#include <limits>
#include <string>

#include "core/hash.h"
#include "core/rng.h"
#include "ir/emit/emit.h"
#include "measure/protocol/sampling.h"
#include "measure/simulated.h"
#include "measure/store/store.h"
#include "rules/lower.h"

namespace {

using namespace deplo;

ir::Program matmul() {
  return ir::parse(
      "=== loop: matmul ===\n"
      "input a: f32[128, 256]\n"
      "input b: f32[256, 128]\n"
      "output c: f32[128, 128]\n"
      "for a0 in 0..128: # free\n"
      "  for a1 in 0..128: # free\n"
      "    for a2 in 0..256: # reduce\n"
      "      in0 = load a[a0, a2]\n"
      "      in1 = load b[a2, a1]\n"
      "      v0 = multiply(in0, in1)\n"
      "      acc0 <- add(acc0, v0)\n"
      "    c[a0, a1] = acc0\n");
}

/// Returns a time from 50 to 500 µs that depends on the source text.
double model_us(const measure::KernelCode& candidate) {
  return 50 * (1 + static_cast<double>(std::hash<std::string>()(candidate.source.text) % 10));
}

/// The framework's part of a tuning: a space, a problem, a device, a store.
class Tuning {
 public:
  Tuning() {
    remove();
    store_ = std::make_unique<measure::Store>(measure::Store::open(file_));
    trial_.run = store_->add_run({store_->add_device(device_.info()), "", "", "random", 0, ""});
    trial_.kernel = store_->add_kernel({"matmul", print(loop_)});
    trial_.status = Status::ok;
    trial_.timing.median_us = 1;
    trial_.protocol = protocol_.text();
    screen(generate());  // computes the reference and the device's outputs, once for all candidates
  }
  ~Tuning() {
    store_.reset();
    remove();
  }
  Tuning(const Tuning&) = delete;
  Tuning& operator=(const Tuning&) = delete;

  /// Takes a random walk through the rules, and returns the kernel with its source text.
  measure::KernelCode generate() {
    rules::Lowering lowering(loop_, target_);
    Rng rng(seed_++);
    while (lowering.fork()) lowering.choose(rng.below(lowering.fork()->options.size()));
    measure::KernelCode candidate{rules::materialize(lowering.program(), target_), {}};
    candidate.source = emit(candidate.kernel, target_);
    trial_.digest = digest(candidate.source.text);
    trial_.trail = print(lowering.trail());
    return candidate;
  }

  /// Runs the measuring protocol, with the checks of outputs.
  void screen(const measure::KernelCode& candidate) {
    const auto built = device_.build(candidate);
    const auto grid = measure::grid_of(candidate.source, device_.info());
    const auto timing = measure::screen(*built.value(), grid, problem_, protocol_, best_us_);
    if (!timing.ok()) return;  // too slow: abandoned before it could be checked
    best_us_ = std::min(best_us_, timing.value().median_us);
    trial_.timing.samples = timing.value().samples;
  }
  void append() { store_->append(trial_); }

 private:
  void remove() {
    for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(file_ + suffix);
  }
  std::string file_ = (std::filesystem::temp_directory_path() / "deplo_bench_measure.db").string();
  ir::Program loop_ = matmul();
  Target target_ = load_target("sm_90");
  measure::SimulatedDevice device_{loop_, model_us, {.noise = 0.02}, 1};
  measure::Problem problem_{loop_, device_, 1};
  measure::Protocol protocol_;
  std::unique_ptr<measure::Store> store_;
  measure::TrialRecord trial_;
  std::uint64_t seed_ = 1;
  double best_us_ = std::numeric_limits<double>::infinity();
};

void lower_and_emit(benchmark::State& state) {
  Tuning tuning;
  for (auto _ : state) benchmark::DoNotOptimize(tuning.generate());
}
BENCHMARK(lower_and_emit)->Unit(benchmark::kMicrosecond)->UseRealTime();

void screen(benchmark::State& state) {
  Tuning tuning;
  const measure::KernelCode candidate = tuning.generate();
  for (auto _ : state) tuning.screen(candidate);
}
BENCHMARK(screen)->Unit(benchmark::kMicrosecond)->UseRealTime();

void store(benchmark::State& state) {
  Tuning tuning;
  tuning.screen(tuning.generate());
  for (auto _ : state) tuning.append();
}
BENCHMARK(store)->Unit(benchmark::kMicrosecond)->UseRealTime();

void whole_candidate(benchmark::State& state) {
  Tuning tuning;
  for (auto _ : state) {
    tuning.screen(tuning.generate());
    tuning.append();
  }
}
BENCHMARK(whole_candidate)->Unit(benchmark::kMicrosecond)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
