// Raises tile programs to Loop IR, and compares the results with those of the tile programs, both on an interpreter.
#include "rules/raise/raise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "core/file.h"
#include "ir/canonical/canonical.h"
#include "ir/tile_program/text/text.h"
#include "rules/lower.h"
#include "rules/programs.h"
#include "rules/raise/launch.h"

namespace deplo::rules {
namespace {

namespace tp = ir::tile_program;

tp::Program example(const std::string& name) {
  return tp::read_file_program(std::filesystem::path(DEPLO_SOURCE_DIR) / "experiments" / "tile" / (name + ".tile"));
}

std::string message(const tp::Program& program, const Launch& launch) { return launch.refusal(program); }

class RaiseShared : public ::testing::Test {
 protected:
  void SetUp() override {
    if (tp::shared_programs().empty()) GTEST_SKIP() << "no ../shared/tile_programs";
  }
  static tp::Program load(const std::string& name) {
    return tp::read_file_program(tp::shared_programs() / (name + ".tileirbc"));
  }
};

TEST_F(RaiseShared, VecAdd1d) {
  for (const char* name : {"00_vec_add_kernel_1d", "02_vec_add_kernel_1d_gather"})
    for (const std::int64_t n : {1024, 3000, 7}) {
      Launch launch;
      for (const char* array : {"a", "b", "c"}) launch.array(array, ir::DType::f32, {n});
      launch.grid({tiles(n, 1024), 1, 1});
      const tp::Program program = load(name);
      EXPECT_EQ(ir::print(launch.raise(program).kernels.at(0)), ir::print(ir::parse(R"(
=== loop: c ===
symbols N
input a: f32[N]
input b: f32[N]
output c: f32[N]
for a0 in 0..N: # free
  in0 = load a[a0]
  in1 = load b[a0]
  v0 = add(in0, in1)
  c[a0] = v0
)",
                                                                                    {{"N", n}})));
      EXPECT_LE(launch.difference(program), of_f32) << name << " " << n;
    }
}

TEST_F(RaiseShared, VecAdd2d) {
  for (const char* name : {"01_vec_add_kernel_2d", "03_vec_add_kernel_2d_gather"})
    for (const auto& [m, n] : {std::pair<std::int64_t, std::int64_t>{32, 64}, {64, 128}, {37, 101}}) {
      Launch launch;
      for (const char* array : {"a", "b", "c"}) launch.array(array, ir::DType::f32, {m, n}, pitch(n));
      launch.grid({tiles(m, 32), tiles(n, 64), 1});
      EXPECT_LE(launch.difference(load(name)), of_f32) << name << " " << m;
    }
}

TEST_F(RaiseShared, Matmul) {
  for (const auto& [m, n, k] : {std::array<std::int64_t, 3>{128, 256, 64}, {256, 256, 128}, {70, 300, 90}}) {
    Launch launch;
    launch.array("A", ir::DType::f16, {m, k}, pitch(k)).array("B", ir::DType::f16, {k, n}, pitch(n));
    launch.array("C", ir::DType::f16, {m, n}, pitch(n)).grid({tiles(m, 128) * tiles(n, 256), 1, 1});
    EXPECT_LE(launch.difference(load("05_matmul_kernel")), of_f16) << m;
  }
}

TEST_F(RaiseShared, LayerNorm) {
  for (const auto& [m, n] : {std::pair<std::int64_t, std::int64_t>{4, 1024}, {3, 2048}, {5, 1500}}) {
    Launch launch;
    launch.array("X", ir::DType::f16, {m, n}, pitch(n)).array("W", ir::DType::f16, {n});
    launch.array("B", ir::DType::f16, {n}).array("Y", ir::DType::f16, {m, n}, pitch(n));
    launch.array("Mean", ir::DType::f32, {m}).array("Rstd", ir::DType::f32, {m}).scalar(1e-5).grid({m, 1, 1});
    EXPECT_LE(launch.difference(load("08_layer_norm_fwd")), of_f16) << m;
  }
}

/// A mixture of experts. Each row is routed to one of `experts` experts; `used` experts have rows.
struct Moe {
  std::int64_t tokens, topk, experts, used, n, k;

