// Tests joins of many tensors and the steps of recurrences: which tensors are computed in place, and which kernels
// become equal.
#include "rules/fusion/stacks.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "core/rng.h"
#include "drawn_seeds.h"
#include "ir/canonical/canonical.h"
#include "ir/torch/expression/expression.h"
#include "rules/decompose/decompose.h"
#include "rules/fusion/run_module.h"

namespace deplo::rules::stacks_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

FuseOptions options(const char* target = "opencl-cpu") { return {.target = load_target(target)}; }

ir::Module fused(const std::string& code) {
  return fuse(compose(decompose(ir::torch::parse_expression(code))), options());
}

std::string difference(const std::string& code, std::uint64_t seed = 1) {
  return fused_difference(ir::torch::parse_expression(code), seed, options());
}

std::size_t distinct_kernels(const ir::Module& module) {
  std::set<std::string> texts;
  for (const ir::Program& kernel : module.kernels) texts.insert(print(ir::canonical(kernel).program));
  return texts.size();
}

std::vector<std::string> parts_of(const ir::Module& module, const std::string& whole) {
  std::vector<std::string> parts;
  for (const ir::Tensor& tensor : module.tensors)
    if (tensor.part_of == whole) parts.push_back(fmt::format("{} {}", tensor.name, tensor.offset));
  return parts;
}

std::size_t max_buffers(const ir::Module& module) {
  std::size_t most = 0;
  for (const ir::Program& kernel : module.kernels) most = std::max(most, kernel.buffers.size());
  return most;
}

TEST(Stacks, TheOutputsOfStepsLieInTheirStack) {
  const ir::Module module = fused("nn.RNN(8, 32)(torch.randn(10, 2, 8))[0]");
  ASSERT_EQ(module.outputs.size(), 1U);
  const std::vector<std::string> parts = parts_of(module, module.outputs[0]);
  ASSERT_EQ(parts.size(), 10U);
  EXPECT_THAT(parts[9], HasSubstr(fmt::format(" {}", 9 * 2 * 32 * 4)));
  for (const ir::Program& kernel : module.kernels) EXPECT_EQ(kernel.find(module.outputs[0]), nullptr) << print(kernel);
}

TEST(Stacks, TheStepsOfARecurrenceAreFewKernels) {
  for (const char* network : {"nn.LSTM(8, 32, 2)", "nn.GRU(8, 32, 2)", "nn.RNN(8, 32, 2)"}) {
    const std::size_t few = distinct_kernels(fused(fmt::format("{}(torch.randn(16, 2, 8))", network)));
    EXPECT_EQ(distinct_kernels(fused(fmt::format("{}(torch.randn(64, 2, 8))", network))), few) << network;
    EXPECT_LE(few, 16U) << network;
  }
}

TEST(Stacks, StatesOfAnySizeBeginWhereADeviceCanReadThem) {
  const std::size_t few = distinct_kernels(fused("nn.LSTM(8, 20)(torch.randn(16, 3, 8))"));
  EXPECT_EQ(distinct_kernels(fused("nn.LSTM(8, 20)(torch.randn(64, 3, 8))")), few);
  EXPECT_EQ(difference("nn.GRU(8, 7)(torch.randn(12, 8))"), "") << "a sequence without a batch";
}

TEST(Stacks, RecurrencesMeanTheSame) {
  for (const char* network :
       {"nn.LSTM(8, 32)", "nn.GRU(8, 32)", "nn.RNN(8, 32)", "nn.LSTM(8, 32, 2, bidirectional=True)",
        "nn.GRU(8, 32, 2, batch_first=True)", "nn.LSTM(8, 7)"})
    EXPECT_EQ(difference(fmt::format("{}(torch.randn(11, 4, 8))", network)), "") << network;
}

TEST(Stacks, StepsOfAUsersLoopAreFewKernels) {
  const auto code = [](int steps) {
    return fmt::format(
        "x = torch.randn(2, {}, 32); w = torch.randn(32, 32); u = torch.randn(32, 32); h = torch.zeros(2, 32); hs = "
        "[]\n"
        "for t in range({}):\n"
        "  h = torch.tanh(x[:, t] @ w + h @ u); hs.append(h)\n"
        "torch.stack(hs, 1)",
        steps, steps);
  };
  EXPECT_EQ(difference(code(12)), "");
  EXPECT_EQ(distinct_kernels(fused(code(40))), distinct_kernels(fused(code(80))));
}

TEST(Stacks, StepsThatAnotherDimensionJoinsAreStackedFirst) {
  const std::string code = "torch.stack([torch.randn(3, 32).exp() for i in range(40)], 1)";
  const ir::Module module = fused(code);
  EXPECT_EQ(module.kernels.size(), 41U);
  EXPECT_EQ(max_buffers(module), 2U);
  EXPECT_EQ(difference(code), "");
  EXPECT_EQ(difference("torch.stack([torch.randn(2, 1, 3, 32).exp() for i in range(12)], 2).sum(1)"), "");
}

TEST(Stacks, APieceThatIsAnOutputIsCopied) {
  const ir::Module module = fused("y = [torch.randn(32).exp() for i in range(10)]; (torch.cat(y), y[3])");
  EXPECT_THAT(parts_of(module, module.outputs[0]), IsEmpty());
  EXPECT_EQ(difference("y = [torch.randn(32).exp() for i in range(10)]; (torch.cat(y), y[3])"), "");
}

