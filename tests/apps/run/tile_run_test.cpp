// `deplo run --tile`: the values that its flags take, and the errors for other values.
#include "apps/run/tile_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"

namespace deplo::apps::tile_run_test {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

const std::string root = DEPLO_SOURCE_DIR;

TileRunOptions vector_add() {
  TileRunOptions options;
  options.source.file = root + "/experiments/tile/vector_add.tile";
  options.source.arguments = {"A=f32[128]", "B=f32[128]", "C=f32[128]"};
  options.source.grid = "1";
  return options;
}

/// A program whose arrays of 300 f16 are passed as an address, an extent and a stride.
TileRunOptions scale() {
  TileRunOptions options;
  options.source.file = root + "/experiments/tile/exported/scale_13.3.tileirbc";
  options.source.arguments = {"x=f16[300]", "y=f16[300]", "factor=0.5"};
  options.source.grid = "3";
  return options;
}

std::string error_of(const TileRunOptions& options) {
  try {
    run_tile_program(options);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(TileRun, ArraysByAddressAlone) {
  const TileRunReport report = run_tile_program(vector_add());
  ASSERT_EQ(report.arrays.size(), 3);
  EXPECT_EQ(report.arrays[0].changed, 0);
  EXPECT_EQ(report.arrays[2].changed, 128);
  EXPECT_FLOAT_EQ(static_cast<float>(report.arrays[2].first[0]),
                  static_cast<float>(report.arrays[0].first[0] + report.arrays[1].first[0]));
  EXPECT_THAT(print_table(report), HasSubstr("1 x 1 x 1 blocks"));
}

TEST(TileRun, ArraysWithExtentsAndStrides) {
  const TileRunReport report = run_tile_program(scale());
  ASSERT_EQ(report.arrays.size(), 2);
  EXPECT_EQ(report.arrays[1].changed, 300);
  EXPECT_NEAR(report.arrays[1].mean, report.arrays[0].mean / 2, 1e-3);
  EXPECT_THAT(print_json(report), HasSubstr("\"scale\""));
}

TEST(TileRun, WhatItRefuses) {
  const auto with = [](TileRunOptions options, auto change) {
    change(options);
    return error_of(options);
  };
  const std::string grid =
      ": grid: expected one to three numbers of blocks from 1 to 16777215, such as 64,2 or "
      "cdiv(a[0], 128), found ";
  for (const char* other : {"0", "1,2,3,4", "1,", "-1", "16777216"})
    EXPECT_THAT(with(vector_add(), [&](auto& o) { o.source.grid = other; }), EndsWith(grid + "'" + other + "'"));
  EXPECT_THAT(with(vector_add(), [](auto& o) { o.source.grid = ""; }), EndsWith(grid + "none"));
  EXPECT_THAT(with(vector_add(), [](auto& o) { o.source.entry = "vector"; }), HasSubstr("found 'vector'"));
  EXPECT_THAT(with(vector_add(), [](auto& o) { o.source.arguments.pop_back(); }),
              HasSubstr("expected 3 arguments (a_ptr_base_scalar: tile<ptr<f32>>, b_ptr_base_scalar: tile<ptr<f32>>, "
                        "c_ptr_base_scalar: tile<ptr<f32>>), found 2, 6 with the extents and strides of arrays"));
  EXPECT_THAT(with(vector_add(), [](auto& o) { o.source.arguments[1] = "B=f33[128]"; }),
              HasSubstr("found 'B=f33[128]'"));
  EXPECT_THAT(with(vector_add(), [](auto& o) { o.source.arguments[1] = "B=f16[128]"; }),
              HasSubstr("argument 2: expected an array of f32, found an array of f16 (B)"));
  EXPECT_THAT(with(vector_add(), [](auto& o) { o.source.arguments[1] = "3"; }),
              HasSubstr("argument 2: expected an array of f32, found the number 3"));
  EXPECT_THAT(with(scale(), [](auto& o) { o.source.arguments[2] = "factor=half"; }), HasSubstr("found 'factor=half'"));
  for (const char* name : {"", "float", "2x", "a b"})
    EXPECT_THAT(with(vector_add(), [&](auto& o) { o.source.arguments[1] = name + std::string("=f32[128]"); }),
                HasSubstr("letters, digits and _ before ="))
        << name;
  for (const char* shape : {"[0]", "[]", "[-1]", "[1,]", "[99999,99999,99999]"})
    EXPECT_THAT(with(vector_add(), [&](auto& o) { o.source.arguments[1] = "B=f32" + std::string(shape); }),
                HasSubstr("argument 2: expected "))
        << shape;
  EXPECT_THAT(with(vector_add(), [](auto& o) { o.source.arguments[1] = "B=f32[64]"; }), HasSubstr("load_ptr_tko"));
  EXPECT_EQ(with(scale(), [](auto& o) { o.source.arguments[1] = "x=f16[300]"; }),
            root +
                "/experiments/tile/exported/scale_13.3.tileirbc: entry scale: argument 2: expected a different name "
                "for each array, found 'x' again");
  EXPECT_EQ(with(scale(), [](auto& o) { o.source.arguments[1] = "y=f16[10000000000]"; }),
            "array y: expected at most 268435456 elements to run with, found 10000000000");
}

}  // namespace
}  // namespace deplo::apps::tile_run_test
