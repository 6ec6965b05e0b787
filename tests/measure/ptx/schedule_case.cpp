#include "measure/ptx/schedule_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/rng.h"
#include "ir/emit/emit.h"
#include "measure/protocol/problem.h"
#include "rules/lower.h"
#include "rules/programs.h"

namespace deplo::measure::ptx {
namespace {

constexpr std::array<std::int64_t, 8> whole = {8, 16, 32, 64, 64, 96, 128, 192};
constexpr std::array<std::int64_t, 10> awkward = {1, 2, 7, 13, 31, 33, 61, 100, 128, 200};
constexpr std::array targets = {"sm_80", "sm_86", "sm_89", "sm_90", "sm_90", "sm_90", "sm_100", "sm_120"};
// clang-format off
constexpr std::array products = {
    "matmul", "matmul_scale", "matmul_add", "matmul_relu", "matmul_silu", "linear", "linear_bias",
    "matmul_transposed_b",
    "batched_matmul", "gqa_scores", "gqa_values", "gate_up", "norm_matmul", "split_heads", "merge_heads", "attention",
    "attention_causal", "attention_masked", "attention_decode", "attention_parts", "conv2d_lines"};
constexpr std::array others = {
    "rmsnorm", "layernorm", "softmax", "gelu", "silu_mul", "causal_softmax", "masked_softmax", "row_sum", "row_max",
    "column_sum", "column_max", "total", "rope", "transpose", "scatter_rows", "embedding_norm", "row_scan", "scan_of_parts",
    "running_extreme"};
// clang-format on

}  // namespace

ManyCases& many_cases() {
  static ManyCases cases;
  return cases;
}

ScheduleCase random_case(std::uint64_t seed) {
  Rng rng(seed * 2654435761U + 17);
  ScheduleCase c;
  c.seed = seed;
  c.target = targets.at(rng.below(targets.size()));
  c.kernel = rng.below(4) == 0 ? others.at(rng.below(others.size())) : products.at(rng.below(products.size()));
  c.types = static_cast<int>(rng.below(3));
  c.tf32 = rng.below(2) == 0;
  c.lazy = std::array<std::uint64_t, 3>{0, 40, 80}.at(rng.below(3));
  c.eager = rng.below(3) == 0;
  if (c.eager) {
    c.target = rng.below(4) == 0 ? c.target : "sm_90";
    c.kernel = rng.below(4) == 0 ? c.kernel : "matmul";
    c.types = rng.below(5) == 0 ? 0 : 1 + static_cast<int>(rng.below(2));
    c.lazy = 90;
  }
  const bool wide = c.eager || rng.below(3) != 0;
  const double max_work = !c.eager ? 3e6 : c.types == 0 ? 10e6 : 40e6;
  do {
    for (const std::string& symbol : rules::kernel(c.kernel).symbols)
      c.symbols[symbol] = (c.eager && rng.below(2) == 0 ? 2 : 1) *
                          (wide ? whole.at(rng.below(whole.size())) : awkward.at(rng.below(awkward.size())));
  } while (ir::work(loop_of(c)).flops > max_work);
  return c;
}

std::string describe(const ScheduleCase& c) {
  std::string text = fmt::format("seed {}: {}", c.seed, c.kernel);
  for (const auto& [symbol, value] : c.symbols) text += fmt::format(" {}={}", symbol, value);
  constexpr std::array types = {"f32", "f16", "bf16"};
  return text + fmt::format(" in {}{} on {}", types.at(static_cast<std::size_t>(c.types)), c.tf32 ? " with tf32" : "",
                            c.target);
}

ir::Program loop_of(const ScheduleCase& c) {
  ir::Program program = ir::parse(rules::kernel(c.kernel).text, c.symbols, c.kernel);
  for (ir::Buffer& buffer : program.buffers)
    if (buffer.dtype == ir::DType::f32 && c.types > 0) buffer.dtype = c.types == 1 ? ir::DType::f16 : ir::DType::bf16;
  program.allow_tf32 = c.tf32;
  return program;
}

namespace {

Target target_of(const ScheduleCase& c) {
  Target target = load_target(c.target);
  if (c.eager) target.units = 2;  // the rules offer persistent blocks only if the units cannot hold the grid
  return target;
}

// Returns true for knobs that random schedules rarely reach, because other choices must fit as well.
bool is_rare(const std::string& knob) {
  constexpr std::array rare = {"blockify_launch.bm",       "blockify_launch.bn",      "multicast.blocks",
                               "specialize_warps.apply",   "cluster_matmul_k.blocks", "slice_matmul_k.slices",
                               "persistent_blocks.blocks", "double_buffer.depth",     "mma.a"};
  return std::ranges::find(rare, knob) != rare.end();
}

rules::Lowering lower(const ScheduleCase& c, const Target& target) {
  rules::Lowering lowering(loop_of(c), target);
  Rng rng(c.seed);
  while (lowering.fork()) {
    const bool first = c.seed == 0 || (rng.below(100) < c.lazy && !(c.eager && is_rare(lowering.fork()->knob)));
    lowering.choose(first ? 0 : rng.below(lowering.fork()->options.size()));
  }
  return lowering;
}

}  // namespace

std::string trail_of(const ScheduleCase& c) { return print(lower(c, target_of(c)).trail()); }

KernelCode candidate_of(const ScheduleCase& c) {
  const Target target = target_of(c);
  const rules::Lowering lowering = lower(c, target);
  KernelCode candidate{rules::materialize(lowering.program(), target), {}};
  candidate.source = ir::emit(candidate.kernel, target);
  return candidate;
}

std::string run(const ir::Program& loop, const KernelCode& candidate, Device& device) {
  Problem problem(loop, device, 1);
  problem.poison_outputs();
  auto built = device.build(candidate);
  if (!built.ok()) return "build: " + built.failure().message;
  if (const auto failed = built.value()->execute(problem.arrays(), candidate.source.blocks)) return failed->message;
  const auto failure = problem.check(Coverage::whole);
  return failure ? failure->message : "";
}

}  // namespace deplo::measure::ptx