  std::vector<std::int64_t> expert_of_row() const {
    std::vector<std::int64_t> expert;
    for (std::int64_t i = 0; i < tokens * topk; ++i) expert.push_back((i * 7 + i / 3) % used * (experts / used));
    return expert;
  }
  Launch launch() const {
    const tp::Routing routing = tp::route(expert_of_row(), experts, 128);
    Launch launch;
    launch.array("A", ir::DType::f16, {tokens, k}, pitch(k)).array("B", ir::DType::f16, {experts, n, k});
    launch.array("C", ir::DType::f16, {tokens * topk, n}, pitch(n));
    launch.array("topk_weights", ir::DType::f16, {tokens * topk});
    launch.numbers("sorted_token_ids", routing.ids).numbers("sorted_expert_ids", routing.experts).scalar(topk);
    launch.grid({tiles(std::ssize(routing.ids), 128) * tiles(n, 128), 1, 1});
    return launch;
  }
};

TEST_F(RaiseShared, MixtureOfExperts) {
  const tp::Program program = load("13_fused_moe_kernel");
  for (const Moe& moe : {Moe{64, 2, 2, 2, 128, 64}, Moe{96, 1, 6, 3, 256, 128}, Moe{50, 2, 8, 4, 72, 40}}) {
    Launch launch = moe.launch();
    EXPECT_LE(launch.difference(program), of_f16) << moe.tokens;
    // Compares the result also with sums in double.
    const std::vector<std::int64_t> expert = moe.expert_of_row();
    for (std::int64_t row = 0; row < moe.tokens * moe.topk; ++row)
      for (std::int64_t j = 0; j < moe.n; ++j) {
        double sum = 0;
        for (std::int64_t x = 0; x < moe.k; ++x)
          sum += launch.launcher.at(0, {row / moe.topk, x}) *
                 launch.launcher.at(1, {expert[static_cast<std::size_t>(row)], j, x});
        sum *= launch.launcher.at(3, {row});
        ASSERT_NEAR(launch.launcher.at(2, {row, j}), sum, 2e-3 * std::fabs(sum) + 1e-4) << row << ", " << j;
      }
  }
}

// The expert's weights are staged in shared memory. Each thread loads its own rows.
TEST_F(RaiseShared, MixtureOfExpertsTakesTensorCores) {
  const ir::Program loop = Moe{480, 4, 8, 8, 768, 512}.launch().raise(load("13_fused_moe_kernel")).kernels.at(0);
  for (const char* target : {"sm_80", "sm_90"})
    EXPECT_THAT(print(heuristic(loop, load_target(target)).trail()),
                ::testing::AllOf(::testing::HasSubstr("stage_inputs.B=1"), ::testing::HasSubstr("mma.atom=m")));
}

// Blocks of rows are a batch of matmuls. Each matmul of the batch has one expert.
TEST_F(RaiseShared, MixtureOfExpertsIsABatchOfMatmuls) {
  const ir::Module module = Moe{48, 4, 4, 4, 256, 128}.launch().raise(load("13_fused_moe_kernel"));
  ASSERT_EQ(module.kernels.size(), 1U);
  EXPECT_EQ(ir::print(module.kernels.at(0)), R"(=== loop: C ===
input sorted_token_ids: i32[512]
input sorted_expert_ids: i32[4]
input A: f16[48, 128]
input B: f16[4, 256, 128]
input topk_weights: f16[192]
output C: f16[192, 256]
for a0 in 0..4: # free
  for a1 in 0..128: # free
    for a2 in 0..256: # free
      in0:i32 = load sorted_token_ids[((a0 * 128) + a1)]
      in1:i32 = load sorted_expert_ids[a0]
      for a3 in 0..128: # reduce
        in2 = load A[min(max((in0 / 4), 0), 47), a3]
        in3 = load B[min(max(in1, 0), 3), a2, a3]
        v0 = multiply(in2, in3)
        acc0 <- add(acc0, v0)
      in4 = load topk_weights[min(max(in0, 0), 191)]
      v1 = multiply(acc0, in4)
      if ((-1 < in0) && (in0 < 192)):
        C[in0, a2] = v1
)");
}

// --- The specification's programs, and ours --------------------------------------------------------------------------

std::string exact_key(const ir::Program& loop) { return ir::structural_keys(loop).exact; }

TEST(RaiseExamples, VectorAdd) {
  Launch launch;
  for (const char* array : {"a", "b", "c"}) launch.pointer(array, ir::DType::f32, {128});
  EXPECT_LE(launch.difference(example("vector_add")), of_f32);
}

/// The text of the example vector_add, with these operations in place of its sum.
tp::Program vector_add_with(const std::string& instead) {
  std::string text = read_file(std::filesystem::path(DEPLO_SOURCE_DIR) / "experiments/tile/vector_add.tile");
  constexpr std::string_view sum = "%c_val = addf %a_val, %b_val rounding<nearest_even> : tile<128xf32>";
  return tp::parse_program(text.replace(text.find(sum), sum.size(), instead), "changed vector_add");
}

// The signed number of one bit is 0 or -1.
TEST(RaiseExamples, SignedTruthValues) {
  for (const char* condition : {"cmpf less_than ordered %a_val, %b_val : tile<128xf32> -> tile<128xi1>",
                                "cmpi less_than %offset, %twenty, signed : tile<128xi32> -> tile<128xi1>"}) {
    Launch launch;
    for (const char* array : {"a", "b", "c"}) launch.pointer(array, ir::DType::f32, {128});
    const tp::Program program =
        vector_add_with(fmt::format("%twenty = constant <i32: 20> : tile<128xi32>\n%condition = {}\n"
                                    "%number = itof %condition signed : tile<128xi1> -> tile<128xf32>\n"
                                    "%sum = addf %a_val, %b_val : tile<128xf32>\n"
                                    "%c_val = addf %sum, %number : tile<128xf32>",
                                    condition));
    EXPECT_LE(launch.difference(program), of_f32) << condition;
  }
}

// Returns the difference for inputs that contain NaN, infinities and zeros.
double difference_with_specials(const tp::Program& program) {
  Launch launch;
  for (const char* array : {"a", "b", "c"}) launch.pointer(array, ir::DType::f32, {128});
  constexpr std::array specials = {std::numeric_limits<double>::quiet_NaN(), HUGE_VAL, -HUGE_VAL, 0.0, -0.0};
  for (std::int64_t i = 0; i < 50; ++i) {
    launch.launcher.arrays[0].set(i, specials[static_cast<std::size_t>(i % 5)]);
    if (i % 10 < 8) launch.launcher.arrays[1].set(i, specials[static_cast<std::size_t>(i / 10)]);
  }
  return launch.difference(program);
}

TEST(RaiseExamples, MaximaOfNan) {
  for (const char* name : {"maxf", "minf"})
    for (const char* flag : {"", " propagate_nan"}) {
      SCOPED_TRACE(fmt::format("{}{}", name, flag));
      EXPECT_LE(difference_with_specials(
                    vector_add_with(fmt::format("%c_val = {} %a_val, %b_val{} : tile<128xf32>", name, flag))),
                of_f32);
      EXPECT_LE(difference_with_specials(vector_add_with(fmt::format("%zero = constant <f32: 0.5> : tile<128xf32>\n"
                                                                     "%c_val = {} %a_val, %zero{} : tile<128xf32>",
                                                                     name, flag))),
                of_f32);
      EXPECT_LE(difference_with_specials(vector_add_with(
                    fmt::format("%m = reduce %a_val dim=0 identities=[{} : f32] : tile<128xf32> -> tile<f32>\n"
                                "(%x: tile<f32>, %y: tile<f32>) {{\n%z = {} %x, %y{} : tile<f32>\n"
                                "yield %z : tile<f32>\n}}\n%m1 = reshape %m : tile<f32> -> tile<1xf32>\n"
                                "%m2 = broadcast %m1 : tile<1xf32> -> tile<128xf32>\n"
                                "%c_val = subf %b_val, %m2 : tile<128xf32>",
                                std::string(name) == "maxf" ? "0xFF800000" : "0x7F800000", name, flag))),
                of_f32);
    }
}

// -0 + 0 is 0, so adding 0 is not a no-op.
TEST(RaiseExamples, SumsWithZero) {
  EXPECT_LE(difference_with_specials(vector_add_with(
                "%zero = constant <f32: 0.0> : tile<128xf32>\n%one = constant <f32: 1.0> : tile<128xf32>\n"
                "%sum = addf %a_val, %zero : tile<128xf32>\n%c_val = divf %one, %sum : tile<128xf32>")),
            of_f32);
}

TEST(RaiseExamples, SaxpyReadsWhatItWrites) {
  for (const auto& [m, n] : {std::pair<std::int64_t, std::int64_t>{128, 256}, {256, 512}, {200, 250}}) {
    Launch launch;
    launch.pointer("X", ir::DType::f32, {m, n}).pointer("Y", ir::DType::f32, {m, n});
    launch.scalar(1.5).scalar(m).scalar(n).grid({tiles(m, 128), tiles(n, 256), 1});
    const tp::Program program = example("saxpy");
    EXPECT_EQ(launch.raise(program).outputs, std::vector<std::string>{"Y_out"});
    EXPECT_LE(launch.difference(program), of_f32);
  }
}

TEST(RaiseExamples, GemmOfABlock) {
  Launch launch;
  for (const char* array : {"A", "B", "C"}) launch.pointer(array, ir::DType::f32, {64, 64});
  const tp::Program program = example("gemm_block");
  EXPECT_EQ(exact_key(launch.raise(program).kernels.at(0)), exact_key(matmul(64, 64, 64, ir::DType::f32)));
  EXPECT_LE(launch.difference(program), of_f32);
}

TEST(RaiseExamples, GemmSquareIsOurMatmul) {
  Launch launch;
  for (const char* array : {"A", "B", "C"})  // too large to run
    launch.raised.arguments.emplace_back(TileArray{array, {4096, 4096}, {4096, 1}});
  const ir::Module module = launch.grid({64, 64, 1}).raise(example("gemm_square_4096"));
  EXPECT_EQ(exact_key(module.kernels.at(0)), exact_key(matmul(4096, 4096, 4096, ir::DType::f32)));
}

/// Matmuls with the tiles of NVIDIA's sample, in f16 and tf32, which tensor cores of sm_90 take, and in f32.
TEST(RaiseExamples, MatmulOf128x256x64IsOurs) {
  const Target target = load_target("sm_90");
  for (const auto& [name, element, tolerance] : {std::tuple{"f16", ir::DType::f16, of_f16},
                                                 {"f32", ir::DType::f32, of_f32},
                                                 {"tf32", ir::DType::f32, of_tf32}}) {
    const tp::Program program = own(std::string("matmul_128x256x64_") + name);
    const auto launch_of = [element = element](std::int64_t m, std::int64_t n, std::int64_t k) {
      Launch launch;
      launch.array("a", element, {m, k}, pitch(k)).array("b", element, {k, n}, pitch(n));
      return launch.array("c", element, {m, n}, pitch(n)).grid({tiles(m, 128), tiles(n, 256), 1});
    };
    EXPECT_LE(launch_of(70, 300, 90).difference(program), tolerance) << name;
    const ir::Program raised = launch_of(512, 512, 256).raise(program).kernels.at(0);
    const bool tf32 = std::string_view(name) == "tf32";
    ir::Program ours = matmul(512, 512, 256, element == ir::DType::f16 ? ir::DType::f16 : ir::DType::f32);
    ours.allow_tf32 = tf32;
    EXPECT_EQ(raised.allow_tf32, tf32) << name;
    EXPECT_EQ(exact_key(raised) == exact_key(ours), !tf32) << name;  // the program for tf32 itself rounds to tf32
    EXPECT_EQ(print(heuristic(raised, target).trail()), print(heuristic(ours, target).trail())) << name;
  }
}

TEST(RaiseExamples, GemmOfViews) {
  for (const auto& [m, n, k] : {std::array<std::int64_t, 3>{128, 128, 64}, {256, 128, 128}, {136, 264, 72}}) {
    Launch launch;
    launch.pointer("A", ir::DType::f16, {k, m}).pointer("B", ir::DType::f16, {n, k});
    launch.pointer("C", ir::DType::f32, {m, n}).scalar(m).scalar(n).scalar(k).scalar(m).scalar(k).scalar(n);
    launch.grid({tiles(m, 128), tiles(n, 128), 1});
    EXPECT_LE(launch.difference(example("gemm_views")), of_f32) << m;
  }
}

TEST(RaiseExamples, Softmax) {
  for (const auto& [m, n] : {std::pair<std::int64_t, std::int64_t>{4, 64}, {3, 8}, {5, 50}}) {
    Launch launch;
    launch.array("x", ir::DType::f32, {m, n}, pitch(n)).array("y", ir::DType::f32, {m, n}, pitch(n));
    const tp::Program program = own("softmax");
    const ir::Module module = launch.grid({m, 1, 1}).raise(program);
    // The padding of -inf contributes nothing, so both sweeps end with the row and need no select.
    EXPECT_EQ(ir::print(module.kernels.at(0)).find("select"), std::string::npos);
    EXPECT_LE(launch.difference(program), of_f32) << n;
  }
}

TEST(RaiseExamples, Transpose) {
  for (const auto& [m, n] : {std::pair<std::int64_t, std::int64_t>{16, 16}, {48, 32}, {50, 21}}) {
    Launch launch;
    launch.array("x", ir::DType::f32, {m, n}, pitch(n)).array("y", ir::DType::f32, {n, m}, pitch(m));
    EXPECT_LE(launch.grid({tiles(m, 16), tiles(n, 16), 1}).difference(own("transpose")), 0) << m;
  }
}

TEST(RaiseExamples, Gather) {  // half of the indices are those of rows
  for (const std::int64_t n : {16, 40, 21}) {
    Launch launch;
    launch.pointer("x", ir::DType::f16, {25, 16}).pointer("id", ir::DType::i32, {n});
    launch.pointer("y", ir::DType::f32, {n, 16}).scalar(std::int64_t{25}).scalar(n).grid({tiles(n, 8), 1, 1});
    const tp::Program program =
        tp::read_file_program(std::filesystem::path(DEPLO_SOURCE_DIR) / "experiments/tile/exported/gather_rows.tile");
    EXPECT_LE(launch.difference(program), 0) << n;
  }
}

// Returns a program with blocks of 8 x 16 elements that computes y[id[i], j] = 2 x[i, j] if id[i] is the index of a
// row. `beyond`: the index for positions beyond the end of id.
tp::Program scatter_rows(const std::string& beyond, const std::string& mask = ", %mask",
                         const std::string& type = ", tile<8x16xi1>") {
  return tp::read_program(R"(
entry @scatter_rows(%x: tile<ptr<f32>>, %id: tile<ptr<i32>>, %y: tile<ptr<f32>>, %rows: tile<i32>, %n: tile<i32>) {
  %bx, %by, %bz = get_tile_block_id : tile<i32>
  %eight = constant <i32: 8> : tile<i32>
  %none = constant <i32: )" + beyond +
                              R"(> : tile<8xi32>
  %start = muli %bx, %eight : tile<i32>
  %starts = reshape %start : tile<i32> -> tile<1xi32>
  %all = broadcast %starts : tile<1xi32> -> tile<8xi32>
  %within = iota : tile<8xi32>
  %i = addi %all, %within : tile<8xi32>
  %n1 = reshape %n : tile<i32> -> tile<1xi32>
  %n8 = broadcast %n1 : tile<1xi32> -> tile<8xi32>
  %there = cmpi less_than %i, %n8, signed : tile<8xi32> -> tile<8xi1>
  %id1 = reshape %id : tile<ptr<i32>> -> tile<1xptr<i32>>
  %id8 = broadcast %id1 : tile<1xptr<i32>> -> tile<8xptr<i32>>
  %idp = offset %id8, %i : tile<8xptr<i32>>, tile<8xi32> -> tile<8xptr<i32>>
  %row, %t1 = load_ptr_tko weak %idp, %there, %none : tile<8xptr<i32>>, tile<8xi1>, tile<8xi32> -> tile<8xi32>, token
  %xt = make_tensor_view %x, shape = [%n, 16], strides = [16, 1] : tile<i32> -> tensor_view<?x16xf32, strides=[16,1]>
  %xv = make_partition_view %xt : partition_view<tile=(8x16), padding_value = zero, tensor_view<?x16xf32, strides=[16,1]>>
  %c0 = constant <i32: 0> : tile<i32>
  %v, %t2 = load_view_tko weak %xv[%bx, %c0] : partition_view<tile=(8x16), padding_value = zero, tensor_view<?x16xf32, strides=[16,1]>>, tile<i32> -> tile<8x16xf32>, token
  %w = addf %v, %v : tile<8x16xf32>
  %r1 = reshape %rows : tile<i32> -> tile<1xi32>
  %r8 = broadcast %r1 : tile<1xi32> -> tile<8xi32>
  %good = cmpi less_than %row, %r8, unsigned : tile<8xi32> -> tile<8xi1>
  %goodc = reshape %good : tile<8xi1> -> tile<8x1xi1>
  %mask = broadcast %goodc : tile<8x1xi1> -> tile<8x16xi1>
  %sixteen = constant <i32: 16> : tile<8xi32>
  %rowo = muli %row, %sixteen : tile<8xi32>
  %rowc = reshape %rowo : tile<8xi32> -> tile<8x1xi32>
  %rowb = broadcast %rowc : tile<8x1xi32> -> tile<8x16xi32>
  %j = iota : tile<16xi32>
  %jr = reshape %j : tile<16xi32> -> tile<1x16xi32>
  %jb = broadcast %jr : tile<1x16xi32> -> tile<8x16xi32>
  %o = addi %rowb, %jb : tile<8x16xi32>
  %y1 = reshape %y : tile<ptr<f32>> -> tile<1x1xptr<f32>>
  %yb = broadcast %y1 : tile<1x1xptr<f32>> -> tile<8x16xptr<f32>>
  %yp = offset %yb, %o : tile<8x16xptr<f32>>, tile<8x16xi32> -> tile<8x16xptr<f32>>
  %s = store_ptr_tko weak %yp, %w)" +
                              mask + R"( : tile<8x16xptr<f32>>, tile<8x16xf32>)" + type + R"( -> token
}
)",
                          "scatter_rows.tile");
}

