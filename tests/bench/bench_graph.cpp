// From a model or an expression to fused Loop IR, for a whole transformer block.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <chrono>

#include "ir/canonical/canonical.h"
#include "ir/torch/expression/expression.h"
#include "ir/torch/model.h"
#include "rules/decompose/decompose.h"
#include "rules/fusion/fuse.h"

namespace deplo {
namespace {

// A Llama block at TinyLlama's sizes, as a user would write it.
constexpr const char* block = R"(
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.n1 = nn.RMSNorm(2048)
        self.n2 = nn.RMSNorm(2048)
        self.q = nn.Linear(2048, 2048, bias=False)
        self.k = nn.Linear(2048, 256, bias=False)
        self.v = nn.Linear(2048, 256, bias=False)
        self.o = nn.Linear(2048, 2048, bias=False)
        self.gate = nn.Linear(2048, 5632, bias=False)
        self.up = nn.Linear(2048, 5632, bias=False)
        self.down = nn.Linear(5632, 2048, bias=False)
    def rope(self, x, cos, sin):
        a, b = x.chunk(2, dim=-1)
        return x * cos + torch.cat((-b, a), dim=-1) * sin
    def forward(self, x, cos, sin):
        y = self.n1(x)
        q = self.rope(self.q(y).view(1, 128, 32, 64).transpose(1, 2), cos, sin)
        k = self.rope(self.k(y).view(1, 128, 4, 64).transpose(1, 2), cos, sin)
        v = self.v(y).view(1, 128, 4, 64).transpose(1, 2)
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        x = x + self.o(a.transpose(1, 2).reshape(1, 128, 2048))
        y = self.n2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))
Block()(torch.randn(1, 128, 2048), torch.randn(128, 64), torch.randn(128, 64))
)";

void expression_to_loop(benchmark::State& state) {
  for (auto _ : state)
    benchmark::DoNotOptimize(rules::fuse(rules::compose(rules::decompose(ir::torch::parse_expression(block)))));
  state.SetLabel(fmt::format(
      "{} kernels", rules::fuse(rules::compose(rules::decompose(ir::torch::parse_expression(block)))).kernels.size()));
}
BENCHMARK(expression_to_loop)->Unit(benchmark::kMillisecond);

void model_to_loop(benchmark::State& state, const char* name) {
  const ir::torch::Model model = ir::torch::load_model(name);
  for (auto _ : state)
    benchmark::DoNotOptimize(rules::fuse(rules::compose(rules::decompose(ir::torch::build_block(model, 0, 512)))));
}
BENCHMARK_CAPTURE(model_to_loop, tinyllama, "tinyllama-1.1b")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(model_to_loop, qwen25, "qwen2.5-7b")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(model_to_loop, qwen3, "qwen3-embedding-0.6b")->Unit(benchmark::kMillisecond);

// The time of each stage: decompose, compose, fuse.
void stages(benchmark::State& state) {
  const auto graph = ir::torch::build_block(ir::torch::load_model("qwen2.5-7b"), 0, 512);
  const auto decomposed = rules::decompose(graph);
  const auto composed = rules::compose(decomposed);
  for (auto _ : state) {
    if (state.range(0) == 0) benchmark::DoNotOptimize(rules::decompose(graph));
    if (state.range(0) == 1) benchmark::DoNotOptimize(rules::compose(decomposed));
    if (state.range(0) == 2) benchmark::DoNotOptimize(rules::fuse(composed));
  }
  static constexpr const char* names[] = {"decompose", "compose", "fuse"};
  state.SetLabel(names[state.range(0)]);
}
BENCHMARK(stages)->DenseRange(0, 2)->Unit(benchmark::kMicrosecond);

// The time of both structural keys of the block's slowest kernel.
void keys(benchmark::State& state) {
  const ir::Module module = rules::fuse(
      rules::compose(rules::decompose(ir::torch::build_block(ir::torch::load_model("qwen2.5-7b"), 0, 512))));
  const auto seconds = [](const ir::Program& kernel) {
    const auto start = std::chrono::steady_clock::now();
    benchmark::DoNotOptimize(ir::structural_keys(kernel));
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  const ir::Program* slowest = &module.kernels[0];
  for (const ir::Program& kernel : module.kernels)
    if (seconds(kernel) > seconds(*slowest)) slowest = &kernel;
  for (auto _ : state) benchmark::DoNotOptimize(ir::structural_keys(*slowest));
  state.SetLabel(slowest->name);
}
BENCHMARK(keys)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace deplo

BENCHMARK_MAIN();
