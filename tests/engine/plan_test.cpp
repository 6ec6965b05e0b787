#include "engine/compile/plan.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/rng.h"
#include "drawn_seeds.h"
#include "engine/source/graph.h"
#include "engine/source/source.h"
#include "rules/cost/resources.h"
#include "rules/lower.h"

namespace deplo::engine {
namespace {

using Kind = ir::Tensor::Kind;

void add_tensor(ir::Module& module, Kind kind, const std::string& name, std::int64_t elements) {
  module.tensors.push_back({kind, name, {ir::DType::f32, {elements}}, {}, "", {}});
}

// Adds a kernel of which only the buffers matter here.
void add_kernel(ir::Module& module, const std::vector<std::string>& reads, const std::string& result,
                const std::vector<std::string>& other_results = {}) {
  ir::Program kernel;
  kernel.name = result;
  const auto add = [&](const std::string& name, ir::Role role) {
    const ir::Shape shape = module.find(name)->type.shape;
    kernel.buffers.push_back({name, ir::DType::f32, role, shape, {1}});
  };
  for (const std::string& name : reads) add(name, ir::Role::input);
  for (const std::string& name : other_results) add(name, ir::Role::output);
  add(result, ir::Role::output);
  module.kernels.push_back(std::move(kernel));
}

// Returns the chain t0 → t1 → … → t(n-1), whose tensors have the same size.
ir::Module chain(int length) {
  ir::Module module;
  add_tensor(module, Kind::input, "x", 100);
  std::string before = "x";
  for (int i = 0; i < length; ++i) {
    const std::string name = "t" + std::to_string(i);
    add_tensor(module, Kind::computed, name, 100);
    add_kernel(module, {before}, name);
    before = name;
  }
  module.outputs = {before};
  return module;
}

TEST(Plan, AChainNeedsTwoIntermediates) {
  const Plan plan = plan_buffers(chain(10));
  EXPECT_EQ(plan.slots, (std::vector<std::int64_t>(4, 400))) << "input, output, and two that take turns";
  EXPECT_NE(plan.placement.at("t3"), plan.placement.at("t4")) << "read while the other is written";
  EXPECT_EQ(plan.placement.at("t3"), plan.placement.at("t5"));
}

TEST(Plan, BestFitAndGrowth) {
  ir::Module module;
  add_tensor(module, Kind::input, "x", 1);
  for (const auto& [name, elements] :
       {std::pair{"large", 1000}, {"small", 10}, {"sum", 1}, {"ten", 9}, {"huge", 2000}, {"end", 1}})
    add_tensor(module, Kind::computed, name, elements);
  add_kernel(module, {"x"}, "large");
  add_kernel(module, {"x"}, "small");
  add_kernel(module, {"large", "small"}, "sum");
  add_kernel(module, {"sum"}, "ten");          // fits where small was
  add_kernel(module, {"ten", "sum"}, "huge");  // grows where large was
  add_kernel(module, {"huge"}, "end");
  module.outputs = {"end"};
  const Plan plan = plan_buffers(module);
  EXPECT_EQ(plan.placement.at("ten"), plan.placement.at("small"));
  EXPECT_EQ(plan.placement.at("huge"), plan.placement.at("large"));
  EXPECT_EQ(plan.slots[plan.placement.at("huge").buffer], 8000);
  EXPECT_DOUBLE_EQ(plan.bytes(), 4 + 4 + 8000 + 40 + 4);
}

TEST(Plan, OutputsAndInputsShareNothing) {
  ir::Module module = chain(6);
  module.outputs = {"t1", "x", "t5", "t1"};
  const Plan plan = plan_buffers(module);
  for (const std::string kept : {"x", "t1", "t5"})
    for (const auto& [name, place] : plan.placement)
      EXPECT_EQ(place == plan.placement.at(kept), name == kept) << name << " and " << kept;
}

TEST(Plan, PartsLieInTheirWholeFromTheFirstToTheLast) {
  ir::Module module;
  add_tensor(module, Kind::input, "x", 64);
  for (const char* name : {"between", "late"}) add_tensor(module, Kind::computed, name, 256);
  add_tensor(module, Kind::computed, "whole", 256);
  for (const auto& [name, of, offset] :
       {std::tuple{"first", "whole", 0}, {"second", "whole", 512}, {"slice", "second", 128}}) {
    add_tensor(module, Kind::computed, name, 32);
    module.tensors.back().part_of = of;
    module.tensors.back().offset = offset;
  }
  add_kernel(module, {"x"}, "first");
  add_kernel(module, {"first"}, "between");
  add_kernel(module, {"between"}, "second");
  add_kernel(module, {"slice"}, "late");
  module.outputs = {"late"};
  const Plan plan = plan_buffers(module);
  const std::size_t slot = plan.placement.at("whole").buffer;
  EXPECT_EQ(plan.placement.at("first"), (measure::Place{slot, 0}));
  EXPECT_EQ(plan.placement.at("second"), (measure::Place{slot, 512}));
  EXPECT_EQ(plan.placement.at("slice"), (measure::Place{slot, 640}));
  EXPECT_EQ(plan.slots[slot], 1024);
  EXPECT_NE(plan.placement.at("between").buffer, slot);
}

TEST(Plan, SlotsAreWholeWords) {
  EXPECT_EQ(slot_bytes({ir::DType::boolean, {5}}), 8);
  EXPECT_EQ(slot_bytes({ir::DType::boolean, {}}), 4);
  EXPECT_EQ(slot_bytes({ir::DType::i32, {3, 5}}), 60);
}

ir::Module random_module(Rng& rng) {
  ir::Module module;
  std::vector<std::string> names;
  const auto add = [&](Kind kind) {
    names.push_back("t" + std::to_string(names.size()));
    add_tensor(module, kind, names.back(), 1 + static_cast<std::int64_t>(rng.below(1000)));
  };
  for (std::uint64_t i = 0, n = 1 + rng.below(3); i < n; ++i) add(rng.below(2) == 0 ? Kind::input : Kind::parameter);
  for (std::uint64_t i = 0, n = 1 + rng.below(20); i < n; ++i) {
    std::vector<std::string> reads;
    for (std::uint64_t r = 0, m = rng.below(4); r < m; ++r) {
      const std::string& name = names[rng.below(names.size())];
      if (std::ranges::find(reads, name) == reads.end()) reads.push_back(name);
    }
    std::vector<std::string> others;
    for (; rng.below(4) == 0; others.push_back(names.back())) add(Kind::computed);
    add(Kind::computed);
    add_kernel(module, reads, names.back(), others);
  }
  for (std::uint64_t i = 0, n = 1 + rng.below(3); i < n; ++i) module.outputs.push_back(names[rng.below(names.size())]);
  return module;
}

// Runs the kernels on slots that remember which tensor they hold: whatever is read must still be there.
void expect_values_survive(const ir::Module& module, const Plan& plan) {
  std::vector<std::string> holds(plan.slots.size());
  for (const ir::Tensor& tensor : module.tensors)
    if (tensor.kind != Kind::computed) holds[plan.placement.at(tensor.name).buffer] = tensor.name;
  for (const ir::Program& kernel : module.kernels) {
    for (const ir::Buffer& buffer : kernel.buffers)  // outputs are written while other buffers are read
      if (buffer.role == ir::Role::output) holds[plan.placement.at(buffer.name).buffer] = buffer.name;
    for (const ir::Buffer& buffer : kernel.buffers)
      EXPECT_EQ(holds[plan.placement.at(buffer.name).buffer], buffer.name);
  }
  for (const std::string& output : module.outputs) EXPECT_EQ(holds[plan.placement.at(output).buffer], output);
}

TEST(Plan, NothingAliveIsOverwritten) {
  for (const std::uint64_t seed : drawn_seeds(500)) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const ir::Module module = random_module(rng);
    const Plan plan = plan_buffers(module);
    expect_values_survive(module, plan);
    double sum = 0;
    for (const ir::Tensor& tensor : module.tensors) {
      sum += static_cast<double>(slot_bytes(tensor.type));
      if (plan.placement.contains(tensor.name)) {
        EXPECT_GE(plan.slots[plan.placement.at(tensor.name).buffer], slot_bytes(tensor.type));
      }
    }
    EXPECT_LE(plan.bytes(), sum);
    if (::testing::Test::HasFailure()) return;
  }
}

// Returns a projection and its attention, for this many tokens.
ir::Module attention(int tokens, const char* form) {
  const std::string text = fmt::format(
      "h = nn.Linear(64, 192)(torch.randn(1, {0}, 64)).reshape(1, {0}, 3, 4, 16).permute(2, 0, 3, 1, 4)\n"
      "F.scaled_dot_product_attention(h[0], h[1], h[2], is_causal=True).transpose(1, 2).reshape(1, {0}, 64)",
      tokens);
  Passes passes;
  passes.fixed = {{"attention", form}};
  return lower_by_trail(read_graph({Expression{text, "-c"}}), passes, {}).value().module;
}

// Returns the bytes of all buffers except those of inputs, parameters and outputs.
double intermediate_bytes(const ir::Module& module) {
  double bytes = plan_buffers(module).bytes();
  for (const ir::Tensor& tensor : module.tensors)
    if (tensor.kind != Kind::computed || std::ranges::count(module.outputs, tensor.name) > 0)
      bytes -= static_cast<double>(slot_bytes(tensor.type));
  return bytes;
}

// The projection is in memory, the scores are not.
TEST(Plan, AttentionInOneKernelTakesMemoryInProportionToItsLength) {
  for (const int tokens : {512, 1024, 2048}) {
    const double one = intermediate_bytes(attention(tokens, "fused"));
    EXPECT_EQ(one, tokens * 192.0 * 4);
    EXPECT_EQ(intermediate_bytes(attention(2 * tokens, "fused")), 2 * one);
    EXPECT_GE(intermediate_bytes(attention(tokens, "split")), 4.0 * tokens * tokens * 4);  // 4 heads
  }
}

TEST(Plan, ABlockOfAnAttentionTakesNoMoreSharedMemoryForMoreKeys) {
  for (const char* name : {"opencl-cpu", "sm_80", "sm_90"}) {
    const Target target = load_target(name);
    const auto shared = [&](int tokens) {
      const std::string text =
          fmt::format("q = torch.randn(4, {}, 64); F.scaled_dot_product_attention(q, q, q)", tokens);
      const ir::Module module =
          lower_by_trail(read_graph({Expression{text, "-c"}}), {.fixed = {{"attention", "fused"}}}, {}).value().module;
      return rules::shared_bytes(rules::heuristic(module.kernels.at(0), target).program(), target);
    };
    EXPECT_GT(shared(1024), 0) << name;
    EXPECT_EQ(shared(1024), shared(4096)) << name;
  }
}

}  // namespace
}  // namespace deplo::engine
