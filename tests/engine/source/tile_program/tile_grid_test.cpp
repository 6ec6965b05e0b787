// Grids of tile programs: the results of formulas, and the texts that are refused.
#include "engine/source/tile_program/tile_grid.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"

namespace deplo::engine {
namespace {

using Grid = std::array<std::int64_t, 3>;
using ::testing::HasSubstr;

const GridNames names = {.shapes = {{"a", {1000, 257}}, {"out", {7}}}, .numbers = {{"n", 33}, {"zero", 0}}};

Grid grid(std::string_view text) { return read_grid(text, names, "x.tile"); }

std::string refusal(std::string_view text) {
  try {
    grid(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(TileGrid, IsNumbersOrFormulasOfTheArguments) {
  EXPECT_EQ(grid("64"), (Grid{64, 1, 1}));
  EXPECT_EQ(grid("64,2, 3"), (Grid{64, 2, 3}));
  EXPECT_EQ(grid("cdiv(a[0], 128)"), (Grid{8, 1, 1}));
  EXPECT_EQ(grid("cdiv(a[0],128) * cdiv(a[1],256), n"), (Grid{16, 33, 1}));
  EXPECT_EQ(grid("a[0] / 128, min(out[0], n - 30)"), (Grid{7, 3, 1}));
  EXPECT_EQ(grid("2 + 3 * 4, (2 + 3) * 4, 10 - 2 - 3"), (Grid{14, 20, 5}));
  // cdiv rounds towards +inf, / towards -inf
  EXPECT_EQ(grid("cdiv(7 - 17, 3) + 10, (0 - 10) / 3 + 10, -4 * -2"), (Grid{7, 6, 8}));
  EXPECT_EQ(grid("16777215"), (Grid{16777215, 1, 1}));
}

TEST(TileGrid, RefusesInOneLine) {
  const std::string blocks =
      "x.tile: grid: expected one to three numbers of blocks from 1 to 16777215, such as 64,2 or "
      "cdiv(a[0], 128), found ";
  EXPECT_EQ(refusal(""), blocks + "none");
  EXPECT_EQ(refusal("1,"), blocks + "'1,'");
  EXPECT_EQ(refusal("1,0"), blocks + "'0'");
  EXPECT_EQ(refusal("1, out[0] / 8"), blocks + "'out[0] / 8', which is 0");
  EXPECT_EQ(refusal("1 2"), blocks + "'1 2'");
  EXPECT_EQ(refusal("1,2,3,4"), blocks + "'1,2,3,4'");
  EXPECT_THAT(refusal("b[0]"), HasSubstr("expected an array, a named integer argument, cdiv or min, found 'b'"));
  EXPECT_THAT(refusal("cdvi(n, 2)"), HasSubstr("found 'cdvi'; did you mean 'cdiv'?"));
  EXPECT_THAT(refusal("a"), HasSubstr("expected a[D], the extent of a dimension"));
  EXPECT_THAT(refusal("a[2]"), HasSubstr("expected a[D] with a D from 0 to 1, found 2"));
  EXPECT_THAT(refusal("a[99999999999999999999]"), HasSubstr("expected a whole number"));
  EXPECT_THAT(refusal("a[0"), HasSubstr("expected ]"));
  EXPECT_THAT(refusal("cdiv(n)"), HasSubstr("expected cdiv(x, y), found 'cdiv(n)'"));
  EXPECT_THAT(refusal("n / zero"), HasSubstr("found a division by 0"));
  EXPECT_THAT(refusal("(n"), HasSubstr("expected )"));
  EXPECT_THAT(refusal("n *"), HasSubstr("expected a formula of whole numbers"));
  EXPECT_THAT(refusal("9223372036854775807 + 1"), HasSubstr("found a number that does not fit in 64 bits"));
  EXPECT_THAT(refusal(std::string(100000, '(')), HasSubstr("at most 64 nested parentheses and signs"));
  EXPECT_THAT(refusal(std::string(100000, '-')), HasSubstr("at most 64"));
}

}  // namespace
}  // namespace deplo::engine
