// The cost of checking a schedule: Kernel IR under the sanitizer.
#include <benchmark/benchmark.h>

#include "core/rng.h"
#include "engine/loop/kernel.h"
#include "ir/interpret/interpret.h"
#include "ir/interpret/proof.h"
#include "ir/walk.h"
#include "rules/lower.h"

namespace {

using namespace deplo;

ir::Memory random_memory(const ir::Program& program) {
  Rng rng(1);
  ir::Memory memory;
  for (const ir::Buffer& b : program.buffers) {
    std::vector<double>& values = memory[b.name];
    values.resize(static_cast<std::size_t>(span(b)));
    for (double& v : values) v = rng.uniform(-1, 1);
  }
  return memory;
}

// Returns the 64 x 64 x 64 matmul, staged and register-tiled. `fm` is the size of a thread's tile along both axes.
ir::Program tiled_matmul(const char* fm, const Target& target) {
  const ir::Program loop = engine::load_kernel("matmul", {{"M", 64}, {"N", 64}, {"K", 64}}, "bench");
  rules::Lowering lowering(loop, target);
  while (lowering.fork()) {
    const Fork& fork = *lowering.fork();
    std::size_t pick = 0;
    for (std::size_t i = 0; i < fork.options.size(); ++i)
      if (fork.knob.starts_with("register_tile.f") && fork.options[i] == Value(std::int64_t{std::stoll(fm)})) pick = i;
    lowering.choose(pick);
  }
  return rules::materialize(lowering.program(), target);
}

void sanitize_matmul(benchmark::State& state, const char* fm) {
  const Target target = load_target("sm_90");
  const ir::Program kernel = tiled_matmul(fm, target);
  std::size_t shared = 0;
  for_each(kernel.body, [&](const ir::Stmt& s) { shared += s.as<ir::Smem>() != nullptr; });
  if (shared != 2) return state.SkipWithError("the operands are not staged");
  const ir::Memory memory = random_memory(kernel);
  for (auto _ : state) {
    ir::Memory copy = memory;
    ir::interpret(kernel, copy, ir::Limits{.shared_bytes = target.shared_bytes});
    benchmark::DoNotOptimize(copy);
  }
}
BENCHMARK_CAPTURE(sanitize_matmul, fm_1, "1")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(sanitize_matmul, fm_4, "4")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(sanitize_matmul, fm_8, "8")->Unit(benchmark::kMillisecond);

// The same matmul in Loop IR: the reference that schedules are compared with.
void interpret_loop(benchmark::State& state) {
  const ir::Program loop = engine::load_kernel("matmul", {{"M", 64}, {"N", 64}, {"K", 64}}, "bench");
  const ir::Memory memory = random_memory(loop);
  for (auto _ : state) {
    ir::Memory copy = memory;
    ir::interpret(loop, copy);
    benchmark::DoNotOptimize(copy);
  }
}
BENCHMARK(interpret_loop)->Unit(benchmark::kMillisecond);

// The same matmul in exact arithmetic (docs/proofs.md), which takes at most three times as long as in doubles.
void prove_matmul(benchmark::State& state) {
  const ir::Program loop = engine::load_kernel("matmul", {{"M", 64}, {"N", 64}, {"K", 64}}, "bench");
  const Target target = load_target("sm_90");
  const ir::Program kernel = tiled_matmul("4", target);
  const ir::Proof proof(loop, random_memory(loop), 1);
  for (auto _ : state) benchmark::DoNotOptimize(proof.difference(kernel));
}
BENCHMARK(prove_matmul)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
