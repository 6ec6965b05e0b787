#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "ir/interpret/interpret_case.h"

namespace deplo::ir {
namespace {

using ::testing::HasSubstr;

// Returns a[m, k] * b[k, n]. `row` and `column` are the strides of b.
Values matmul(const Memory& memory, int m, int n, int k, int row, int column) {
  Values c(static_cast<std::size_t>(m * n));
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
      for (int x = 0; x < k; ++x)
        c[static_cast<std::size_t>(i * n + j)] += memory.at("a")[static_cast<std::size_t>(i * k + x)] *
                                                  memory.at("b")[static_cast<std::size_t>(x * row + j * column)];
  return c;
}

const char* const matmul_text = R"(=== loop: matmul ===
input a: f32[5, 7]
input b: f32[7, 6] strides=(1, 7)
output c: f32[5, 6]
for a0 in 0..5: # free
  for a1 in 0..6: # free
    for a2 in 0..7: # reduce
      in0 = load a[a0, a2]
      in1 = load b[a2, a1]
      v0 = multiply(in0, in1)
      acc0 <- add(acc0, v0)
    c[a0, a1] = acc0
)";

const char* const rmsnorm_text = R"(=== loop: rmsnorm ===
input x: f32[4, 32]
input w: f32[32]
output y: f32[4, 32]
for a0 in 0..4: # free
  for a1 in 0..32: # reduce
    in0 = load x[a0, a1]
    v0 = multiply(in0, in0)
    acc0 <- add(acc0, v0)
  v1 = divide(acc0, 32)
  v2 = add(v1, 1e-06)
  v3 = rsqrt(v2)
  for a2 in 0..32: # free
    in1 = load x[a0, a2]
    in2 = load w[a2]
    v4 = multiply(in1, v3)
    v5 = multiply(v4, in2)
    y[a0, a2] = v5
)";

Values rmsnorm(const Memory& memory) {
  Values y(4 * 32);
  for (std::size_t i = 0; i < 4; ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < 32; ++j) sum += std::pow(memory.at("x")[i * 32 + j], 2);
    for (std::size_t j = 0; j < 32; ++j)
      y[i * 32 + j] = memory.at("x")[i * 32 + j] / std::sqrt(sum / 32 + 1e-6) * memory.at("w")[j];
  }
  return y;
}

TEST(InterpretLoop, MatmulWithStrides) {
  const Memory memory = run(matmul_text);
  expect_near(memory.at("c"), matmul(memory, 5, 6, 7, 1, 7));
}

TEST(InterpretLoop, RmsNorm) {
  const Memory memory = run(rmsnorm_text);
  expect_near(memory.at("y"), rmsnorm(memory));
}

TEST(InterpretLoop, SoftmaxHasTwoAccumulators) {
  const Memory memory = run(R"(=== loop: softmax ===
input x: f32[3, 9]
output y: f32[3, 9]
for a0 in 0..3: # free
  for a1 in 0..9: # reduce
    in0 = load x[a0, a1]
    acc0 <- maximum(acc0, in0)
  for a2 in 0..9: # reduce
    in1 = load x[a0, a2]
    v0 = subtract(in1, acc0)
    v1 = exp(v0)
    acc1 <- add(acc1, v1)
  for a3 in 0..9: # free
    in2 = load x[a0, a3]
    v2 = subtract(in2, acc0)
    v3 = exp(v2)
    v4 = divide(v3, acc1)
    y[a0, a3] = v4
)");
  Values y(27);
  for (std::size_t i = 0; i < 3; ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < 9; ++j) sum += std::exp(memory.at("x")[i * 9 + j]);
    for (std::size_t j = 0; j < 9; ++j) y[i * 9 + j] = std::exp(memory.at("x")[i * 9 + j]) / sum;
  }
  expect_near(memory.at("y"), y);
}

TEST(InterpretLoop, ConditionsAndAddingWrites) {
  const Memory memory = run(R"(=== loop: guarded ===
input x: f32[10]
output y: f32[4]
for a0 in 0..4: # free
  y[a0] = 0
  for a1 in 0..3: # reduce
    if (((a0 * 3) + a1) < 10):
      in0 = load x[((a0 * 3) + a1)]
      y[a0] += in0
)");
  const Values& x = memory.at("x");
  expect_near(memory.at("y"), {x[0] + x[1] + x[2], x[3] + x[4] + x[5], x[6] + x[7] + x[8], x[9]});
}

