// Bytecode of versions 13.1 to 13.4 that we exported from experiments/tile/kernels.py with experiments/export_tile.py.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>

#include "core/error.h"
#include "core/file.h"
#include "ir/tile_program/launches.h"
#include "ir/tile_program/text/text.h"

namespace deplo::ir::tile_program {
namespace {

std::filesystem::path data(const std::string& name) {
  return std::filesystem::path(DEPLO_SOURCE_DIR) / "experiments" / "tile" / "exported" / (name + ".tileirbc");
}

Program exported(const std::string& name) {
  const Program program = read_file_program(data(name));
  const std::string text = print(program);
  EXPECT_EQ(print(read_program(text, name)), text);
  return program;
}

TEST(Exported, ScaleOfEachVersion) {
  for (const char* version : {"13.1", "13.2", "13.3", "13.4"}) {
    const Program program = exported(std::string("scale_") + version);
    EXPECT_EQ(print(program.version), version);
    Launcher launcher;
    const auto x = launcher.add("x", DType::f16, {300}), y = launcher.add("y", DType::f16, {300});
    launcher.scalar(0.75);
    launcher.run(program, {3, 1, 1});
    for (std::int64_t i = 0; i < 300; ++i)
      ASSERT_EQ(launcher.at(y, {i}), round_to(0.75 * launcher.at(x, {i}), DType::f16));
  }
}

TEST(Exported, Softmax) {
  Launcher launcher;
  const auto x = launcher.add("x", DType::f32, {3, 50}, 56), y = launcher.add("y", DType::f32, {3, 50}, 56);
  launcher.run(exported("softmax"), {3, 1, 1});
  for (std::int64_t i = 0; i < 3; ++i) {
    double sum = 0;
    for (std::int64_t j = 0; j < 50; ++j) sum += std::exp(launcher.at(x, {i, j}));
    for (std::int64_t j = 0; j < 50; ++j)
      ASSERT_NEAR(launcher.at(y, {i, j}), std::exp(launcher.at(x, {i, j})) / sum, 1e-7);
  }
}

TEST(Exported, RunningSum) {
  Launcher launcher;
  const auto x = launcher.add("x", DType::f32, {2, 30}, 32), y = launcher.add("y", DType::f32, {2, 30}, 32);
  launcher.run(exported("running_sum"), {2, 1, 1});
  for (std::int64_t i = 0; i < 2; ++i) {
    double sum = 0;
    for (std::int64_t j = 0; j < 30; ++j) ASSERT_NEAR(launcher.at(y, {i, j}), sum += launcher.at(x, {i, j}), 1e-5);
  }
}

TEST(Exported, Transpose) {
  Launcher launcher;
  const auto x = launcher.add("x", DType::f32, {20, 40}), y = launcher.add("y", DType::f32, {40, 20}, 24);
  launcher.run(exported("transpose"), {2, 3, 1});
  for (std::int64_t i = 0; i < 20; ++i)
    for (std::int64_t j = 0; j < 40; ++j) ASSERT_EQ(launcher.at(y, {j, i}), launcher.at(x, {i, j}));
}

TEST(Exported, Histogram) {
  Launcher launcher;
  const auto x = launcher.add("x", DType::i32, {200}), counts = launcher.add("counts", DType::i32, {100});
  for (std::int64_t i = 0; i < 100; ++i) launcher.set(counts, {i}, 0);
  launcher.run(exported("histogram"), {4, 1, 1}, 7);
  std::vector<double> expected(100);
  for (std::int64_t i = 0; i < 200; ++i) ++expected[static_cast<std::size_t>(launcher.at(x, {i}))];
  for (std::int64_t i = 0; i < 100; ++i) ASSERT_EQ(launcher.at(counts, {i}), expected[static_cast<std::size_t>(i)]);
}

/// A lock orders the accesses that it guards, whatever the order of the blocks.
TEST(Exported, LockedSum) {
  const Program program = exported("locked_sum");
  for (std::uint64_t order = 0; order < 6; ++order) {
    Launcher launcher;
    const auto x = launcher.add("x", DType::f32, {200}), total = launcher.add("total", DType::f32, {1}),
               lock = launcher.add("lock", DType::i32, {1});
    launcher.set(total, {0}, 0);
    launcher.set(lock, {0}, 0);
    launcher.run(program, {7, 1, 1}, order);
    double sum = 0;
    for (std::int64_t i = 0; i < 200; ++i) sum += launcher.at(x, {i});
    EXPECT_NEAR(launcher.at(total, {0}), sum, 1e-5);
    EXPECT_EQ(launcher.at(lock, {0}), 0);
  }
}

TEST(Exported, Matmul) {
  Launcher launcher;
  const auto a = launcher.add("a", DType::bf16, {20, 24}), b = launcher.add("b", DType::bf16, {24, 40}),
             c = launcher.add("c", DType::f32, {20, 40});
  launcher.run(exported("matmul"), {2, 2, 1});
  for (std::int64_t i = 0; i < 20; ++i)
    for (std::int64_t j = 0; j < 40; ++j) {
      double sum = 0;
      for (std::int64_t k = 0; k < 24; ++k) sum += launcher.at(a, {i, k}) * launcher.at(b, {k, j});
      ASSERT_NEAR(launcher.at(c, {i, j}), sum, 1e-5);
    }
}

/// dx belongs to each row. All rows add to dw and db, one at a time, guarded by a lock.
TEST(Exported, LayerNormBackward) {
  constexpr std::int64_t rows = 5, n = 50, pitch = 56;
  const Program program = exported("layer_norm_backward_locked");
  Launcher launcher;
  const auto dy = launcher.add("dy", DType::f16, {rows, n}, pitch), x = launcher.add("x", DType::f16, {rows, n}, pitch),
             w = launcher.add("w", DType::f16, {n}), mean = launcher.add("mean", DType::f32, {rows}),
             rstd = launcher.add("rstd", DType::f32, {rows}), dx = launcher.add("dx", DType::f16, {rows, n}, pitch),
             dw = launcher.add("dw", DType::f32, {n}), db = launcher.add("db", DType::f32, {n}),
             lock = launcher.add("lock", DType::i32, {1});
  for (std::int64_t j = 0; j < n; ++j) launcher.set(dw, {j}, 0), launcher.set(db, {j}, 0);
  launcher.set(lock, {0}, 0);
  launcher.run(program, {rows, 1, 1}, 3);
  std::vector<double> sum_w(n), sum_b(n);
  for (std::int64_t i = 0; i < rows; ++i) {
    double slope = 0, shift = 0;
    const auto h = [&](std::int64_t j) {
      return (launcher.at(x, {i, j}) - launcher.at(mean, {i})) * launcher.at(rstd, {i});
    };
    const auto wg = [&](std::int64_t j) { return launcher.at(w, {j}) * launcher.at(dy, {i, j}); };
    for (std::int64_t j = 0; j < n; ++j) slope += h(j) * wg(j) / n, shift += wg(j) / n;
    for (std::int64_t j = 0; j < n; ++j) {
      ASSERT_NEAR(launcher.at(dx, {i, j}), (wg(j) - (h(j) * slope + shift)) * launcher.at(rstd, {i}), 2e-3);
      sum_w[static_cast<std::size_t>(j)] += launcher.at(dy, {i, j}) * h(j);
      sum_b[static_cast<std::size_t>(j)] += launcher.at(dy, {i, j});
    }
  }
  for (std::int64_t j = 0; j < n; ++j) {
    ASSERT_NEAR(launcher.at(dw, {j}), sum_w[static_cast<std::size_t>(j)], 1e-5);
    ASSERT_NEAR(launcher.at(db, {j}), sum_b[static_cast<std::size_t>(j)], 1e-5);
  }
  EXPECT_EQ(launcher.at(lock, {0}), 0);
}

/// 64 numbers as 8 x 8, compared with the sum that defines the transform.
TEST(Exported, Fourier) {
  constexpr std::int64_t n = 8;
  Launcher launcher;
  std::vector<std::size_t> x, y, f, t;
  for (const char* name : {"x_re", "x_im"}) x.push_back(launcher.add(name, DType::f32, {2, n, n}));
  for (const char* name : {"y_re", "y_im"}) y.push_back(launcher.add(name, DType::f32, {2, n, n}));
  for (const char* name : {"f_re", "f_im"}) f.push_back(launcher.add(name, DType::f32, {n, n}));
  for (const char* name : {"t_re", "t_im"}) t.push_back(launcher.add(name, DType::f32, {n, n}));
  const auto set_root = [&](const std::vector<std::size_t>& to, std::int64_t i, std::int64_t j, std::int64_t of) {
    const double angle = -2 * M_PI * static_cast<double>(i * j) / static_cast<double>(of);
    launcher.set(to[0], {i, j}, std::cos(angle));
    launcher.set(to[1], {i, j}, std::sin(angle));
  };
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) set_root(f, i, j, n), set_root(t, i, j, n * n);
  launcher.run(exported("fourier"), {2, 1, 1});
  for (std::int64_t b = 0; b < 2; ++b)
    for (std::int64_t k = 0; k < n * n; ++k) {
      std::complex<double> sum = 0;
      for (std::int64_t i = 0; i < n * n; ++i)
        sum += std::complex(launcher.at(x[0], {b, i / n, i % n}), launcher.at(x[1], {b, i / n, i % n})) *
               std::polar(1.0, -2 * M_PI * static_cast<double>(i * k) / (n * n));
      ASSERT_NEAR(launcher.at(y[0], {b, k / n, k % n}), sum.real(), 1e-5);
      ASSERT_NEAR(launcher.at(y[1], {b, k / n, k % n}), sum.imag(), 1e-5);
    }
}

TEST(Exported, CumulativeSoftmax) {
  Launcher launcher;
  const auto x = launcher.add("x", DType::f32, {3, 37}, 40), y = launcher.add("y", DType::f32, {3, 37}, 40);
  launcher.run(exported("cumulative_softmax"), {3, 1, 1});
  for (std::int64_t i = 0; i < 3; ++i) {
    double all = 0, sum = 0;
    for (std::int64_t j = 0; j < 37; ++j) all += std::exp(launcher.at(x, {i, j}));
    for (std::int64_t j = 0; j < 37; ++j)
      ASSERT_NEAR(launcher.at(y, {i, j}), sum += std::exp(launcher.at(x, {i, j})) / all, 1e-6);
  }
}

/// The order of the blocks decides which block is the last one, but not the result of that block.
TEST(Exported, LastBlockSum) {
  const Program program = exported("last_block_sum");
  for (std::uint64_t order = 0; order < 4; ++order) {
    Launcher launcher;
    const auto x = launcher.add("x", DType::f32, {300});
    launcher.add("parts", DType::f32, {10});
    const auto blocks = launcher.add("count", DType::i32, {1}), total = launcher.add("total", DType::f32, {1});
    launcher.set(blocks, {0}, 0);
    launcher.run(program, {10, 1, 1}, order);
    double sum = 0;
    for (std::int64_t i = 0; i < 300; ++i) sum += launcher.at(x, {i});
    EXPECT_NEAR(launcher.at(total, {0}), sum, 1e-5);
    EXPECT_EQ(launcher.at(blocks, {0}), 10);
  }
}

TEST(Exported, ScatterAdd) {
  Launcher launcher;
  const auto x = launcher.add("x", DType::f32, {150}), index = launcher.add("index", DType::i32, {150}),
             y = launcher.add("y", DType::f32, {100});
  std::vector<double> expected;
  for (std::int64_t i = 0; i < 100; ++i) expected.push_back(launcher.at(y, {i}));
  for (std::int64_t i = 0; i < 150; ++i)
    expected[static_cast<std::size_t>(launcher.at(index, {i}))] += launcher.at(x, {i});
  launcher.run(exported("scatter_add"), {3, 1, 1}, 5);
  for (std::int64_t i = 0; i < 100; ++i) ASSERT_NEAR(launcher.at(y, {i}), expected[static_cast<std::size_t>(i)], 1e-5);
}

TEST(Exported, UncheckedGather) {
  Launcher launcher;
  const auto x = launcher.add("x", DType::f32, {128}), keep = launcher.add("keep", DType::boolean, {128}),
             y = launcher.add("y", DType::f32, {128});
  launcher.run(exported("unchecked"), {2, 1, 1});
  for (std::int64_t i = 0; i < 128; ++i)
    ASSERT_EQ(launcher.at(y, {i}), launcher.at(keep, {i}) != 0 ? 2 * launcher.at(x, {i}) : -1);
}

TEST(Exported, Powers) {
  Launcher launcher;
  const auto x = launcher.add("x", DType::f32, {128}), n = launcher.add("n", DType::i32, {128}),
             y = launcher.add("y", DType::f32, {128});
  for (std::int64_t i = 0; i < 128; ++i) launcher.set(n, {i}, static_cast<double>(i % 9 - 4));
  launcher.set(x, {5}, -1), launcher.set(n, {5}, (1 << 30) + 1);
  launcher.run(exported("powers"), {2, 1, 1});
  EXPECT_EQ(launcher.at(y, {5}), -2);
  for (std::int64_t i = 0; i < 128; ++i) {
    const double power = std::pow(launcher.at(x, {i}), launcher.at(n, {i}));
    ASSERT_NEAR(launcher.at(y, {i}), power + std::pow(launcher.at(x, {i}), 3), 1e-6 * (1 + std::abs(power)));
  }
  Launcher beyond;
  for (const char* name : {"x", "n", "y"}) beyond.add(name, name[0] == 'n' ? DType::i32 : DType::f32, {100});
  try {
    beyond.run(exported("powers"), {2, 1, 1});
    FAIL() << "the second tile of 64 does not lie within 100 elements";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(),
                ::testing::HasSubstr("load_view_tko: expected a tile within the 100 elements of dimension 0, "
                                     "as inbounds promises, found element 100"));
  }
}

