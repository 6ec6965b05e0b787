// The programs of ../shared/tile_programs, which NVIDIA's Python package exported, run on the interpreter and are
// compared with references in double. The tests are skipped if that folder does not exist.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "ir/tile_program/launches.h"
#include "ir/tile_program/text/text.h"

namespace deplo::ir::tile_program {
namespace {

std::int64_t tiles(std::int64_t extent, std::int64_t tile) { return (extent + tile - 1) / tile; }

/// Rows are a multiple of 8 elements apart, as the programs assume.
std::int64_t pitch(std::int64_t columns) { return tiles(columns, 8) * 8; }

class SharedPrograms : public ::testing::Test {
 protected:
  void SetUp() override {
    if (shared_programs().empty()) GTEST_SKIP() << "no ../shared/tile_programs";
  }
  /// Reads and verifies a program, and checks that its print can be read again.
  static Program load(const std::string& name) {
    const Program program = read_file_program(shared_programs() / (name + ".tileirbc"));
    const std::string text = print(program);
    Program again = read_program(text, name);
    EXPECT_EQ(print(again), text);
    return program;
  }
};

TEST_F(SharedPrograms, VecAdd1d) {
  for (const char* name : {"00_vec_add_kernel_1d", "02_vec_add_kernel_1d_gather"}) {
    const Program program = load(name);
    for (const std::int64_t n : {1024, 3000, 7}) {
      Launcher launcher;
      const auto a = launcher.add("a", DType::f32, {n}), b = launcher.add("b", DType::f32, {n}),
                 c = launcher.add("c", DType::f32, {n});
      launcher.run(program, {tiles(n, 1024), 1, 1}, static_cast<std::uint64_t>(n));
      for (std::int64_t i = 0; i < n; ++i)
        ASSERT_EQ(launcher.at(c, {i}), round_to(launcher.at(a, {i}) + launcher.at(b, {i}), DType::f32))
            << name << " " << n << " at " << i;
    }
  }
}

TEST_F(SharedPrograms, VecAdd2d) {
  for (const char* name : {"01_vec_add_kernel_2d", "03_vec_add_kernel_2d_gather"}) {
    const Program program = load(name);
    for (const auto& [m, n] : {std::pair<std::int64_t, std::int64_t>{32, 64}, {64, 128}, {37, 101}}) {
      Launcher launcher;
      const auto a = launcher.add("a", DType::f32, {m, n}, pitch(n)),
                 b = launcher.add("b", DType::f32, {m, n}, pitch(n)),
                 c = launcher.add("c", DType::f32, {m, n}, pitch(n));
      launcher.run(program, {tiles(m, 32), tiles(n, 64), 1}, 3);
      for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n; ++j)
          ASSERT_EQ(launcher.at(c, {i, j}), round_to(launcher.at(a, {i, j}) + launcher.at(b, {i, j}), DType::f32))
              << name << " at " << i << ", " << j;
    }
  }
}

TEST_F(SharedPrograms, Matmul) {
  const Program program = load("05_matmul_kernel");
  for (const auto& [m, n, k] : {std::array<std::int64_t, 3>{128, 256, 64}, {256, 256, 128}, {70, 300, 90}}) {
    Launcher launcher;
    const auto a = launcher.add("A", DType::f16, {m, k}, pitch(k)), b = launcher.add("B", DType::f16, {k, n}, pitch(n)),
               c = launcher.add("C", DType::f16, {m, n}, pitch(n));
    launcher.run(program, {tiles(m, 128) * tiles(n, 256), 1, 1}, 5);
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (std::int64_t x = 0; x < k; ++x) sum += launcher.at(a, {i, x}) * launcher.at(b, {x, j});
        ASSERT_NEAR(launcher.at(c, {i, j}), sum, 0x1p-10 * std::fabs(sum) + 1e-5) << i << ", " << j;
      }
  }
}

