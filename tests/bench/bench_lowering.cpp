// The cost of a candidate before it is built: lowering from Loop IR to source text, and the searcher's own work.
#include <benchmark/benchmark.h>

#include "core/rng.h"
#include "engine/compile/kernel_space.h"
#include "engine/loop/kernel.h"
#include "ir/emit/emit.h"
#include "rules/cost/features.h"
#include "rules/lower.h"
#include "search/searcher.h"

namespace {

using namespace deplo;

ir::Program linear() { return engine::load_kernel("matmul", {{"M", 512}, {"N", 3584}, {"K", 3584}}, "bench"); }

// Linear(3584, 3584) at M = 512, with options[0] at every fork, from Loop IR to CUDA text.
void lower_to_cuda(benchmark::State& state) {
  const ir::Program loop = linear();
  const Target target = load_target("sm_90");
  for (auto _ : state) {
    const rules::Lowering lowering = rules::heuristic(loop, target);
    benchmark::DoNotOptimize(emit(rules::materialize(lowering.program(), target), target).text);
  }
}
BENCHMARK(lower_to_cuda)->Unit(benchmark::kMicrosecond);

// The same over random schedules: the average cost in a search.
void lower_random(benchmark::State& state) {
  const ir::Program loop = linear();
  const Target target = load_target("sm_90");
  Rng rng(1);
  for (auto _ : state) {
    rules::Lowering lowering(loop, target);
    while (lowering.fork()) lowering.choose(rng.below(lowering.fork()->options.size()));
    benchmark::DoNotOptimize(emit(rules::materialize(lowering.program(), target), target).text);
  }
}
BENCHMARK(lower_random)->Unit(benchmark::kMicrosecond);

// The features of a candidate, which are known before it is built, over 64 random schedules. state.range(0) chooses the
// target.
void features(benchmark::State& state) {
  const Target target = load_target(state.range(0) == 0 ? "opencl-cpu" : "sm_90");
  const ir::Program loop = linear();
  Rng rng(1);
  std::vector<rules::Lowering> candidates;
  while (candidates.size() < 64) {
    rules::Lowering lowering(loop, target);
    while (lowering.fork()) lowering.choose(rng.below(lowering.fork()->options.size()));
    candidates.push_back(lowering);
  }
  std::size_t next = 0;
  for (auto _ : state) benchmark::DoNotOptimize(rules::features(candidates[next++ % 64].program(), target));
}
BENCHMARK(features)->Arg(0)->Arg(1)->Unit(benchmark::kMicrosecond);

// One ask and one tell on the kernel's space. The rules run inside, once per new position.
void ask_and_tell(benchmark::State& state) {
  const engine::KernelSpace space(linear(), load_target("sm_90"));
  auto searcher = search::make_searcher("mcts", space, {.parameters = {{"share", "0"}, {"c", "0.5"}}});
  Rng rng(1);
  for (auto _ : state) {
    const auto asked = searcher->ask(1);
    if (asked.empty()) return state.SkipWithError("exhausted");
    searcher->tell(asked[0], {Status::ok, rng.uniform(100, 1000), ""});
  }
}
BENCHMARK(ask_and_tell)->Unit(benchmark::kMicrosecond)->Iterations(1000);

}  // namespace

BENCHMARK_MAIN();