TEST(Stacks, PiecesThatBeginElsewhereAreCopied) {
  const std::string unaligned = "torch.cat([torch.randn(30).exp() for i in range(10)])";
  const ir::Module module = fused(unaligned);
  EXPECT_THAT(parts_of(module, module.outputs[0]), IsEmpty());
  EXPECT_EQ(difference(unaligned), "");
}

TEST(Stacks, FewPiecesStayOneKernel) {
  EXPECT_EQ(fused("torch.cat([torch.randn(32), torch.randn(32)]).exp()").kernels.size(), 1U);
}

TEST(Stacks, KernelsHaveFewArgumentsHoweverManyTensorsAreJoined) {
  const std::string code = "torch.cat([torch.randn(3, 5).exp() for i in range(200)], 1)";
  EXPECT_LE(max_buffers(fused(code)), 33U);
  EXPECT_EQ(difference(code), "");
  EXPECT_EQ(difference("torch.stack([torch.randn(3, 5) for i in range(1100)], 1)[:, 7:1050] + 1"), "");
}

// The scan of a state-space model. The kernels that compute the outputs of the steps, and the kernel that reads their
// stack, all walk rows of channels, but must stay separate.
TEST(Stacks, NoKernelReadsAStackWhosePartsItWrites) {
  const std::string code =
      "x = torch.randn(12, 64); a = torch.randn(64, 8); b = torch.randn(12, 8); c = torch.randn(12, 8, 1)\n"
      "h = torch.zeros(64, 8); ys = []\n"
      "for t in range(12):\n"
      "  h = torch.exp(a * x[t].unsqueeze(1)) * h + x[t].unsqueeze(1) * b[t]; ys.append((h @ c[t]).squeeze(1))\n"
      "(torch.stack(ys, 1) + x.T) * torch.sigmoid(x.T)";
  const ir::Module module = fused(code);
  std::size_t parts = 0;
  for (const ir::Tensor& part : module.tensors) {
    if (part.part_of.empty()) continue;
    ++parts;
    for (const ir::Program& kernel : module.kernels)
      EXPECT_FALSE(kernel.find(part.name) != nullptr && kernel.find(part.part_of) != nullptr) << print(kernel);
  }
  EXPECT_EQ(parts, 12U);
  EXPECT_EQ(difference(code), "");
}

TEST(Stacks, ASliceOfManyReadsOne) {
  const ir::Module module = fused("torch.stack([torch.randn(32).exp() for i in range(20)])[7]");
  EXPECT_EQ(module.kernels.size(), 1U) << print(module);
}

TEST(Stacks, KernelsOfTheSameSliceOrOfFewStepsKeepTheirText) {
  const ir::Module module = fused("x = torch.randn(4, 32); (x[0].exp(), x[1].exp(), x[2].exp())");
  for (const ir::Tensor& tensor : module.tensors) EXPECT_EQ(tensor.part_of, "");
}

/// Returns code that joins at least 9 tensors along a random dimension. The tensors are given or computed, some occur
/// twice, and their shapes may have extents of 1.
std::string drawn(Rng& rng) {
  const std::size_t rank = 1 + rng.below(3), dim = rng.below(rank);
  constexpr int extents[] = {1, 2, 3, 32, 64};
  std::vector<int> shape(rank);
  for (int& extent : shape) extent = extents[rng.below(std::size(extents))];
  const bool equal = rng.below(2) == 0;
  std::string list;
  for (std::uint64_t i = 0, n = 9 + rng.below(60); i < n; ++i) {
    if (!equal) shape[dim] = extents[rng.below(std::size(extents))];
    const std::string tensor = fmt::format("torch.randn({})", fmt::join(shape, ", "));
    list += fmt::format("y.append({}{})\n", tensor, rng.below(8) == 0 ? "" : ".exp()");
    if (rng.below(16) == 0) list += fmt::format("y.append(y[{}])\n", i / 2);
  }
  const std::string joined = fmt::format("torch.{}(y, {})", equal && rng.below(2) == 0 ? "stack" : "cat", dim);
  constexpr const char* readers[] = {"", " * 2", ".sum(0)", ".transpose(0, -1)", "[1:]"};
  return fmt::format("y = []\n{}{}{}", list, joined, readers[rng.below(std::size(readers))]);
}

TEST(Stacks, DrawnJoinsMeanTheSame) {
  for (const std::uint64_t seed : drawn_seeds(40)) {
    Rng rng(seed);
    const std::string code = drawn(rng);
    ASSERT_EQ(difference(code, seed), "") << "seed " << seed << "\n" << code;
  }
}

TEST(Stacks, PartsBeginWhereADeviceCanReadThem) {
  EXPECT_EQ(fusion::part_alignment(load_target("opencl-cpu")), 128);
  EXPECT_EQ(fusion::part_alignment(load_target("sm_90")), 128);
  EXPECT_EQ(fusion::part_alignment(load_target("opencl-gpu")), 512);
}

}  // namespace
}  // namespace deplo::rules::stacks_test