Launch launch_of_rows(std::int64_t n) {
  std::vector<std::int64_t> ids;  // all 20 rows and other numbers, in some order
  for (std::int64_t i = 0; i < n; ++i) ids.push_back(i * 7 % n);
  Launch launch;
  launch.pointer("x", ir::DType::f32, {n, 16});
  launch.numbers_only("id", ids).pointer("y", ir::DType::f32, {20, 16});
  return launch.scalar(std::int64_t{20}).scalar(n).grid({tiles(n, 8), 1, 1});
}

TEST(RaiseExamples, ScatterOfRows) {
  for (const std::int64_t n : {24, 32, 20, 29}) {
    Launch launch = launch_of_rows(n);
    EXPECT_LE(launch.difference(scatter_rows("-1")), 0) << n;
  }
}

TEST(RaiseRefusals, Scatters) {
  EXPECT_THAT(message(scatter_rows("-1", "", ""), launch_of_rows(24)),
              ::testing::HasSubstr("expected a mask that keeps the loaded index of y within 0 and 19, found 1"));
  EXPECT_EQ(message(scatter_rows("0"), launch_of_rows(24)), "");
  EXPECT_THAT(message(scatter_rows("0"), launch_of_rows(29)),  // three more positions write row 0
              ::testing::HasSubstr("expected a mask that ends dimension 0 of id at 29"));
}

