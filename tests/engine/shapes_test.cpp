// Sizes of families: their grammar, and the shapes that are drawn between them.
#include "engine/source/shapes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "core/error.h"
#include "engine/loop/kernel.h"
#include "engine/source/experiment.h"

namespace deplo::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> printed_shapes(const std::string& text) {
  std::vector<std::string> all;
  for (const ir::Symbols& shape : parse_shapes(text, "--shapes")) all.push_back(print(shape));
  return all;
}

std::string shapes_refusal(const std::string& text) {
  try {
    parse_shapes(text, "--shapes");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Shapes, AreTheProductOfListsAndRanges) {
  EXPECT_THAT(printed_shapes("M=1..9:pow2"), ElementsAre("M=1", "M=2", "M=4", "M=8"));
  EXPECT_THAT(printed_shapes("M=3..20:pow2"), ElementsAre("M=3", "M=4", "M=8", "M=16"));
  EXPECT_THAT(printed_shapes("M=3..5"), ElementsAre("M=3", "M=4", "M=5"));
  EXPECT_THAT(printed_shapes("M=8..20:8,7"), ElementsAre("M=7", "M=8", "M=16"));
  EXPECT_THAT(printed_shapes(" N=2,1  M=5,6 "), ElementsAre("M=5 N=1", "M=6 N=1", "M=5 N=2", "M=6 N=2"));
  EXPECT_EQ(printed_shapes("M=1..4096:pow2").size(), 13);
  EXPECT_EQ(printed_shapes("M=2147483648").size(), 1);
}

TEST(Shapes, SayInOneLineWhatIsWrong) {
  EXPECT_THAT(shapes_refusal(""), HasSubstr("--shapes: expected NAME=SIZES"));
  EXPECT_THAT(shapes_refusal("M"), HasSubstr("found 'M'"));
  EXPECT_THAT(shapes_refusal("=4"), HasSubstr("found '=4'"));
  EXPECT_THAT(shapes_refusal("M="),
              HasSubstr("expected sizes such as 8, 1..64:8 or 1..4096:pow2 from 1 to 2147483648 for M"));
  EXPECT_THAT(shapes_refusal("M=0"), HasSubstr("found '0'"));
  EXPECT_THAT(shapes_refusal("M=4..2"), HasSubstr("a range of M that does not end before its beginning"));
  EXPECT_THAT(shapes_refusal("M=1..8:pow3"), HasSubstr("found '1..8:pow3'"));
  EXPECT_THAT(shapes_refusal("M=1..8:0"), HasSubstr("found '1..8:0'"));
  EXPECT_THAT(shapes_refusal("M=1 M=2"), HasSubstr("each name once, found M twice"));
  EXPECT_THAT(shapes_refusal("M=1..2147483648"), HasSubstr("at most 256 sizes of M"));
  EXPECT_THAT(shapes_refusal("M=1..20 N=1..20"), HasSubstr("at most 256 shapes"));
  EXPECT_THAT(shapes_refusal("M=99999999999999999999"), HasSubstr("found '99999999999999999999'"));
}

TEST(Shapes, HeldOutOnesLieBetweenTheOthers) {
  const std::vector<ir::Symbols> own = parse_shapes("M=1..1024:pow2 N=64", "");
  const std::vector<ir::Symbols> drawn = draw_held_out(own, 6, 0);
  EXPECT_EQ(drawn.size(), 6);
  EXPECT_EQ(draw_held_out(own, 6, 0), drawn);
  for (const ir::Symbols& shape : drawn) {
    EXPECT_EQ(shape.at("N"), 64);
    EXPECT_GT(shape.at("M"), 2) << "1 and 2 have nothing between them";
    EXPECT_LT(shape.at("M"), 1024);
    EXPECT_EQ(std::ranges::count(own, shape), 0);
  }
  EXPECT_EQ(draw_held_out(parse_shapes("M=1,2", ""), 3, 0).size(), 0) << "there are no others";
}

const char* const family_text = R"(
kernels:
  - kernel: matmul
    symbols: {K: 32}
    shapes: [{M: [8, 16], N: 8}, "M=32 N=4..8:4"]
    held_out: "M=12 N=8"
  - {kernel: gelu, symbols: {M: 3, N: 5}}
family: {loss: 2.5, over: mean}
)";

TEST(Shapes, OfAnExperimentBecomeKernelsAndAFamily) {
  const Experiment experiment = parse_experiment(family_text, "e.yaml", ".");
  ASSERT_EQ(experiment.families.size(), 1);
  const FamilyCase& found = experiment.families[0];
  EXPECT_EQ(found.name, "matmul.K32");
  ASSERT_EQ(found.members.size(), 5);
  EXPECT_EQ(found.members[0].kernels[0].name, "matmul.K32.M8.N8");
  EXPECT_EQ(found.members[0].kernels[0].what, "matmul");
  EXPECT_TRUE(found.members[4].held_out);
  EXPECT_EQ(experiment.kernels.size(), 6);
  EXPECT_EQ(experiment.kernels[2].loop.buffers[0].shape, (ir::Shape{32, 32}));
  EXPECT_EQ(print(experiment.family_goal), "mean 0.025");
}

