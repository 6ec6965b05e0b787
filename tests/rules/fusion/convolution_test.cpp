// Tests which kernels convolutions become, and that these compute what the Torch graph computes.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "drawn_seeds.h"
#include "ir/torch/expression/expression.h"
#include "rules/decompose/decompose.h"
#include "rules/fusion/fuse.h"
#include "rules/fusion/run_module.h"
#include "rules/options.h"

namespace deplo::rules::convolution_test {
namespace {

Fused fused(std::string_view code, const char* target, const Trail& taken = {}) {
  const FuseOptions options{.target = load_target(target)};
  return fuse(compose(decompose(ir::torch::parse_expression(code))), taken, options, {}).value();
}

std::vector<std::string> names(const ir::Module& module) {
  std::vector<std::string> result;
  for (const ir::Program& kernel : module.kernels) result.push_back(kernel.name);
  return result;
}

constexpr const char* one = "nn.Conv2d(8, 32, 3, padding=1)(torch.randn(2, 8, 6, 4))";

// Neighbouring dimensions become one if all readers walk them together. Tensors between kernels have their channels
// last, and a parameter is stored in the order in which its reader walks it. The rows of the product are the positions
// of all images. Only the output has PyTorch's layout.
TEST(Convolutions, OnCpusAreAPaddedCopyAndAProduct) {
  const ir::Module module = fused(one, "opencl-cpu").module;
  ASSERT_EQ(names(module), (std::vector<std::string>{"convolution_padded", "convolution"}));
  EXPECT_EQ(print(module.kernels[1]),
            "=== loop: convolution ===\n"
            "input convolution_padded: f32[2, 8, 48]\n"
            "input p_weight: f32[3, 3, 8, 32]\n"
            "input p_bias: f32[32]\n"
            "output convolution: f32[2, 32, 24]\n"
            "for a0 in 0..48: # free\n"
            "  for a1 in 0..32: # free\n"
            "    for a2 in 0..72: # reduce\n"
            "      in0 = load convolution_padded[(a0 / 24), (((a0 / 4) % 6) + (a2 / 24)), (((a0 % 4) * 8) + "
            "(a2 % 24))]\n"
            "      in1 = load p_weight[(a2 / 24), ((a2 / 8) % 3), (a2 % 8), a1]\n"
            "      v0 = multiply(in0, in1)\n"
            "      acc0 <- add(acc0, v0)\n"
            "    in2 = load p_bias[a1]\n"
            "    v1 = add(acc0, in2)\n"
            "    convolution[(a0 / 24), a1, (a0 % 24)] = v1\n");
}

// x * sigmoid(x) reads the product twice, and still becomes its epilogue.
TEST(Convolutions, HaveActivationsAsTheirEpilogue) {
  for (const char* activation : {"F.relu", "F.silu", "F.gelu", "F.mish", "F.hardswish", "torch.sigmoid"})
    EXPECT_EQ(fused(fmt::format("{}(nn.BatchNorm2d(32)({}))", activation, one), "opencl-cpu").module.kernels.size(), 2U)
        << activation;
}

TEST(Convolutions, OnGpusCopyTheOutputInOrder) {
  EXPECT_EQ(names(fused(one, "sm_90").module),
            (std::vector<std::string>{"convolution_padded", "convolution_add", "convolution"}));
}

// The axis before the channels walks the rows of the product. On GPUs these are the positions of all images. On CPUs
// they are the positions of one line, which is faster.
TEST(Convolutions, OfGroupsAndWithAStrideJoinTheirRowsOnGpus) {
  for (const char* code : {"nn.Conv2d(8, 16, 3, padding=1, groups=2)(torch.randn(2, 8, 6, 4))",
                           "nn.Conv2d(8, 16, 1, stride=2)(torch.randn(2, 8, 12, 8))"})
    for (const auto& [target, rows] :
         {std::pair("sm_90", "in 0..48: # free"), std::pair("opencl-cpu", "in 0..4: # free")}) {
      std::string text;
      for (const ir::Program& kernel : fused(code, target).module.kernels)
        if (const std::string each = print(kernel); each.find("# reduce") != std::string::npos) text = each;
      EXPECT_NE(text.find(rows), std::string::npos) << target << "\n" << text;
    }
}

TEST(Convolutions, InARowPassOnTheirChannelsLast) {
  const char* code =
      "nn.Conv2d(32, 8, 3, padding=1)(F.relu(nn.BatchNorm2d(32)(nn.Conv2d(8, 32, 3)(torch.randn(2, 8, 6, 4)))))";
  for (const char* target : {"opencl-cpu", "sm_90"}) {
    const ir::Module module = fused(code, target).module;
    std::size_t copies = 0;  // the input with channels last, the padded tensor in between, on GPUs the output
    for (const ir::Program& kernel : module.kernels) copies += kernel.buffers.size() == 2 ? 1 : 0;
    EXPECT_EQ(copies, load_target(target).cpu ? 2 : 3) << fmt::format("{}", fmt::join(names(module), " "));
  }
}

// The convolution has four phases of 2 x 2 elements each. It reads no zeros between the elements of x.
TEST(Convolutions, TransposedWithAStrideAreAConvolutionOfEachPhase) {
  const ir::Module module =
      fused("nn.ConvTranspose2d(8, 32, 4, stride=2, padding=1, bias=False)(torch.randn(1, 8, 3, 5))", "opencl-cpu")
          .module;
  ASSERT_EQ(names(module), (std::vector<std::string>{"convolution_padded", "convolution"}));
  EXPECT_EQ(
      print(module.kernels[1]),
      "=== loop: convolution ===\n"
      "input convolution_padded: f32[5, 7, 8]\n"
      "input p_weight: f32[4, 4, 8, 32]\n"
      "output convolution: f32[1, 32, 6, 10]\n"
      "for a0 in 0..2: # free\n"
      "  for a1 in 0..2: # free\n"
      "    for a2 in 0..15: # free\n"
      "      for a3 in 0..32: # free\n"
      "        for a4 in 0..32: # reduce\n"
      "          in0 = load convolution_padded[((((a2 / 5) + ((a0 + 1) / 2)) - (a4 / 16)) + 1), ((((a2 % 5) + ((a1 + "
      "1) / 2)) - ((a4 / 8) % 2)) + 1), (a4 % 8)]\n"
      "          in1 = load p_weight[(((a0 + 1) % 2) + ((a4 / 16) * 2)), (((a1 + 1) % 2) + (((a4 / 8) % 2) * 2)), "
      "(a4 % 8), a3]\n"
      "          v0 = multiply(in0, in1)\n"
      "          acc0 <- add(acc0, v0)\n"
      "        convolution[0, a3, (((a2 / 5) * 2) + a0), (((a2 % 5) * 2) + a1)] = acc0\n");
}

// Of 9 positions, 4 read two elements each, and 5 read one element.
TEST(Convolutions, TransposedPhasesWithDifferentElementsAreTwoSums) {
  const ir::Module module =
      fused("nn.ConvTranspose1d(8, 32, 3, stride=2, padding=1)(torch.randn(1, 8, 5))", "opencl-cpu").module;
  ASSERT_EQ(names(module),
            (std::vector<std::string>{"convolution_padded", "convolution_add", "convolution_add_1", "convolution"}));
  EXPECT_EQ(print(module.kernels[1]),
            "=== loop: convolution_add ===\n"
            "input convolution_padded: f32[7, 8]\n"
            "input p_weight: f32[3, 8, 32]\n"
            "input p_bias: f32[32]\n"
            "output convolution_add: f32[4, 32]\n"
            "for a0 in 0..4: # free\n"
            "  for a1 in 0..32: # free\n"
            "    for a2 in 0..16: # reduce\n"
            "      in0 = load convolution_padded[((a0 - (a2 / 8)) + 2), (a2 % 8)]\n"
            "      in1 = load p_weight[((a2 / 8) * 2), (a2 % 8), a1]\n"
            "      v0 = multiply(in0, in1)\n"
            "      acc0 <- add(acc0, v0)\n"
            "    in2 = load p_bias[a1]\n"
            "    v1 = add(acc0, in2)\n"
            "    convolution_add[a0, a1] = v1\n");
  EXPECT_EQ(print(module.kernels[2]),
            "=== loop: convolution_add_1 ===\n"
            "input x: f32[1, 8, 5]\n"
            "input p_weight: f32[3, 8, 32]\n"
            "input p_bias: f32[32]\n"
            "output convolution_add_1: f32[5, 32]\n"
            "for a0 in 0..5: # free\n"
            "  for a1 in 0..32: # free\n"
            "    for a2 in 0..8: # reduce\n"
            "      in0 = load x[0, a2, a0]\n"
            "      in1 = load p_weight[1, a2, a1]\n"
            "      v0 = multiply(in0, in1)\n"
            "      acc0 <- add(acc0, v0)\n"
            "    in2 = load p_bias[a1]\n"
            "    v1 = add(acc0, in2)\n"
            "    convolution_add_1[a0, a1] = v1\n");
  EXPECT_EQ(print(module.kernels[3]),
            "=== loop: convolution ===\n"
            "input convolution_add: f32[4, 32]\n"
            "input convolution_add_1: f32[5, 32]\n"
            "output convolution: f32[1, 32, 9]\n"
            "for a0 in 0..32: # free\n"
            "  for a1 in 0..9: # free\n"
            "    in0 = load convolution_add[min((a1 / 2), 3), a0]\n"
            "    in1 = load convolution_add_1[(a1 / 2), a0]\n"
            "    v0:bool = index (((a1 + 1) % 2) < 1)\n"
            "    v1 = select(v0, in0, in1)\n"
            "    convolution[0, a0, a1] = v1\n");
}

// The stride 10 and the dilation 4 have the common divisor 2. Of 21 positions, only every second one reads elements,
// and only in three of five phases. The other positions are 0.
TEST(Convolutions, TransposedWithAStrideAndADilationReadNoZerosBetweenElements) {
  const ir::Module module =
      fused("nn.ConvTranspose1d(8, 32, 3, stride=10, padding=4, dilation=4, bias=False)(torch.randn(1, 8, 3))",
            "opencl-cpu")
          .module;
  ASSERT_EQ(names(module), (std::vector<std::string>{"convolution_padded", "convolution_reduce", "convolution"}));
  EXPECT_EQ(print(module.kernels[1]),
            "=== loop: convolution_reduce ===\n"
            "input convolution_padded: f32[6, 8]\n"
            "input p_weight: f32[3, 8, 32]\n"
            "output convolution_reduce: f32[3, 3, 32]\n"
            "for a0 in 0..3: # free\n"
            "  for a1 in 0..3: # free\n"
            "    for a2 in 0..32: # free\n"
            "      for a3 in 0..8: # reduce\n"
            "        in0 = load convolution_padded[((a1 + ((((((a0 * 2) + 3) % 5) - (a0 * 2)) + 2) / 5)) + 2), a3]\n"
            "        in1 = load p_weight[a0, a3, a2]\n"
            "        v0 = multiply(in0, in1)\n"
            "        acc0 <- add(acc0, v0)\n"
            "      convolution_reduce[a0, a1, a2] = acc0\n");
  EXPECT_EQ(print(module.kernels[2]),
            "=== loop: convolution ===\n"
            "input convolution_reduce: f32[3, 3, 32]\n"
            "output convolution: f32[1, 32, 21]\n"
            "for a0 in 0..32: # free\n"
            "  for a1 in 0..21: # free\n"
            "    in0 = load convolution_reduce[min(((((a1 / 2) * 3) + 1) % 5), 2), (a1 / 10), a0]\n"
            "    v0:bool = index (((a1 % 2) == 0) && (((((a1 / 2) * 3) + 1) % 5) < 3))\n"
            "    v1 = select(v0, in0, 0)\n"
            "    convolution[0, a0, a1] = v1\n");
}

TEST(Convolutions, ArePooledWithChannelsLast) {
  const char* code =
      "nn.Conv2d(32, 8, 1)(nn.MaxPool2d(2)(nn.Conv2d(8, 32, 3, padding=1, bias=False)(torch.randn(1, 8, 6, 6))))";
  const ir::Module module = fused(code, "opencl-cpu").module;
  ASSERT_EQ(names(module), (std::vector<std::string>{"convolution_padded", "convolution", "amax", "convolution_1"}));
  EXPECT_EQ(print(module.kernels[2]),
            "=== loop: amax ===\n"
            "input convolution: f32[36, 32]\n"
            "output amax: f32[9, 32]\n"
            "for a0 in 0..3: # free\n"
            "  for a1 in 0..3: # free\n"
            "    for a2 in 0..32: # free\n"
            "      for a3 in 0..4: # reduce\n"
            "        in0 = load convolution[((((a0 * 12) + ((a3 / 2) * 6)) + (a1 * 2)) + (a3 % 2)), a2]\n"
            "        acc0 <- maximum(acc0, in0)\n"
            "      amax[((a0 * 3) + a1), a2] = acc0\n");
  EXPECT_EQ(fused_difference(ir::torch::parse_expression(code), 1, {.target = load_target("opencl-cpu")}), "");
}

TEST(Convolutions, HaveDecisions) {
  const Fused heuristic = fused(one, "opencl-cpu");
  EXPECT_THAT(heuristic.trail, ::testing::Contains(Choice{"fusion.merge_convolution_padded", Value{std::int64_t{0}}}));
  const Fused guarded = fused(one, "opencl-cpu", {{"fusion.merge_convolution_padded", Value{std::int64_t{1}}}});
  EXPECT_EQ(names(guarded.module), (std::vector<std::string>{"convolution"}));
}

// Returns code for a convolution of one to three dimensions with random sizes, strides, dilations, groups and paddings.
std::string drawn(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto pick = [&](int low, int high) {
    return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
  };
  const int dims = pick(1, 3), groups = pick(1, 3), channels = groups * pick(1, 3), out = groups * pick(1, 4);
  const bool transposed = pick(0, 3) == 0;
  std::string kernel, extents;
  const int stride = pick(1, 3), dilation = pick(1, 2);
  for (int d = 0; d < dims; ++d) {
    const int size = pick(1, 3);
    kernel += fmt::format("{}, ", size);
    extents += fmt::format(", {}", (size - 1) * dilation + pick(1, 5));
  }
  return fmt::format(
      "{}nn.Conv{}{}d({}, {}, ({}), stride={}, padding={}, dilation={}, groups={}, bias={})(torch.randn({}, {}{})){}",
      pick(0, 1) == 0 ? "F.relu(" : "(", transposed ? "Transpose" : "", dims, channels, out, kernel, stride,
      transposed ? 0 : pick(0, 2), dilation, groups, pick(0, 1) == 0 ? "True" : "False", pick(1, 2), channels, extents,
      ")");
}

// Returns code for a random transposed convolution. Strides and dilations have common divisors or not, and some
// positions read no elements.
std::string drawn_transposed(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto pick = [&](int low, int high) {
    return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
  };
  const int dims = pick(1, 2), groups = pick(1, 2), channels = groups * pick(1, 2), out = groups * pick(1, 3);
  std::vector<int> kernel, stride, dilation, padding, more;
  std::string extents;
  for (int d = 0; d < dims; ++d) {
    kernel.push_back(pick(1, 4));
    stride.push_back(pick(1, 6));
    dilation.push_back(pick(1, 6));
    const int extent = pick(1, 4), reach = (extent - 1) * stride.back() + dilation.back() * (kernel.back() - 1) + 1;
    padding.push_back(pick(0, std::min(3, (reach - 1) / 2)));
    more.push_back(pick(0, std::max(stride.back(), dilation.back()) - 1));
    extents += fmt::format(", {}", extent);
  }
  const auto list = [](const std::vector<int>& numbers) { return fmt::format("({},)", fmt::join(numbers, ", ")); };
  return fmt::format(
      "nn.ConvTranspose{}d({}, {}, {}, stride={}, padding={}, output_padding={}, groups={}, bias={}, dilation={})("
      "torch.randn(2, {}{}))",
      dims, channels, out, list(kernel), list(stride), list(padding), list(more), groups,
      pick(0, 1) == 0 ? "True" : "False", list(dilation), channels, extents);
}

TEST(Convolutions, TransposedOfAnyStrideAndDilationMeanTheSame) {
  for (std::uint64_t i = 0; i < std::max<std::uint64_t>(test_options().cases / 10, 30); ++i) {
    const std::uint64_t seed = first_seed(test_options().seed) + i;
    const std::string code = drawn_transposed(seed);
    ASSERT_EQ(fused_difference(ir::torch::parse_expression(code), seed, {.target = load_target("opencl-cpu")}), "")
        << "seed " << seed << ": " << code;
  }
}

TEST(Convolutions, OfAnySizesMeanTheSame) {
  const std::uint64_t cases = std::max<std::uint64_t>(test_options().cases / 50, 6);
  for (std::uint64_t i = 0; i < cases; ++i) {
    const std::uint64_t seed = first_seed(test_options().seed) + i;
    const std::string code = drawn(seed);
    const ir::torch::Graph graph = ir::torch::parse_expression(code);
    for (const char* target : {"opencl-cpu", "sm_90"})
      ASSERT_EQ(fused_difference(graph, seed, {.target = load_target(target)}), "")
          << "seed " << seed << ": " << code << " for " << target;
    for (const char* merge : {"fusion.merge_convolution_padded"}) {
      const Fused other = fused(code, "opencl-cpu");
      if (std::ranges::none_of(other.trail, [&](const Choice& c) { return c.knob == merge; })) continue;
      ASSERT_EQ(
          fused_difference(graph, seed, {.target = load_target("opencl-cpu")}, 1e-6, {{merge, Value{std::int64_t{1}}}}),
          "")
          << "seed " << seed << ": " << code << " with its padding in the product";
    }
  }
}

}  // namespace
}  // namespace deplo::rules::convolution_test