TEST_F(SharedPrograms, LayerNorm) {
  const Program program = load("08_layer_norm_fwd");
  for (const auto& [m, n] : {std::pair<std::int64_t, std::int64_t>{4, 1024}, {3, 2048}, {5, 1500}}) {
    Launcher launcher;
    const auto x = launcher.add("X", DType::f16, {m, n}, pitch(n)), w = launcher.add("W", DType::f16, {n}),
               b = launcher.add("B", DType::f16, {n}), y = launcher.add("Y", DType::f16, {m, n}, pitch(n));
    const auto mean = launcher.add("Mean", DType::f32, {m}), rstd = launcher.add("Rstd", DType::f32, {m});
    launcher.scalar(1e-5);
    launcher.run(program, {m, 1, 1}, 2);
    for (std::int64_t i = 0; i < m; ++i) {
      double sum = 0, squares = 0;
      for (std::int64_t j = 0; j < n; ++j) sum += launcher.at(x, {i, j});
      for (std::int64_t j = 0; j < n; ++j)
        squares += std::pow(launcher.at(x, {i, j}) - sum / static_cast<double>(n), 2);
      const double average = sum / static_cast<double>(n),
                   scale = 1 / std::sqrt(squares / static_cast<double>(n) + 1e-5);
      EXPECT_NEAR(launcher.at(mean, {i}), average, 1e-5);
      EXPECT_NEAR(launcher.at(rstd, {i}), scale, 1e-4);
      for (std::int64_t j = 0; j < n; ++j) {
        const double expected = (launcher.at(x, {i, j}) - average) * scale * launcher.at(w, {j}) + launcher.at(b, {j});
        ASSERT_NEAR(launcher.at(y, {i, j}), expected, 2e-3 * std::fabs(expected) + 1e-3) << i << ", " << j;
      }
    }
  }
}

TEST_F(SharedPrograms, Attention) {
  const Program program = load("11_fmha_kernel");
  constexpr std::int64_t h = 8, d = 64;
  for (const auto& [batch, s] : {std::pair<std::int64_t, std::int64_t>{1, 128}, {2, 128}, {1, 200}}) {
    Launcher launcher;
    const auto q = launcher.add("Q", DType::f16, {batch, h, s, d}), k = launcher.add("K", DType::f16, {batch, h, s, d}),
               v = launcher.add("V", DType::f16, {batch, h, s, d}),
               out = launcher.add("Out", DType::f16, {batch, h, s, d});
    launcher.scalar(0.125);
    launcher.scalar(std::int64_t{0});
    launcher.run(program, {tiles(s, 128), batch * h, 1}, 1);
    for (std::int64_t b = 0; b < batch; ++b)
      for (const std::int64_t head : {std::int64_t{0}, h - 1})
        for (std::int64_t i = 0; i < s; i += 7) {
          std::vector<double> weights;
          double most = -HUGE_VAL, total = 0;
          for (std::int64_t j = 0; j <= i; ++j) {
            double dot = 0;
            for (std::int64_t x = 0; x < d; ++x)
              dot += launcher.at(q, {b, head, i, x}) * launcher.at(k, {b, head, j, x});
            weights.push_back(dot * 0.125);
            most = std::max(most, weights.back());
          }
          for (double& x : weights) total += x = std::exp(x - most);
          for (std::int64_t x = 0; x < d; ++x) {
            double sum = 0;
            for (std::int64_t j = 0; j <= i; ++j)
              sum += weights[static_cast<std::size_t>(j)] * launcher.at(v, {b, head, j, x});
            ASSERT_NEAR(launcher.at(out, {b, head, i, x}), sum / total, 3e-3)
                << b << ", " << head << ", " << i << ", " << x;
          }
        }
  }
}

TEST_F(SharedPrograms, MixtureOfExperts) {
  const Program program = load("13_fused_moe_kernel");
  struct Case {
    std::int64_t tokens, topk, experts, n, k;
  };
  for (const auto& [tokens, topk, experts, n, k] :
       {Case{64, 2, 2, 128, 64}, Case{96, 1, 3, 256, 128}, Case{50, 2, 4, 72, 40}}) {
    std::vector<std::int64_t> expert_of;
    for (std::int64_t i = 0; i < tokens * topk; ++i) expert_of.push_back((i * 7 + i / 3) % experts);
    const Routing routing = route(expert_of, experts, 128);
    Launcher launcher;
    const auto a = launcher.add("A", DType::f16, {tokens, k}, pitch(k)),
               b = launcher.add("B", DType::f16, {experts, n, k}),
               c = launcher.add("C", DType::f16, {tokens * topk, n}, pitch(n));
    const auto weights = launcher.add("topk_weights", DType::f16, {tokens * topk});
    launcher.add("sorted_token_ids", routing.ids);
    launcher.add("sorted_expert_ids", routing.experts);
    launcher.scalar(topk);
    launcher.run(program, {tiles(static_cast<std::int64_t>(routing.ids.size()), 128) * tiles(n, 128), 1, 1}, 4);
    for (std::int64_t row = 0; row < tokens * topk; ++row)
      for (std::int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (std::int64_t x = 0; x < k; ++x)
          sum += launcher.at(a, {row / topk, x}) * launcher.at(b, {expert_of[static_cast<std::size_t>(row)], j, x});
        sum *= launcher.at(weights, {row});
        ASSERT_NEAR(launcher.at(c, {row, j}), sum, 2e-3 * std::fabs(sum) + 1e-4) << row << ", " << j;
      }
  }
}

}  // namespace
}  // namespace deplo::ir::tile_program
