// The eight programs of chapter 2 of the specification: the corrected versions in experiments/tile, and the error
// messages for the listings that are wrong as printed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <regex>
#include <sstream>

#include "core/error.h"
#include "core/file.h"
#include "ir/tile_program/launches.h"
#include "ir/tile_program/text/text.h"

namespace deplo::ir::tile_program {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

Program listing(const std::string& name) {
  const Program program =
      read_file_program(std::filesystem::path(DEPLO_SOURCE_DIR) / "experiments" / "tile" / (name + ".tile"));
  const std::string text = print(program);
  EXPECT_EQ(print(read_program(text, name)), text);
  return program;
}

std::string as_printed() {
  return read_file(std::filesystem::path(DEPLO_SOURCE_DIR) / "experiments" / "tile" / "exported" /
                   "gemm_square_as_printed.tile");
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  EXPECT_THAT(text, HasSubstr(what));
  return text.replace(text.find(what), what.size(), by);
}

template <class Function>
std::string error_of(Function f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Listings, Hello) {
  Launcher launcher;
  EXPECT_EQ(launcher.run(listing("hello"), {2, 1, 1}).printed, "Hello World!\nHello World!\n");
}

TEST(Listings, HelloGrid) {
  Launcher launcher;
  EXPECT_THAT(launcher.run(listing("hello_grid"), {1, 1, 2}).printed,
              AllOf(HasSubstr("Hello, I am tile <0, 0, 0> in a kernel with <1, 1, 2> tiles.\n"),
                    HasSubstr("Hello, I am tile <0, 0, 1> in a kernel with <1, 1, 2> tiles.\n")));
}

TEST(Listings, VectorAdd) {
  Launcher launcher;
  const auto a = launcher.add_pointer("a", DType::f32, 128), b = launcher.add_pointer("b", DType::f32, 128),
             c = launcher.add_pointer("c", DType::f32, 128);
  launcher.run(listing("vector_add"), {1, 1, 1});
  for (std::int64_t i = 0; i < 128; ++i)
    ASSERT_EQ(launcher.arrays[c].number(i),
              round_to(launcher.arrays[a].number(i) + launcher.arrays[b].number(i), DType::f32));
}

TEST(Listings, VectorAddBeyondItsArray) {
  Launcher launcher;
  launcher.add_pointer("a", DType::f32, 128);
  launcher.add_pointer("b", DType::f32, 127);
  launcher.add_pointer("c", DType::f32, 128);
  EXPECT_EQ(error_of([&] {
              launcher.run(listing("vector_add"), {1, 1, 1});
            }),
            "vector_add.tile:20:9: load_ptr_tko: expected memory of an array, found element (127) that reads element "
            "127 of b, "
            "which has 127 (block 0, 0, 0)");
}

TEST(Listings, GemmBlock) {
  Launcher launcher;
  const auto a = launcher.add_pointer("a", DType::f32, 4096), b = launcher.add_pointer("b", DType::f32, 4096),
             c = launcher.add_pointer("c", DType::f32, 4096);
  launcher.run(listing("gemm_block"), {1, 1, 1});
  for (std::int64_t i = 0; i < 64; ++i)
    for (std::int64_t j = 0; j < 64; ++j) {
      double sum = 0;
      for (std::int64_t k = 0; k < 64; ++k)
        sum += launcher.arrays[a].number(64 * i + k) * launcher.arrays[b].number(64 * k + j);
      ASSERT_NEAR(launcher.arrays[c].number(64 * i + j), sum, 1e-6);
    }
}

TEST(Listings, GemmSquare) {  // runs one of its 4096 blocks: the first 64 rows of A, the first 64 columns of B
  constexpr std::int64_t n = 4096;
  Launcher launcher;
  const auto a = launcher.add_pointer("a", DType::f32, 64 * n);
  launcher.arrays.push_back(make_array("b", DType::f32, n * n));
  launcher.launch.arguments.emplace_back(ArrayArgument{1});
  const auto c = launcher.add_pointer("c", DType::f32, 64 * n);
  for (std::int64_t k = 0; k < n; ++k)
    for (std::int64_t j = 0; j < 64; ++j) launcher.arrays[1].set(n * k + j, static_cast<double>((k + 3 * j) % 8) / 8);
  launcher.run(listing("gemm_square_4096"), {1, 1, 1});
  for (std::int64_t i = 0; i < 64; i += 9)
    for (std::int64_t j = 0; j < 64; j += 5) {
      double sum = 0;
      for (std::int64_t k = 0; k < n; ++k)
        sum += launcher.arrays[a].number(n * i + k) * launcher.arrays[1].number(n * k + j);
      ASSERT_NEAR(launcher.arrays[c].number(n * i + j), sum, 1e-4 * std::fabs(sum) + 1e-3);
    }
}

TEST(Listings, Saxpy) {
  const Program program = listing("saxpy");
  for (const auto& [m, n] : {std::pair<std::int64_t, std::int64_t>{128, 256}, {256, 256}, {100, 300}}) {
    Launcher launcher;
    const auto x = launcher.add_pointer("X", DType::f32, m * n), y = launcher.add_pointer("Y", DType::f32, m * n);
    const Array before = launcher.arrays[y];
    launcher.scalar(0.5);
    launcher.scalar(m);
    launcher.scalar(n);
    launcher.run(program, {(m + 127) / 128, (n + 255) / 256, 1});
    for (std::int64_t i = 0; i < m * n; ++i)
      ASSERT_EQ(launcher.arrays[y].number(i),
                round_to(0.5 * launcher.arrays[x].number(i) + before.number(i), DType::f32));
  }
}

TEST(Listings, GemmViews) {
  const Program program = listing("gemm_views");
  for (const auto& [m, n, k] : {std::array<std::int64_t, 3>{128, 128, 64}, {256, 128, 128}, {136, 72, 104}}) {
    Launcher launcher;
    const auto a = launcher.add_pointer("A", DType::f16, k * m), b = launcher.add_pointer("B", DType::f16, n * k),
               c = launcher.add_pointer("C", DType::f32, m * n);
    for (const std::int64_t extent : {m, n, k, m, k, n}) launcher.scalar(extent);
    launcher.run(program, {(m + 127) / 128, (n + 127) / 128, 1});
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (std::int64_t x = 0; x < k; ++x)
          sum += launcher.arrays[a].number(m * x + i) * launcher.arrays[b].number(k * j + x);
        ASSERT_NEAR(launcher.arrays[c].number(n * i + j), sum, 1e-5) << i << ", " << j;
      }
  }
}

