// `deplo run --tile`: what its flags take, and what it says of them.
#include "apps/run/tile_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"

namespace deplo::apps {
namespace {

using ::testing::HasSubstr;

const std::string root = DEPLO_SOURCE_DIR;

TileRunOptions vector_add() {
  TileRunOptions options;
  options.source.file = root + "/experiments/tile/vector_add.tile";
  options.source.arguments = {"A=f32[128]", "B=f32[128]", "C=f32[128]"};
  options.source.grid = "1";
  options.device = "interpreter";
  return options;
}

/// An array of 300 f16 as an address, an extent and a stride.
TileRunOptions scale() {
  TileRunOptions options;
  options.source.file = root + "/tests/data/tile_programs/scale_13.3.tileirbc";
  options.source.arguments = {"x=f16[300]", "y=f16[300]", "factor=0.5"};
  options.source.grid = "3";
  options.device = "interpreter";
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
  EXPECT_THAT(print_table(report, 120), HasSubstr("1 x 1 x 1 blocks"));
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
  EXPECT_EQ(with(vector_add(), [](auto& o) { o.source.grid = ""; }),
            "--grid: expected the blocks in X, Y and Z of a tile program, such as 64,2, found none");
  EXPECT_THAT(with(vector_add(), [](auto& o) { o.source.grid = "0"; }), HasSubstr("found 0 x 1 x 1"));
  EXPECT_THAT(with(vector_add(), [](auto& o) { o.source.grid = "2,x"; }), HasSubstr("--grid: expected one to three"));
  EXPECT_THAT(with(vector_add(), [](auto& o) { o.device = "opencl"; }), HasSubstr("--device: expected interpreter"));
  EXPECT_THAT(with(vector_add(), [](auto& o) { o.source.entry = "vector"; }), HasSubstr("found 'vector'"));
  EXPECT_THAT(with(vector_add(), [](auto& o) { o.source.arguments.pop_back(); }),
              HasSubstr("expected 3 arguments (tile<ptr<f32>>, tile<ptr<f32>>, tile<ptr<f32>>), found 2"));
  EXPECT_THAT(with(vector_add(), [](auto& o) { o.source.arguments[1] = "B=f33[128]"; }),
              HasSubstr("found 'B=f33[128]'"));
  EXPECT_THAT(with(vector_add(), [](auto& o) { o.source.arguments[1] = "B=f16[128]"; }),
              HasSubstr("expected an array of f32, found an array of f16"));
  EXPECT_THAT(with(vector_add(), [](auto& o) { o.source.arguments[1] = "B=f32[64]"; }), HasSubstr("load_ptr_tko"));
  EXPECT_EQ(with(scale(), [](auto& o) { o.source.arguments[1] = "x=f16[300]"; }),
            "--arg: expected a name of its own for each array, found 'x' twice");
  EXPECT_EQ(with(scale(), [](auto& o) { o.source.arguments[1] = "y=f16[100000,100000]"; }),
            "--arg: expected an array of at most 268435456 elements, found more in 'y'");
}

}  // namespace
}  // namespace deplo::apps
