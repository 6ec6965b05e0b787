// Bytecode that we exported from experiments/tile/kernels.py by experiments/export_tile.py, of versions 13.1 to 13.3.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "core/file.h"
#include "ir/tile_program/launches.h"
#include "ir/tile_program/text/text.h"

namespace deplo::ir::tile_program {
namespace {

std::filesystem::path data(const std::string& name) {
  return std::filesystem::path(DEPLO_SOURCE_DIR) / "tests" / "data" / "tile_programs" / (name + ".tileirbc");
}

Program exported(const std::string& name) {
  const Program program = read_file_program(data(name));
  const std::string text = print(program);
  EXPECT_EQ(print(read_program(text, name)), text);
  return program;
}

TEST(Exported, ScaleOfEachVersion) {
  for (const char* version : {"13.1", "13.2", "13.3"}) {
    const Program program = exported(std::string("scale_") + version);
    EXPECT_EQ(print(program.version), version);
    Launcher launcher;
    const auto x = launcher.add("x", Element::f16, {300}), y = launcher.add("y", Element::f16, {300});
    launcher.scalar(0.75);
    launcher.run(program, {3, 1, 1});
    for (std::int64_t i = 0; i < 300; ++i)
      ASSERT_EQ(launcher.at(y, {i}), round_to(0.75 * launcher.at(x, {i}), Element::f16));
  }
}

TEST(Exported, Softmax) {
  Launcher launcher;
  const auto x = launcher.add("x", Element::f32, {3, 50}, 56), y = launcher.add("y", Element::f32, {3, 50}, 56);
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
  const auto x = launcher.add("x", Element::f32, {2, 30}, 32), y = launcher.add("y", Element::f32, {2, 30}, 32);
  launcher.run(exported("running_sum"), {2, 1, 1});
  for (std::int64_t i = 0; i < 2; ++i) {
    double sum = 0;
    for (std::int64_t j = 0; j < 30; ++j) ASSERT_NEAR(launcher.at(y, {i, j}), sum += launcher.at(x, {i, j}), 1e-5);
  }
}

TEST(Exported, Transpose) {
  Launcher launcher;
  const auto x = launcher.add("x", Element::f32, {20, 40}), y = launcher.add("y", Element::f32, {40, 20}, 24);
  launcher.run(exported("transpose"), {2, 3, 1});
  for (std::int64_t i = 0; i < 20; ++i)
    for (std::int64_t j = 0; j < 40; ++j) ASSERT_EQ(launcher.at(y, {j, i}), launcher.at(x, {i, j}));
}

TEST(Exported, Histogram) {
  Launcher launcher;
  const auto x = launcher.add("x", Element::i32, {200}), counts = launcher.add("counts", Element::i32, {100});
  for (std::int64_t i = 0; i < 100; ++i) launcher.set(counts, {i}, 0);
  launcher.run(exported("histogram"), {4, 1, 1}, 7);
  std::vector<double> expected(100);
  for (std::int64_t i = 0; i < 200; ++i) ++expected[static_cast<std::size_t>(launcher.at(x, {i}))];
  for (std::int64_t i = 0; i < 100; ++i) ASSERT_EQ(launcher.at(counts, {i}), expected[static_cast<std::size_t>(i)]);
}

/// A lock that is acquired and released orders what it guards, in whatever order blocks come.
TEST(Exported, LockedSum) {
  const Program program = exported("locked_sum");
  for (std::uint64_t order = 0; order < 6; ++order) {
    Launcher launcher;
    const auto x = launcher.add("x", Element::f32, {200}), total = launcher.add("total", Element::f32, {1}),
               lock = launcher.add("lock", Element::i32, {1});
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
  const auto a = launcher.add("a", Element::bf16, {20, 24}), b = launcher.add("b", Element::bf16, {24, 40}),
             c = launcher.add("c", Element::f32, {20, 40});
  launcher.run(exported("matmul"), {2, 2, 1});
  for (std::int64_t i = 0; i < 20; ++i)
    for (std::int64_t j = 0; j < 40; ++j) {
      double sum = 0;
      for (std::int64_t k = 0; k < 24; ++k) sum += launcher.at(a, {i, k}) * launcher.at(b, {k, j});
      ASSERT_NEAR(launcher.at(c, {i, j}), sum, 1e-5);
    }
}

TEST(Exported, PlacesNameTheByteAndTheLineOfTheSource) {
  Launcher launcher;
  launcher.add("x", Element::f32, {3, 50}, 52);
  launcher.add("y", Element::f32, {3, 50}, 56);
  try {
    launcher.run(exported("softmax"), {3, 1, 1});
    FAIL() << "a stride of 52 is not divisible by 8";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(),
                testing::MatchesRegex("softmax.tileirbc: byte [0-9]+ .experiments/tile/kernels.py:15:12.: assume: "
                                      "expected a number divisible by 8, "
                                      "found 52 .block [0-2], 0, 0."));
  }
  EXPECT_THAT(exported("softmax").sources, testing::Contains(testing::EndsWith("kernels.py")));
}

}  // namespace
}  // namespace deplo::ir::tile_program