TEST(Shapes, OfAnExpressionAreItsNames) {
  const Experiment experiment = parse_experiment(
      "{kernels: [{expression: 'torch.randn(M, K) @ torch.randn(K, 2 * M)', name: g, symbols: {K: 8}, "
      "shapes: 'M=4,6'}]}",
      "e.yaml", ".");
  ASSERT_EQ(experiment.kernels.size(), 3) << "one is held out";
  EXPECT_EQ(experiment.kernels[1].name, "g.M6");
  EXPECT_EQ(experiment.kernels[1].loop.buffers[1].shape, (ir::Shape{8, 12}));
  EXPECT_EQ(experiment.graphs.size(), 0) << "its kernels are the heuristic's";
}

TEST(Shapes, AreDrawnBetweenNeighbours) {
  constexpr std::uint64_t seed = 1;
  const std::vector<ir::Symbols> line = parse_shapes("M=1,2,4,8..64:8", "p"), held_out = parse_shapes("M=3", "p");
  const std::vector<ir::Symbols> drawn = draw_between(line, held_out, seed);
  std::set<std::int64_t> sizes;
  for (const ir::Symbols& shape : drawn) sizes.insert(shape.at("M"));
  EXPECT_EQ(sizes.size(), drawn.size());
  EXPECT_GT(drawn.size(), 8) << "two in most gaps";
  EXPECT_THAT(sizes, ::testing::IsSupersetOf({6, 12, 20, 28, 36, 44, 52, 60}));
  EXPECT_GE(*sizes.begin(), 5) << "nothing lies between 1 and 2, and what lies between 2 and 4 is held out";
  for (const ir::Symbols& shape : line) EXPECT_FALSE(sizes.contains(shape.at("M")));
  EXPECT_EQ(draw_between(line, held_out, seed), drawn);
  const auto beside = draw_between(parse_shapes("M=64,128", "p"), parse_shapes("M=96", "p"), seed);
  ASSERT_EQ(beside.size(), 2);
  EXPECT_EQ(beside[1].at("M"), 112) << "96 is held out";
  for (const ir::Symbols& shape : draw_between(parse_shapes("M=4,8 N=1,2,9", "p"), {}, seed)) {
    EXPECT_TRUE(shape.at("M") == 8 || (shape.at("M") > 4 && shape.at("M") < 8)) << print(shape);
    EXPECT_TRUE(shape.at("N") == 1 || shape.at("N") == 9 || (shape.at("N") > 2 && shape.at("N") < 9)) << print(shape);
  }
  EXPECT_EQ(draw_between(parse_shapes("M=1..200:3", "p"), {}, seed).size(), 24) << "not more, whatever the family";
  EXPECT_TRUE(draw_between(parse_shapes("M=1..8", "p"), {}, seed).empty());
}

std::string experiment_refusal(const std::string& entry) {
  try {
    parse_experiment("{kernels: [{" + entry + "}]}", "e.yaml", ".");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Shapes, OfAnExperimentSayInOneLineWhatIsWrong) {
  EXPECT_THAT(experiment_refusal("kernel: gelu, shapes: 'M=2,3', symbols: {M: 2, N: 4}"),
              HasSubstr("expected M either in symbols or in shapes"));
  EXPECT_THAT(experiment_refusal("kernel: gelu, shapes: 'M=2,3'"), HasSubstr("N"));
  EXPECT_THAT(experiment_refusal("kernel: gelu, symbols: {M: 2, N: 4}, held_out: 2"),
              HasSubstr("expected held_out together with shapes"));
  EXPECT_THAT(experiment_refusal("kernel: gelu, shapes: ['M=2 N=4', 'M=2']"),
              HasSubstr("expected the same names in all shapes"));
  EXPECT_THAT(experiment_refusal("kernel: gelu, shapes: 'M=2,3 N=4', held_out: 'M=2 N=4'"),
              HasSubstr("held_out shapes that are not also in shapes, found M=2 N=4"));
  EXPECT_THAT(experiment_refusal("expression: 'torch.randn(4).exp()', name: e, shapes: 'M=2,3'"),
              HasSubstr("expected an expression that uses M"));
  EXPECT_THAT(experiment_refusal("model: tinyllama-1.1b, seq: 4, shapes: 'M=2,3'"), HasSubstr("shapes"));
}

}  // namespace
}  // namespace deplo::engine
