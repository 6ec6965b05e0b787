// A launch of a tile program in the form that NVIDIA's compiler expects.
#include "engine/source/tile_program/tile_launch.h"

#include <gtest/gtest.h>

#include "core/file.h"
#include "engine/source/experiment.h"
#include "engine/source/load.h"

namespace deplo::engine {
namespace {

const std::string data = DEPLO_SOURCE_DIR "/experiments/tile/exported/";

ir::Module kernels_of(const TileLaunch& launch) { return std::get<ir::Module>(try_raise(launch)); }

measure::TileCall call_of(const TileSource& source) {
  const TileLaunch launch = read_launch(source);
  return tile_call(launch, kernels_of(launch));
}

/// Returns "a 64:4 …": for each argument the name of its buffer, or its number and the number's size in bytes.
std::string print(const measure::TileCall& call) {
  std::string text;
  for (const measure::TileCall::Argument& argument : call.arguments) {
    std::int64_t number = 0;
    std::copy_n(argument.bytes.begin(), argument.bytes.size(), reinterpret_cast<std::uint8_t*>(&number));
    text += argument.buffer.empty() ? fmt::format("{}:{} ", number, argument.bytes.size()) : argument.buffer + " ";
  }
  return text;
}

TEST(TileCall, HasWhatTheEntryTakes) {
  const TileSource scale{data + "scale_13.3.tileirbc", "", {"x=f16[1000]", "y=f16[1000]", "factor=0.5"}, "8"};
  const measure::TileCall call = call_of(scale);
  EXPECT_EQ(call.problem, "");
  EXPECT_EQ(call.entry, "scale");
  EXPECT_EQ(std::string(call.bytecode.begin(), call.bytecode.end()), read_file(scale.file));
  EXPECT_EQ(call.grid, (std::array<std::int64_t, 3>{8, 1, 1}));
  EXPECT_EQ(print(call), "x 1000:4 1:4 y 1000:4 1:4 1056964608:4 ") << "0.5 is 0x3f000000";

  const measure::TileCall matmul =
      call_of({data + "matmul.tileirbc", "", {"a=bf16[33,64]", "b=bf16[64,48]", "c=f32[33,48]"}, "3,2"});
  EXPECT_EQ(print(matmul), "a 33:4 64:4 64:4 1:4 b 64:4 48:4 48:4 1:4 c 33:4 48:4 48:4 1:4 ");
}

TEST(TileCall, SaysWhyThereIsNone) {
  const std::string tile = DEPLO_SOURCE_DIR "/experiments/tile/";
  EXPECT_EQ(call_of({tile + "vector_add.tile", "", {"a=f32[128]", "b=f32[128]", "c=f32[128]"}, "1"}).problem,
            "expected bytecode, the only form that it reads, found a text");
  // The launch pretends to have bytecode. It computes Y = alpha X + Y.
  TileLaunch saxpy =
      read_launch({tile + "saxpy.tile", "", {"X=f32[128,256]", "Y=f32[128,256]", "2", "128", "256"}, "1,1"});
  saxpy.bytecode = {0};
  EXPECT_EQ(
      tile_call(saxpy, kernels_of(saxpy)).problem,
      "expected arrays that are either read or written, found Y, which is both: its cubin would change its own inputs");
}

/// A source of the command line and an entry of an experiment: if the program is one kernel, this kernel has the call.
/// If it is several kernels, each has a problem.
TEST(TileCall, IsThatOfAnOnlyKernel) {
  const TileSource softmax{data + "softmax.tileirbc", "", {"x=f32[7,32]", "y=f32[7,32]"}, "7"};
  const std::vector<LoadedKernel> one = load({{softmax}, {}}, load_target("sm_90"));
  ASSERT_EQ(one.size(), 1U);
  ASSERT_TRUE(one[0].tile);
  EXPECT_EQ(print(*one[0].tile), "x 7:4 32:4 32:4 1:4 y 7:4 32:4 32:4 1:4 ");

  const std::vector<LoadedKernel> several =
      load({{TileSource{data + "attention_with_lse.tileirbc",
                        "",
                        {"q=f16[37,16]", "k=f16[45,16]", "v=f16[45,16]", "out=f16[37,16]", "lse=f32[37]", "0.125"},
                        "3"}},
            {}},
           load_target("sm_90"));
  ASSERT_EQ(several.size(), 2U);
  for (const LoadedKernel& kernel : several)
    EXPECT_EQ(kernel.tile.value().problem,
              "its kernel corresponds to 2 kernels of deplo: `deplo run --whole` compares them");

  const Experiment experiment = parse_experiment(
      "kernels:\n  - {tile: softmax.tileirbc, arguments: [\"x=f32[7,32]\", \"y=f32[7,32]\"], grid: 7}\n"
      "  - {kernel: softmax, symbols: {M: 5, N: 17}}\n",
      "tile.yaml", data);
  ASSERT_EQ(experiment.kernels.size(), 2U);
  EXPECT_EQ(print(experiment.kernels[0].tile.value()), print(*one[0].tile));
  EXPECT_FALSE(experiment.kernels[1].tile);
}

}  // namespace
}  // namespace deplo::engine