// Each thread computes 2 x 3 elements by a register axis and a vector axis. The last block is shifted inwards, and the
// reduce tail is guarded.
TEST(InterpretTile, MatmulWithRegistersVectorsAndStages) {
  const Memory memory = run(R"(=== tile: matmul ===
input a: f32[5, 7]
input b: f32[7, 6]
output c: f32[5, 6]
Tile(axes=(a0:2=BLOCK, a1:2=THREAD, a2:2=THREAD, a3:2=REG, a4:3=VECTOR)):
  for a5 in 0..2: # reduce
    a_smem = Stage(a, origin=(min((a0 * 4), 1), (a5 * 4)), slab=(s0:4@0, s1:4@1))
    for a6 in 0..4: # reduce
      if (((a5 * 4) + a6) < 7):
        in0 = load a_smem[((a1 * 2) + a3), a6]
        in1 = load b[((a5 * 4) + a6), ((a2 * 3) + a4)]
        v0 = multiply(in0, in1)
        acc0 <- add(acc0, v0)
  c[(min((a0 * 4), 1) + ((a1 * 2) + a3)), ((a2 * 3) + a4)] = acc0
)");
  expect_near(memory.at("c"), matmul(memory, 5, 6, 7, 6, 1));
}

TEST(InterpretTile, StageFillsOutsideWithZero) {
  const Memory memory = run(R"(=== tile: edge ===
input x: f32[3]
output y: f32[4]
Tile(axes=(a0:4=THREAD)):
  x_smem = Stage(x, origin=(1), slab=(s0:4@0))
  in0 = load x_smem[a0]
  y[a0] = in0
)");
  expect_near(memory.at("y"), {memory.at("x")[1], memory.at("x")[2], 0, 0});
}

const char* const cooperative_text = R"(=== tile: cooperative ===
input x: f32[3, 40]
output y: f32[3]
Tile(axes=(a0:3=BLOCK, a1:4=THREAD, a2:2=VECTOR)):
  StridedLoop(a3 = (a1 * 2); < 40; += 8): # reduce
    in0 = load x[a0, (a3 + a2)]
    acc0 <- add(acc0, in0)
  Combine(acc0, op=add, over=(a1, a2))
  y[a0] MODE acc0
)";

std::string with_mode(std::string mode) {
  std::string text = cooperative_text;
  return text.replace(text.find("MODE"), 4, mode);
}

TEST(InterpretTile, CombineMergesThreadsAndVectors) {
  const Memory memory = run(with_mode("="));
  Values y(3);
  for (std::size_t i = 0; i < 120; ++i) y[i / 40] += memory.at("x")[i];
  expect_near(memory.at("y"), y);
}

// After the Combine nothing depends on the vector axis, so each of the four threads adds once.
TEST(InterpretTile, StatementsRunOnceForAxesTheyDoNotDependOn) {
  const Program program = parse(with_mode("+="));
  Memory memory = random_memory(program);
  memory["y"] = Values(3);
  interpret(program, memory);
  Values y(3);
  for (std::size_t i = 0; i < 120; ++i) y[i / 40] += 4 * memory.at("x")[i];
  expect_near(memory.at("y"), y);
}

TEST(InterpretTile, ThreadsThatWriteDifferentValuesRace) {
  std::string text = with_mode("=");
  const std::size_t combine = text.find("  Combine");
  text.erase(combine, text.find('\n', combine) + 1 - combine);
  EXPECT_THAT(error_of(text), AllOf(HasSubstr("race: block 0, thread 1"), HasSubstr("`y[a0] = acc0`")));
}

TEST(Interpret, WantsEveryBufferWithItsSize) {
  const Program program = parse(matmul_text);
  Memory memory = random_memory(program);
  memory["a"].pop_back();
  EXPECT_THROW(interpret(program, memory), Error);
  memory.erase("a");
  EXPECT_THROW(interpret(program, memory), Error);
}

TEST(EvaluateAt, AgreesWithTheInterpreter) {
  for (const char* const text : {matmul_text, rmsnorm_text}) {
    const Program program = parse(text);
    Memory memory = random_memory(program);
    interpret(program, memory);
    std::map<std::string, Numbers, std::less<>> inputs;
    for (const Buffer& b : program.buffers)
      if (b.role == Role::input) inputs[b.name] = std::vector<float>(memory[b.name].begin(), memory[b.name].end());
    std::map<std::string, std::int64_t, std::less<>> at;
    for (const auto& [axis, extent] : free_axes(program)) at[axis] = extent - 1;
    const std::vector<Point> points = evaluate_at(program, inputs, at);
    ASSERT_EQ(points.size(), 1U);
    EXPECT_EQ(points[0].value, memory[points[0].buffer][static_cast<std::size_t>(points[0].offset)]);
    at.begin()->second += 1;
    EXPECT_THROW(evaluate_at(program, inputs, at), Error);
  }
}

TEST(EvaluateAt, FreeAxesOutermostFirst) {
  EXPECT_EQ(free_axes(parse(rmsnorm_text)), (std::vector<std::pair<std::string, std::int64_t>>{{"a0", 4}, {"a2", 32}}));
}

TEST(Work, CountsExecutedOperationsAndCompulsoryBytes) {
  const Work matmul = work(parse(matmul_text));
  EXPECT_EQ(matmul.flops, 2.0 * 5 * 6 * 7);
  EXPECT_EQ(matmul.bytes, 4.0 * (35 + 42 + 30));
  EXPECT_EQ(work(parse(rmsnorm_text)).flops, 4 * (32 * 2 + 3 + 32 * 2));
}

}  // namespace
}  // namespace deplo::ir
