// Decisions about a launch of a tile program as a whole: its two forms, which form the heuristic chooses, and how the
// choice of tuning is stored and followed.
#include "engine/source/alternatives.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "engine/compile/tuned.h"
#include "engine/source/load.h"
#include "engine/source/tile_program/form.h"
#include "engine/tune/kernel_sets.h"
#include "measure/store_fixture.h"

namespace deplo::engine::alternatives_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string exported = std::string(DEPLO_SOURCE_DIR) + "/experiments/tile/exported/";

Source launch(const std::string& name, std::vector<std::string> arguments, const std::string& grid) {
  return {TileSource{exported + name + ".tileirbc", "", std::move(arguments), grid}};
}
Source softmax(const std::string& grid = "8") { return launch("softmax", {"x=f32[8,40]", "y=f32[8,40]"}, grid); }
/// A program whose inner factors would be computed again for each output if it became elements.
Source fourier() {
  return launch("fourier",
                {"x_re=f32[4,8,8]", "x_im=f32[4,8,8]", "y_re=f32[4,8,8]", "y_im=f32[4,8,8]", "f_re=f32[8,8]",
                 "f_im=f32[8,8]", "t_re=f32[8,8]", "t_im=f32[8,8]"},
                "4");
}
/// A program that counts with atomic operations, which Loop IR cannot express.
Source histogram() { return launch("histogram", {"x=i32[256]", "counts=i32[100]"}, "4"); }

Source fixed(Source source, const std::string& form) {
  source.options.fixed = {{"form", form}};
  return source;
}

std::vector<std::string> trails(const Source& source) {
  std::vector<std::string> trails;
  for (const Alternative& one : Alternatives(source, load_target("opencl-cpu")).all())
    trails.push_back(print(one.trail));
  return trails;
}

TEST(Alternatives, BeginWithTheFormThatTheHeuristicTakes) {
  EXPECT_THAT(trails(softmax()), ElementsAre("tile.form=elements", "tile.form=blocks"));
  EXPECT_THAT(trails(fourier()), ElementsAre("tile.form=blocks", "tile.form=elements"));
}

TEST(Alternatives, NameOnlyWhatTheHeuristicDoesNotTakeAsAChange) {
  const std::vector<Alternative> all = Alternatives(softmax(), load_target("opencl-cpu")).all();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_TRUE(all[0].changes.empty());
  EXPECT_EQ(print(all[1].changes), "tile.form=blocks");
  EXPECT_NE(all[0].digest, all[1].digest);
}

TEST(Alternatives, AreOneWhereThereIsNothingToDecide) {
  EXPECT_THAT(trails(histogram()), ElementsAre(""));
  EXPECT_THAT(trails(fixed(softmax(), "blocks")), ElementsAre(""));
  EXPECT_THAT(trails(fixed(softmax(), "elements")), ElementsAre(""));
  EXPECT_THAT(trails(fixed(softmax(), "auto")), ElementsAre("tile.form=elements", "tile.form=blocks"));
}

TEST(Alternatives, OfOtherDecisionsDoNotFit) {
  const Alternatives source(softmax(), load_target("opencl-cpu"));
  for (const Trail& taken : {Trail{{"tile.form", "rows"}}, Trail{{"fusion.merge_mul", "no"}},
                             Trail{{"tile.form", "blocks"}, {"tile.other", "x"}}})
    EXPECT_FALSE(source.follow(taken).ok()) << print(taken);
  EXPECT_FALSE(Alternatives(histogram(), load_target("opencl-cpu")).follow({{"tile.form", "elements"}}).ok());
}

TEST(Alternatives, OfEqualLaunchesHaveOneKey) {
  const auto key = [](const Source& source) { return Alternatives(source, load_target("opencl-cpu")).key(); };
  EXPECT_EQ(key(softmax()), key(softmax("2 * 4")));
  EXPECT_NE(key(softmax()), key(softmax("4")));
}

TEST(Forms, ElementsAreRefusedWhereLoopIrCannotExpressThem) {
  try {
    load({fixed(histogram(), "elements"), {}}, load_target("opencl-cpu"));
    FAIL() << "expected an Error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("form elements: expected a program that Loop IR expresses, found: "));
  }
}

TEST(Forms, SayWhyALaunchRunsBlockByBlock) {
  const TileLaunch of = read_launch(*fourier().tile());
  EXPECT_THAT(choose_form(of, {}, {}).why_blocks, HasSubstr("it would compute each value 6."));
  EXPECT_THAT(choose_form(of, {}, {{"tile.form", "blocks"}}).why_blocks, HasSubstr("when it was tuned"));
  EXPECT_EQ(choose_form(of, {}, {{"tile.form", "elements"}}).why_blocks, "");
}

Experiment experiment_of_softmax() {
  return parse_experiment("kernels:\n  - {name: s, tile: " + exported +
                              "softmax.tileirbc, arguments: [\"x=f32[8,40]\", \"y=f32[8,40]\"], grid: 8}\n",
                          "x.yaml", ".");
}

TEST(Forms, AreTwoSetsOfKernelsOfAnExperiment) {
  Experiment experiment = experiment_of_softmax();
  const std::vector<KernelSets> graphs = add_kernel_sets(experiment, load_target("opencl-cpu"));
  ASSERT_EQ(graphs.size(), 1U);
  ASSERT_EQ(graphs[0].sets().size(), 2U);
  EXPECT_THAT(graphs[0].sets()[0].kernels, ElementsAre("s"));
  EXPECT_THAT(graphs[0].sets()[1].kernels, ElementsAre("s.form=blocks"));
  ASSERT_EQ(experiment.kernels.size(), 2U);
  EXPECT_EQ(experiment.kernels[0].opaque, nullptr);
  EXPECT_NE(experiment.kernels[1].opaque, nullptr);
  const auto chosen = graphs[0].choose([](const std::string& kernel) { return kernel == "s" ? 10.0 : 1.0; });
  ASSERT_TRUE(chosen);
  EXPECT_EQ(print(chosen->set.trail), "tile.form=blocks");
}

TEST(Forms, AreFollowedFromAStore) {
  const measure::TemporaryFolder folder;
  const std::string file = folder.file("s.db");
  measure::DeviceInfo device;
  device.backend = "opencl";
  device.name = "this";
  device.cpu = true;
  const Alternatives source(softmax(), load_target("opencl-cpu"));
  const auto store = [&](const Alternative& chosen) {
    measure::Store opened = measure::Store::open(file);
    const std::int64_t run = opened.add_run({opened.add_device(device), "test", "", "random", 0, "here"});
    opened.append(measure::GraphRecord{run, source.key(), "s", print(chosen.trail), chosen.digest, 2, 1});
  };
  const auto find = [&](const Source& of) {
    return TunedCache(file, device, load_target("opencl-cpu"), false).find_graph({of, load_target("opencl-cpu")});
  };
  Alternative blocks = source.all()[1];
  store(blocks);
  EXPECT_EQ(print(find(softmax()).trail), "tile.form=blocks");
  EXPECT_EQ(find(softmax()).origin, Origin::tuned);
  EXPECT_EQ(find(softmax("4")).origin, Origin::heuristic) << "another launch";
  Source decided = softmax();
  decided.decisions = find(softmax()).trail;
  EXPECT_NE(load({decided, {}}, load_target("opencl-cpu")).front().opaque, nullptr);
  blocks.digest = "another";
  store(blocks);
  EXPECT_TRUE(find(softmax()).trail.empty());
  EXPECT_THAT(find(softmax()).note, HasSubstr("other kernels than the measured ones"));
}

}  // namespace
}  // namespace deplo::engine::alternatives_test
