// The speed of the PTX machine: instructions of threads per second, on one core.
#include <benchmark/benchmark.h>

#include "engine/loop/kernel.h"
#include "ir/emit/emit.h"
#include "measure/cuda/compiler/compile.h"
#include "measure/ptx/kernel.h"
#include "rules/lower.h"

namespace {

using namespace deplo;

// A matmul of 256 x 256 x 256 with the heuristic's schedule.
void matmul(benchmark::State& state, const char* architecture, ir::DType dtype) {
  if (!measure::cuda::Nvrtc::available()) return state.SkipWithError("no NVRTC");
  ir::Program loop = engine::load_kernel("matmul", {{"M", 256}, {"N", 256}, {"K", 256}}, "bench");
  for (ir::Buffer& buffer : loop.buffers) buffer.dtype = dtype;
  const Target target = load_target(architecture);
  rules::Lowering lowering(loop, target);
  while (lowering.fork()) lowering.choose(0);
  const ir::Program program = rules::materialize(lowering.program(), target);
  const ir::KernelSource source = ir::emit(program, target);
  const measure::ptx::Kernel kernel(measure::cuda::compile_ptx(source, architecture, {.lines = true}).value(), source,
                                    program.buffers);
  const measure::HostArrays arrays(program.buffers);
  std::int64_t instructions = 0;
  for (auto _ : state) instructions += kernel.launch(arrays, source.blocks, 0).instructions;
  state.counters["instructions"] = benchmark::Counter(static_cast<double>(instructions), benchmark::Counter::kIsRate);
}
BENCHMARK_CAPTURE(matmul, f32_sm_80, "sm_80", ir::DType::f32)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(matmul, f32_sm_90, "sm_90", ir::DType::f32)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(matmul, bf16_sm_80, "sm_80", ir::DType::bf16)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(matmul, bf16_sm_90, "sm_90", ir::DType::bf16)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