TEST(Listings, MutexLetsOneBlockInAtATime) {
  const Program program = listing("mutex");
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    Launcher launcher;
    std::istringstream printed(launcher.run(program, {5, 1, 1}, seed).printed);
    std::vector<std::string> lines;
    for (std::string line; std::getline(printed, line);) lines.push_back(line);
    std::sort(lines.begin(), lines.end());
    EXPECT_THAT(lines, ::testing::ElementsAre("current tile: 0 / 5", "current tile: 1 / 5", "current tile: 2 / 5",
                                              "current tile: 3 / 5", "current tile: 4 / 5"));
  }
}

TEST(Listings, MutexThatIsNeverGivenBack) {
  std::string text = read_file(std::filesystem::path(DEPLO_SOURCE_DIR) / "experiments" / "tile" / "mutex.tile");
  const Program program = read_program(replaced(text, "xchg, %4", "xchg, %3"), "mutex.tile");
  Launcher launcher;
  launcher.launch.idle = 10'000;
  EXPECT_THAT(error_of([&] {
                launcher.run(program, {2, 1, 1});
              }),
              HasSubstr("expected the enclosing loop to end, found 10000 operations in which no block changed "
                        "memory: a deadlock"));
}

// --- As printed ------------------------------------------------------------------------------------------------------

TEST(Listings, AStepOfZero) {
  EXPECT_EQ(error_of([] { read_program(as_printed(), "gemm.tile"); }),
            "gemm.tile:53:9: for: expected a step above 0, found %range_start, which is the constant 0: the loop would "
            "never end");
}

/// Arrays of full size would take 3 x 64 MiB. One block needs only few of their elements.
std::string run_as_printed(const std::string& text, std::array<std::int64_t, 3> grid) {
  return error_of([&] {
    Launcher launcher;
    for (const char* name : {"a", "b", "c"}) {
      launcher.arrays.push_back(make_array(name, DType::f32, 1 << 20));
      launcher.launch.arguments.emplace_back(ArrayArgument{launcher.arrays.size() - 1});
    }
    launcher.run(read_program(text, "gemm.tile"), grid);
  });
}

TEST(Listings, OffsetsThatAreMultiplied) {
  const std::string text = replaced(as_printed(), "step %range_start", "step %range_step");
  EXPECT_EQ(run_as_printed(text, {1, 1, 1}),
            "gemm.tile:91:9: store_ptr_tko: expected a different address for each element, found element (0, 1) and "
            "another one at "
            "c[0] (block 0, 0, 0)");
}

TEST(Listings, RowsThatLieTooNear) {
  std::string text = replaced(as_printed(), "step %range_start", "step %range_step");
  text = replaced(text, "%c_tile_offsets = muli", "%c_tile_offsets = addi");
  const std::string message = run_as_printed(text, {1, 2, 1});
  EXPECT_THAT(message, StartsWith("gemm.tile:91:9: store_ptr_tko: expected an order by release and acquire between "
                                  "accesses to the same address, "
                                  "found none before element "));
  EXPECT_THAT(message, HasSubstr("after store_ptr_tko of block 0, "));
}

TEST(Listings, SaxpyWithRowsOfM) {
  std::string text = print(listing("saxpy"));
  text = std::regex_replace(text, std::regex(R"(strides = \[%N, 1\])"), "strides = [%M, 1]");
  const Program program = read_program(text, "saxpy.tile");
  Launcher launcher;
  launcher.add_pointer("X", DType::f32, 100 * 300);
  launcher.add_pointer("Y", DType::f32, 100 * 300);
  launcher.scalar(0.5);
  launcher.scalar(std::int64_t{100});
  launcher.scalar(std::int64_t{300});
  EXPECT_THAT(error_of([&] {
                launcher.run(program, {1, 1, 1});
              }),
              HasSubstr("store_view_tko: expected a different address for each element, found element (1, 0) and "
                        "another one at Y[100]"));
}

}  // namespace
}  // namespace deplo::ir::tile_program
