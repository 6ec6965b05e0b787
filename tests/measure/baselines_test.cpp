// Recognition of matmuls in Loop IR, and the kernels that a library provides for them.
#include "measure/baselines/baselines.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "measure/matmul_shape.h"
#include "measure/opencl/opencl.h"
#include "measure/protocol/problem.h"
#include "measure/protocol/sampling.h"

namespace deplo::measure {
namespace {

/// Returns the Loop IR of c = a b with the given buffers and accesses. Axes: a0 (batch, 3), a1 (5), a2 (7), a3 (the
/// sum, 11).
ir::Program product(const std::string& a, const std::string& b, const std::string& c, const std::string& load_a,
                    const std::string& load_b, const std::string& write, const std::string& op = "multiply") {
  return ir::parse(
      fmt::format("=== loop: product ===\n"
                  "input a: f32[{}]\n"
                  "input b: f32[{}]\n"
                  "output c: f32[{}]\n"
                  "for a0 in 0..3: # free\n"
                  "  for a1 in 0..5: # free\n"
                  "    for a2 in 0..7: # free\n"
                  "      for a3 in 0..11: # reduce\n"
                  "        in0 = load a[{}]\n"
                  "        in1 = load b[{}]\n"
                  "        v0 = {}(in0, in1)\n"
                  "        acc0 <- add(acc0, v0)\n"
                  "      c[{}] = acc0\n",
                  a, b, c, load_a, load_b, op, write));
}

const ir::Program plain = product("3, 5, 11", "3, 11, 7", "3, 5, 7", "a0, a1, a3", "a0, a3, a2", "a0, a1, a2");
const ir::Program transposed = product("3, 5, 11", "3, 7, 11", "3, 5, 7", "a0, a1, a3", "a0, a2, a3", "a0, a1, a2");
// The first buffer is the right-hand matrix, the second buffer is the left-hand matrix.
const ir::Program exchanged = product("3, 11, 7", "3, 5, 11", "3, 5, 7", "a0, a3, a2", "a0, a1, a3", "a0, a1, a2");

TEST(MatmulShape, DenseMatricesInAnyOrder) {
  EXPECT_EQ(matmul_shape(plain), (MatmulShape{5, 7, 11, 3, false, 0, 1, 2}));
  EXPECT_EQ(matmul_shape(transposed), (MatmulShape{5, 7, 11, 3, true, 0, 1, 2}));
  EXPECT_EQ(matmul_shape(exchanged), (MatmulShape{5, 7, 11, 3, false, 1, 0, 2}));
}

TEST(MatmulShape, NothingElseIsTakenForOne) {
  for (const ir::Program& other :
       {product("3, 5, 11", "3, 11, 7", "3, 5, 7", "a0, a1, a3", "a0, a3, a2", "a0, a1, a2", "add"),
        product("3, 5, 12", "3, 11, 7", "3, 5, 7", "a0, a1, a3", "a0, a3, a2", "a0, a1, a2"),        // not dense
        product("3, 5, 12", "3, 11, 7", "3, 5, 7", "a0, a1, (a3 + 1)", "a0, a3, a2", "a0, a1, a2"),  // shifted
        product("3, 5, 11", "11, 7", "3, 5, 7", "a0, a1, a3", "a3, a2", "a0, a1, a2"),               // two row axes
        product("3, 11, 5", "3, 11, 7", "3, 5, 7", "a0, a3, a1", "a0, a3, a2", "a0, a1, a2"),        // a is [k, m]
        product("3, 5, 11", "3, 11, 7", "5, 3, 7", "a0, a1, a3", "a0, a3, a2", "a1, a0, a2"),        // permuted output
        ir::parse("=== loop: copy ===\ninput a: f32[9]\noutput b: f32[9]\nfor a0 in 0..9: # free\n"
                  "  in0 = load a[a0]\n  b[a0] = in0\n")})
    EXPECT_EQ(matmul_shape(other), std::nullopt) << ir::print(other);
}

TEST(MatmulShape, OfSixteenBits) {
  const auto types = [](ir::DType a, ir::DType b, ir::DType c) {
    ir::Program loop = plain;
    loop.buffers[0].dtype = a, loop.buffers[1].dtype = b, loop.buffers[2].dtype = c;
    const auto shape = matmul_shape(loop);
    return shape ? std::pair(shape->factors, shape->result) : std::pair(ir::DType::boolean, ir::DType::boolean);
  };
  using enum ir::DType;
  EXPECT_EQ(types(bf16, bf16, bf16), std::pair(bf16, bf16));
  EXPECT_EQ(types(f16, f16, f32), std::pair(f16, f32));
  EXPECT_EQ(types(f16, bf16, f32), std::pair(boolean, boolean)) << "no library multiplies two types";
  EXPECT_EQ(types(f32, f32, bf16), std::pair(boolean, boolean));
  EXPECT_EQ(types(bf16, bf16, f16), std::pair(boolean, boolean));
}

// Compares oneDNN's result with the interpreter's, element by element, and times oneDNN.
TEST(Baselines, OnednnComputesWhatTheKernelComputes) {
  const auto device = open_opencl(0);
  if (!device->info().cpu) GTEST_SKIP() << "no CPU device";
  for (const ir::Program& loop : {plain, transposed, exchanged}) {
    Baselines baselines = find_baselines(loop, *device);
    if (baselines.found.empty()) GTEST_SKIP() << baselines.none;
    const Baseline& onednn = baselines.found.front();
    EXPECT_EQ(onednn.library, "oneDNN");
    EXPECT_GT(onednn.threads, 0);
    Problem problem(loop, *device, 1);
    const Contender contender{onednn.executable.get(), {}};
    Protocol protocol;
    protocol.rounds = protocol.max_rounds = 6;
    const auto results = confirm({&contender, 1}, problem, protocol, {});
    ASSERT_TRUE(results[0].ok()) << results[0].failure().message;
    EXPECT_EQ(results[0].value().samples.size(), 6U);
  }
}

TEST(Baselines, WhyThereIsNone) {
  const auto interpreter = open_device("interpreter");
  EXPECT_THAT(find_baselines(plain, *interpreter).none, ::testing::HasSubstr("device"));
  const ir::Program sum = product("3, 5, 11", "3, 11, 7", "3, 5, 7", "a0, a1, a3", "a0, a3, a2", "a0, a1, a2", "add");
  EXPECT_THAT(find_baselines(sum, *interpreter).none, ::testing::HasSubstr("kernel"));
}

}  // namespace
}  // namespace deplo::measure