TEST(Exported, SwapQuarters) {
  Launcher launcher;
  const auto x = launcher.add("x", DType::f32, {8, 8}), y = launcher.add("y", DType::f32, {8, 8});
  launcher.run(exported("swap_quarters"), {1, 1, 1});
  for (std::int64_t i = 0; i < 8; ++i)
    for (std::int64_t j = 0; j < 8; ++j) {
      const std::int64_t shift = i < 4 && j < 4 ? 4 : i >= 4 && j >= 4 ? -4 : 0;
      ASSERT_EQ(launcher.at(y, {i, j}), i == 0 && j == 7 ? 7 : launcher.at(x, {i + shift, j + shift}));
    }
}

TEST(Exported, PlacesNameTheByteAndTheLineOfTheSource) {
  Launcher launcher;
  launcher.add("x", DType::f32, {3, 50}, 52);
  launcher.add("y", DType::f32, {3, 50}, 56);
  try {
    launcher.run(exported("softmax"), {3, 1, 1});
    FAIL() << "a stride of 52 is not divisible by 8";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(),
                ::testing::MatchesRegex("softmax.tileirbc: byte [0-9]+ .experiments/tile/kernels.py:15:12.: assume: "
                                        "expected a number divisible by 8, "
                                        "found 52 .block [0-2], 0, 0."));
  }
  EXPECT_THAT(exported("softmax").sources, ::testing::Contains(::testing::EndsWith("kernels.py")));
}

}  // namespace
}  // namespace deplo::ir::tile_program
