// The cost of running candidates in another process: everything but builds and launches, which take no time on a fake
// device. The target is less than 2 ms per candidate.
#include <benchmark/benchmark.h>

#include <memory>

#include "engine/compile/compiled.h"
#include "ir/emit/emit.h"
#include "measure/faulty.h"
#include "measure/worker/local_runner.h"
#include "measure/worker/worker_runner.h"

namespace {

using namespace deplo;
using namespace deplo::measure;
using namespace deplo::measure::worker;

/// Returns the source and the Kernel IR of a large matmul's schedule, for a device that copies 1000 numbers whatever
/// the source says.
KernelCode large_candidate() {
  const Target target = load_target("sm_90");
  const ir::Program loop = ir::parse(
      "=== loop: matmul ===\ninput a: f32[512, 3584]\ninput b: f32[3584, 3584]\noutput c: f32[512, 3584]\n"
      "for a0 in 0..512: # free\n  for a1 in 0..3584: # free\n    for a2 in 0..3584: # reduce\n"
      "      in0 = load a[a0, a2]\n      in1 = load b[a2, a1]\n      v0 = multiply(in0, in1)\n      acc0 <- add(acc0, "
      "v0)\n"
      "    c[a0, a1] = acc0\n");
  KernelCode candidate = engine::compile(rules::heuristic(loop, target)).code;
  candidate.source.text = "fault none launch\n" + candidate.source.text;
  return candidate;
}

template <class Make>
void screen(benchmark::State& state, const KernelCode& candidate, Make make) {
  auto bench = make();
  bench->open(copy_task());
  for (auto _ : state) benchmark::DoNotOptimize(bench->screen(candidate, 10, 1));
  state.counters["source KB"] = static_cast<double>(candidate.source.text.size()) * 1e-3;
  state.counters["kernel KB"] = static_cast<double>(print(candidate.kernel).size()) * 1e-3;
}

std::unique_ptr<Runner> here() { return std::make_unique<LocalRunner>(open_faulty()); }
std::unique_ptr<Runner> in_a_worker() {
  return std::make_unique<WorkerRunner>(WorkerRunner::Options{faulty_worker(), {}, {}});
}

void SmallHere(benchmark::State& state) { screen(state, faulty_candidate("none"), here); }
void SmallInAWorker(benchmark::State& state) { screen(state, faulty_candidate("none"), in_a_worker); }
void LargeHere(benchmark::State& state) { screen(state, large_candidate(), here); }
void LargeInAWorker(benchmark::State& state) { screen(state, large_candidate(), in_a_worker); }
void Replaced(benchmark::State& state) {
  const auto bench = in_a_worker();
  bench->open(copy_task());
  for (auto _ : state) benchmark::DoNotOptimize(bench->screen(faulty_candidate("segfault"), 10, 1));
}
BENCHMARK(SmallHere)->UseRealTime();
BENCHMARK(SmallInAWorker)->UseRealTime();
BENCHMARK(LargeHere)->UseRealTime();
BENCHMARK(LargeInAWorker)->UseRealTime();
BENCHMARK(Replaced)->UseRealTime();

}  // namespace

int main(int argc, char** argv) {
  if (const int code = run_as_worker(argc, argv); code >= 0) return code;
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