// Each block takes several tiles, one after the other, in its own order.
TEST(RaiseExamples, PersistentBlocks) {
  const tp::Program program = tp::read_program(R"(
entry @persistent(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %c: tile<ptr<f32>>, %m: tile<i32>, %n: tile<i32>, %k: tile<i32>) {
  %at = make_tensor_view %a, shape = [%m, %k], strides = [%k, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
  %bt = make_tensor_view %b, shape = [%k, %n], strides = [%n, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
  %ct = make_tensor_view %c, shape = [%m, %n], strides = [%n, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
  %av = make_partition_view %at : partition_view<tile=(8x16), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>
  %bv = make_partition_view %bt : partition_view<tile=(16x4), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>
  %cv = make_partition_view %ct : partition_view<tile=(8x4), tensor_view<?x?xf32, strides=[?,1]>>
  %bx, %by, %bz = get_tile_block_id : tile<i32>
  %gx, %gy, %gz = get_num_tile_blocks : tile<i32>
  %mt, %nt = get_index_space_shape %cv : partition_view<tile=(8x4), tensor_view<?x?xf32, strides=[?,1]>> -> tile<i32>
  %at0, %kt = get_index_space_shape %av : partition_view<tile=(8x16), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>> -> tile<i32>
  %all = muli %mt, %nt : tile<i32>
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %none = constant <f32: 0.0> : tile<8x4xf32>
  for %t in (%bx to %all, step %gx) : tile<i32> {
    %i = remi %t, %mt signed : tile<i32>
    %j = divi %t, %mt signed : tile<i32>
    %sum = for %x in (%zero to %kt, step %one) : tile<i32> iter_values(%s = %none) -> (tile<8x4xf32>) {
      %p, %t1 = load_view_tko weak %av[%i, %x] : partition_view<tile=(8x16), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> tile<8x16xf32>, token
      %q, %t2 = load_view_tko weak %bv[%x, %j] : partition_view<tile=(16x4), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> tile<16x4xf32>, token
      %next = mmaf %p, %q, %s : tile<8x16xf32>, tile<16x4xf32>, tile<8x4xf32>
      continue %next : tile<8x4xf32>
    }
    %w = store_view_tko weak %sum, %cv[%i, %j] : tile<8x4xf32>, partition_view<tile=(8x4), tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> token
    continue
  }
}
)",
                                               "persistent.tile");
  for (const auto& [m, n, k] : {std::array<std::int64_t, 3>{16, 16, 16}, {64, 4, 48}, {21, 30, 19}}) {
    Launch launch;
    launch.pointer("a", ir::DType::f32, {m, k}).pointer("b", ir::DType::f32, {k, n});
    launch.pointer("c", ir::DType::f32, {m, n}).scalar(m).scalar(n).scalar(k).grid({3, 1, 1});
    EXPECT_EQ(exact_key(launch.raise(program).kernels.at(0)), exact_key(matmul(m, n, k, ir::DType::f32)));
    EXPECT_LE(launch.difference(program), of_f32) << m;
  }
}

// --- Lowering of raised kernels --------------------------------------------------------------------------------------

TEST_F(RaiseShared, MatmulIsOursAndTakesTensorCores) {
  Launch launch;
  launch.array("A", ir::DType::f16, {512, 256}).array("B", ir::DType::f16, {256, 512});
  launch.array("C", ir::DType::f16, {512, 512}).grid({8, 1, 1});
  const ir::Program loop = launch.raise(load("05_matmul_kernel")).kernels.at(0);
  EXPECT_EQ(exact_key(loop), exact_key(matmul(512, 512, 256, ir::DType::f16)));
  EXPECT_THAT(print(heuristic(loop, load_target("sm_90")).trail()), ::testing::HasSubstr("mma.atom=m"));
}

// The heuristic's Kernel IR of raised kernels computes what these kernels compute.
TEST_F(RaiseShared, KernelsLower) {
  Launch product, norm;
  product.array("A", ir::DType::f16, {70, 90}, 96).array("B", ir::DType::f16, {90, 300}, 304);
  product.array("C", ir::DType::f16, {70, 300}, 304).grid({2, 1, 1});
  norm.array("X", ir::DType::f16, {5, 300}, 304).array("W", ir::DType::f16, {300});
  norm.array("B", ir::DType::f16, {300}).array("Y", ir::DType::f16, {5, 300}, 304);
  norm.array("Mean", ir::DType::f32, {5}).array("Rstd", ir::DType::f32, {5}).scalar(1e-5).grid({5, 1, 1});
  std::vector<ir::Program> kernels = product.raise(load("05_matmul_kernel")).kernels;
  for (ir::Program& kernel : norm.raise(load("08_layer_norm_fwd")).kernels) kernels.push_back(std::move(kernel));
  kernels.push_back(Moe{5, 2, 2, 2, 24, 40}.launch().raise(load("13_fused_moe_kernel")).kernels.at(0));
  ASSERT_EQ(kernels.size(), 5U);
  for (const ir::Program& kernel : kernels)
    for (const char* name : {"opencl-cpu", "sm_90"}) {
      const Target target = load_target(name);
      const ir::Program lowered = materialize(heuristic(kernel, target).program(), target);
      EXPECT_EQ(finding(kernel, lowered, 1), "") << kernel.name << " for " << name;
    }
}

// A later kernel loads what an earlier kernel has written.
TEST_F(RaiseShared, LayerNormSharesItsStatistics) {
  Launch launch;
  launch.array("X", ir::DType::f16, {4, 1500}, 1504).array("W", ir::DType::f16, {1500});
  launch.array("B", ir::DType::f16, {1500}).array("Y", ir::DType::f16, {4, 1500}, 1504);
  launch.array("Mean", ir::DType::f32, {4}).array("Rstd", ir::DType::f32, {4}).scalar(1e-5).grid({4, 1, 1});
  const ir::Module module = launch.raise(load("08_layer_norm_fwd"));
  EXPECT_EQ(module.outputs, (std::vector<std::string>{"Mean", "Rstd", "Y"}));
  EXPECT_EQ(ir::print(module.kernels.at(2)), R"(=== loop: Y ===
input X: f16[4, 1500] strides=(1504, 1)
input Mean: f32[4]
input Rstd: f32[4]
input W: f16[1500]
input B: f16[1500]
output Y: f16[4, 1500] strides=(1504, 1)
for a0 in 0..4: # free
  for a1 in 0..1500: # free
    in0 = load X[a0, a1]
    in1 = load Mean[a0]
    in2 = load Rstd[a0]
    in3 = load W[a1]
    in4 = load B[a1]
    v0 = subtract(in0, in1)
    v1 = multiply(v0, in2)
    v2 = multiply(v1, in3)
    v3 = add(v2, in4)
    Y[a0, a1] = v3
)");
}

// --- Refusals --------------------------------------------------------------------------------------------------------

TEST(RaiseRefusals, NamePlaceAndReason) {
  const auto refusal = [](const tp::Program& program, const Launch& launch) { return message(program, launch); };
  EXPECT_THAT(refusal(example("hello"), Launch()),
              ::testing::HasSubstr("cannot raise print_tko: a kernel of Loop IR is a"));
  Launch counts;
  counts.array("x", ir::DType::i32, {50}).array("counts", ir::DType::i32, {50}).grid({4, 1, 1});
  EXPECT_THAT(refusal(own("histogram"), counts),
              ::testing::HasSubstr("cannot raise atomic_rmw_tko: blocks communicate through it"));
  Launch sums;
  sums.array("x", ir::DType::f32, {5, 32}).array("y", ir::DType::f32, {5, 32}).grid({5, 1, 1});
  EXPECT_THAT(refusal(own("running_sum"), sums), ::testing::HasSubstr("cannot raise scan: Loop IR cannot express it"));
}

TEST(RaiseRefusals, Launches) {
  const auto saxpy = [](std::int64_t rows, Grid grid) {
    Launch launch;
    launch.pointer("X", ir::DType::f32, {256, 256}).pointer("Y", ir::DType::f32, {256, 256});
    launch.scalar(1.5).scalar(rows).scalar(std::int64_t{256}).grid(grid);
    return message(example("saxpy"), launch);
  };
  EXPECT_EQ(saxpy(256, {2, 1, 1}), "");
  EXPECT_THAT(saxpy(256, {1, 1, 1}),
              ::testing::HasSubstr("cannot raise store_view_tko: expected all 2 tiles of Y to be written, found 1"));
  EXPECT_THAT(
      saxpy(256, {3, 1, 1}),
      ::testing::HasSubstr("expected a tile within dimension 0 of Y, which has 256 elements, found one at 256"));
  EXPECT_THAT(
      saxpy(256, {2, 1, 2}),
      ::testing::HasSubstr("expected each element of Y to be written once, found a tile that two blocks write"));
  EXPECT_THAT(
      saxpy(512, {4, 1, 1}),
      ::testing::HasSubstr("make_tensor_view: expected a view within the 65536 elements of Y, found one of 131072"));
  EXPECT_THAT(saxpy(256, {0, 1, 1}), ::testing::HasSubstr("expected a grid of at least 1, found 0"));
  Launch few;
  few.pointer("X", ir::DType::f32, {256, 256});
  EXPECT_THAT(message(example("saxpy"), few), ::testing::HasSubstr("expected 5 arguments of saxpy_memref, found 1"));
}

// try_raise returns NotRaised if Loop IR cannot express the program. A wrong launch is an Error, because it is wrong in
// any form of the program.
TEST(RaiseRefusals, AreNoErrorsOfTheLaunch) {
  const auto saxpy = [](std::int64_t rows, std::int64_t blocks) {
    Launch launch;
    launch.pointer("X", ir::DType::f32, {256, 256}).pointer("Y", ir::DType::f32, {256, 256});
    launch.scalar(1.5).scalar(rows).scalar(std::int64_t{256}).grid({blocks, 1, 1});
    return try_raise(example("saxpy"), launch.raised);
  };
  EXPECT_TRUE(std::holds_alternative<ir::Module>(saxpy(256, 2)));
  const auto half = saxpy(256, 1);
  ASSERT_TRUE(std::holds_alternative<NotRaised>(half));
  EXPECT_THAT(std::get<NotRaised>(half).why, ::testing::HasSubstr("expected all 2 tiles of Y to be written, found 1"));
  EXPECT_THROW(saxpy(512, 4), Error);
  EXPECT_THROW(saxpy(256, 0), Error);
  const tp::Program assumes = tp::read_program(
      "entry @f(%x: tile<ptr<f32>>, %n: tile<i32>) {\n"
      "  %m = assume div_by<16>, %n : tile<i32>\n"
      "  %v = make_tensor_view %x, shape = [%m], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]>\n"
      "  %p = make_partition_view %v : partition_view<tile=(16), tensor_view<?xf32, strides=[1]>>\n"
      "  %b, %c, %d = get_tile_block_id : tile<i32>\n"
      "  %one = constant <f32: 1.0> : tile<16xf32>\n"
      "  %t = store_view_tko weak %one, %p[%b] : tile<16xf32>, "
      "partition_view<tile=(16), tensor_view<?xf32, strides=[1]>>, tile<i32> -> token\n"
      "  return\n}\n",
      "assumes.tile");
  const auto assumed = [&](std::int64_t n) {
    Launch launch;
    launch.pointer("x", ir::DType::f32, {64}).scalar(n).grid({(n + 15) / 16, 1, 1});
    return try_raise(assumes, launch.raised);
  };
  EXPECT_TRUE(std::holds_alternative<ir::Module>(assumed(64)));
  try {
    assumed(56);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("assume: expected a number divisible by 16, found 56"));
  }
}

TEST(RaiseRefusals, Arrays) {
  const auto add = [](const std::string& third, std::int64_t a) {
    Launch launch;
    launch.pointer("a", ir::DType::f32, {a}).pointer("b", ir::DType::f32, {128});
    return message(example("vector_add"), launch.pointer(third, ir::DType::f32, {128}));
  };
  EXPECT_EQ(add("c", 128), "");
  EXPECT_THAT(add("b", 128),
              ::testing::HasSubstr("expected an array with a name of its own for parameter 3 of vector_"));
  EXPECT_THAT(add("c", 100),
              ::testing::HasSubstr(
                  "load_ptr_tko: expected elements within dimension 0 of a, which has 100 elements, found 0 to 127"));
}

/// Returns the refusal of a program with the body `text`, in which each block has 64 elements of x and of y.
std::string message_of_body(const std::string& text, Grid grid = {2, 1, 1}) {
  const tp::Program program = tp::read_program(
      "entry @f(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>) {\n"
      "  %xt = make_tensor_view %x, shape = [128], strides = [1] : tensor_view<128xf32, strides=[1]>\n"
      "  %yt = make_tensor_view %y, shape = [128], strides = [1] : tensor_view<128xf32, strides=[1]>\n"
      "  %xv = make_partition_view %xt : partition_view<tile=(64), tensor_view<128xf32, strides=[1]>>\n"
      "  %yv = make_partition_view %yt : partition_view<tile=(64), tensor_view<128xf32, strides=[1]>>\n"
      "  %bx, %by, %bz = get_tile_block_id : tile<i32>\n"
      "  %zero = constant <i32: 0> : tile<i32>\n" +
          text + "}\n",
      "f.tile");
  Launch launch;
  launch.pointer("x", ir::DType::f32, {128}).pointer("y", ir::DType::f32, {128}).grid(grid);
  return message(program, launch);
}
const std::string load_x =
    "load_view_tko weak %xv[%bx] : partition_view<tile=(64), tensor_view<128xf32, strides=[1]>>, "
    "tile<i32> -> tile<64xf32>, token\n";
const std::string to_y =
    " : tile<64xf32>, partition_view<tile=(64), tensor_view<128xf32, strides=[1]>>, tile<i32> -> token\n";

TEST(RaiseRefusals, Stores) {
  EXPECT_EQ(message_of_body("%a, %t = " + load_x + "%s = store_view_tko weak %a, %yv[%bx]" + to_y), "");
  EXPECT_THAT(
      message_of_body("%a, %t = " + load_x + "%s = store_view_tko weak %a, %yv[%zero]" + to_y),
      ::testing::HasSubstr("expected each element of y to be written once, found a tile that two blocks write"));
  EXPECT_THAT(message_of_body("%a, %t = " + load_x + "%s = store_view_tko release device %a, %yv[%bx]" + to_y),
              ::testing::HasSubstr(
                  "cannot raise store_view_tko: expected a weak access: other accesses communicate with other blocks"));
  EXPECT_THAT(message_of_body("%a, %t = " + load_x + "%s = store_view_tko weak %a, %yv[%bx]" + to_y +
                              "%r = store_view_tko weak %a, %yv[%bx]" + to_y),
              ::testing::HasSubstr("y is written by two stores"));
  EXPECT_THAT(message_of_body("%one = constant <i32: 1> : tile<i32>\n%o = subi %one, %bx : tile<i32>\n%a, %t = " +
                              load_x + "%s = store_view_tko weak %a, %xv[%o]" + to_y),
              ::testing::HasSubstr("another block may read what it writes to x"));
  EXPECT_THAT(message_of_body("%a, %t = " + load_x + "%b = negf %a : tile<64xf32>\n%s = store_view_tko weak %b, " +
                              "%xv[%bx] token = %t" + to_y + "%r = store_view_tko weak %a, %yv[%bx]" + to_y),
              ::testing::HasSubstr("cannot raise store_view_tko: y is computed from x, which is written too"));
  EXPECT_THAT(
      message_of_body("%f = itof %bx signed : tile<i32> -> tile<f32>\n%g = reshape %f : tile<f32> -> tile<1xf32>\n"
                      "%a = broadcast %g : tile<1xf32> -> tile<64xf32>\n"
                      "%s = store_view_tko weak %a, %yv[%bx]" +
                      to_y),
      "");
  EXPECT_THAT(message_of_body("%c = cmpi less_than %bx, %zero, signed : tile<i32> -> tile<i1>\nif %c {\n return\n}\n" +
                              std::string("%a, %t = ") + load_x + "%s = store_view_tko weak %a, %yv[%bx]" + to_y),
              ::testing::HasSubstr("cannot raise if: a branch ends the block or its trip with return"));
}

/// The remainder of a number below 0 is none of an index expression, whose quotients round down.
TEST(RaiseRefusals, Integers) {
  EXPECT_THAT(message_of_body("%i = iota : tile<64xi32>\n%three = constant <i32: 3> : tile<64xi32>\n"
                              "%d = constant <i32: 40> : tile<64xi32>\n%j = subi %i, %three : tile<64xi32>\n"
                              "%m = remi %j, %d signed : tile<64xi32>\n"
                              "%a = itof %m signed : tile<64xi32> -> tile<64xf32>\n"
                              "%s = store_view_tko weak %a, %yv[%bx]" +
                              to_y),
              ::testing::AllOf(::testing::HasSubstr("cannot raise remi: expected operands whose result is an index "
                                                    "expression, found "),
                               ::testing::EndsWith(" and 40")));
}

TEST(RaiseRefusals, BodiesOfReductions) {
  const auto message_of = [](const std::string& sum, const std::string& result) {
    return message_of_body(
        "%f, %t = " + load_x +
        "%d = reduce %f dim=0 identities=[0.0 : f32] : tile<64xf32> -> tile<f32>\n(%p: tile<f32>, %q: "
        "tile<f32>) {\n%u = addf %p, %q " +
        sum + " : tile<f32>\nyield " + result +
        " : tile<f32>\n}\n%g = reshape %d : tile<f32> -> tile<1xf32>\n%a = broadcast %g : tile<1xf32> "
        "-> tile<64xf32>\n%s = store_view_tko weak %a, %yv[%bx]" +
        to_y);
  };
  EXPECT_EQ(message_of("", "%u"), "");
  EXPECT_THAT(message_of("", "%q"),
              ::testing::HasSubstr("cannot raise reduce: expected a body that combines its two elements"));
  EXPECT_THAT(message_of("rounding<zero>", "%u"),
              ::testing::HasSubstr("cannot raise addf: Loop IR only rounds to the nearest number"));
}

/// Index expressions are signed numbers that do not wrap, and an i1 that is a value is none of them.
TEST(RaiseRefusals, IntegersThatIndexExpressionsWouldMisread) {
  const std::string store = "%s = store_view_tko weak %a, %yv[%bx]" + to_y;
  EXPECT_THAT(message_of_body("%i = iota : tile<64xi8>\n%hundred = constant <i8: 100> : tile<64xi8>\n"
                              "%j = addi %i, %hundred : tile<64xi8>\n"
                              "%a = itof %j signed : tile<64xi8> -> tile<64xf32>\n" +
                              store),
              ::testing::HasSubstr("cannot raise addi: expected a number that fits in i8, found 100 to 163"));
  for (const char* result : {"unsigned : tile<64xf32> -> tile<64xi32>", "signed : tile<64xf32> -> tile<64xi64>"}) {
    const std::string type = std::string(result).substr(std::string(result).rfind("> ") + 2);
    EXPECT_THAT(
        message_of_body("%f, %t = " + load_x + "%j = ftoi %f " + result + "\n%a = itof %j signed : " + type +
                        " -> tile<64xf32>\n" + store),
        ::testing::HasSubstr("cannot raise ftoi: Loop IR converts floats to signed integers of at most 32 bits"));
  }
  EXPECT_THAT(message_of_body("%f, %t = " + load_x +
                              "%c = cmpf less_than ordered %f, %f : tile<64xf32> -> tile<64xi1>\n"
                              "%d = cmpi equal %c, %c, signed : tile<64xi1> -> tile<64xi1>\n"
                              "%a = itof %d unsigned : tile<64xi1> -> tile<64xf32>\n" +
                              store),
              ::testing::HasSubstr("cannot raise cmpi: expected an index expression, found an i1 that is a value"));
  EXPECT_THAT(message_of_body(
                  "%one = constant <i32: 1> : tile<i32>\n%low = constant <i32: -1> : tile<i32>\n%f, %t = " + load_x +
                  "%a = for unsigned %i in (%low to %one, step %one) : tile<i32> iter_values(%sum = %f) -> "
                  "(tile<64xf32>) {\n%n = addf %sum, %f : tile<64xf32>\ncontinue %n : tile<64xf32>\n}\n" +
                  store),
              ::testing::HasSubstr("cannot raise for: expected bounds of an unsigned counter that are at least 0"));
}

}  // namespace
}  // namespace deplo::rules
