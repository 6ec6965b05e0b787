#include "engine/source/restrict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "apps/run_program.h"
#include "core/error.h"
#include "core/file.h"
#include "core/rng.h"
#include "engine/compile/candidate_space.h"
#include "engine/compile/kernel_space.h"
#include "engine/foreign/kernel_file.h"
#include "engine/loop/kernel.h"
#include "engine/source/experiment.h"
#include "measure/store_fixture.h"
#include "search/count.h"

namespace deplo::apps {
namespace {

using deplo::testing::run_program;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const Fork fork{"mark_unroll.a4", {Value(8), Value(1), Value("all")}};

std::vector<std::size_t> left(const std::string& restriction) {
  return engine::allowed_options(fork, {engine::parse_restriction(restriction, "here")});
}

TEST(Restrict, LeavesTheNamedOptionsInTheRulesOrder) {
  EXPECT_THAT(engine::allowed_options(fork, {}), ElementsAre(0, 1, 2));
  EXPECT_THAT(left("mark_unroll.a4=all,1"), ElementsAre(1, 2));
  EXPECT_THAT(left("mark_unroll.a4=1,heuristic"), ElementsAre(0, 1));
  EXPECT_THAT(left("mark_unroll.*=8"), ElementsAre(0));
  EXPECT_THAT(left("mark_unroll.a*=16,32"), ElementsAre(0)) << "none is offered";
  EXPECT_THAT(left("mark_unroll.a=1"), ElementsAre(0, 1, 2)) << "another knob";
  EXPECT_THAT(left("mark_unroll.b*=1"), ElementsAre(0, 1, 2));
}

TEST(Restrict, TheLastThatMatchesCounts) {
  const engine::Restrictions both{{"mark_unroll.*", {Value(1)}}, {"mark_unroll.a4", {Value(8)}}};
  EXPECT_THAT(engine::allowed_options(fork, both), ElementsAre(0));
  EXPECT_THAT(engine::allowed_options(fork, {both[1], both[0]}), ElementsAre(1));
}

// Calls `visit` with each trail of the space, and with the forks at which the trail's choices were made.
using Visit = std::function<void(const Trail&, const std::vector<Fork>&)>;
void enumerate(const search::PositionPtr& position, std::vector<Fork>& forks, const Visit& visit) {
  if (!position->fork()) return visit(position->trail(), forks);
  forks.push_back(*position->fork());
  for (std::size_t i = 0; i < position->fork()->options.size(); ++i) enumerate(position->choose(i), forks, visit);
  forks.pop_back();
}
std::set<std::string> trails(const search::Space& space, const std::function<bool(const Choice&, const Fork&)>& keep) {
  std::set<std::string> found;
  std::vector<Fork> forks;
  enumerate(space.root(), forks, [&](const Trail& trail, const std::vector<Fork>& at) {
    for (std::size_t i = 0; i < trail.size(); ++i)
      if (!keep(trail[i], at[i])) return;
    EXPECT_TRUE(found.insert(print(trail)).second) << print(trail);
  });
  return found;
}

TEST(Restrict, ARestrictedSpaceIsTheWholeOneFiltered) {
  const ir::Program loop = engine::load_kernel("rmsnorm", {{"M", 6}, {"D", 8}}, "here");
  const Target target = load_target("opencl-cpu");
  engine::Restrictions restrictions;
  for (const char* text : {"vectorize.width=1,4", "prefetch.*=heuristic", "mark_unroll.*=2,5"})
    restrictions.push_back(engine::parse_restriction(text, "here"));
  const auto kept = [](const Choice& choice, const Fork& from) {
    const bool first = choice.value == from.options[0];
    const auto has = [&](std::int64_t value) { return std::ranges::count(from.options, Value(value)) > 0; };
    if (choice.knob == "vectorize.width") {
      if (has(1) || has(4)) return choice.value == Value(1) || choice.value == Value(4);
      return first;
    }
    if (choice.knob.starts_with("prefetch.")) return first;
    if (choice.knob.starts_with("mark_unroll.")) return has(2) || has(5) ? choice.value == Value(2) : first;
    return true;
  };
  const auto all = [](const Choice&, const Fork&) { return true; };
  const engine::KernelSpace whole(loop, target), restricted(loop, target, restrictions);
  const std::set<std::string> expected = trails(whole, kept);
  EXPECT_GT(expected.size(), 10U);
  EXPECT_LT(expected.size() * 2, trails(whole, all).size());
  EXPECT_EQ(trails(restricted, all), expected);
}

std::string example(const std::string& name) { return (data_folder() / "examples/kernel_files" / name).string(); }

TEST(Restrict, ParametersOfAKernelFile) {
  const engine::foreign::KernelFile file({example("matmul.yaml"), ""});
  const Target target = load_target("opencl-cpu");
  engine::Restrictions restrictions;
  for (const char* text : {"BLOCK_*=8,4", "TILE_K=16,32", "MATH=heuristic"})
    restrictions.push_back(engine::parse_restriction(text, "here"));
  const auto kept = [](const Choice& choice, const Fork& from) {
    const auto only = [&](std::initializer_list<std::int64_t> values) {
      const auto offered = [&](std::int64_t value) { return std::ranges::count(from.options, Value(value)) > 0; };
      if (std::ranges::none_of(values, offered)) return choice.value == from.options[0];
      return std::ranges::any_of(values, [&](std::int64_t value) { return choice.value == Value(value); });
    };
    if (choice.knob.starts_with("BLOCK_")) return only({8, 4});
    if (choice.knob == "TILE_K") return only({16, 32});
    return choice.knob != "MATH" || choice.value == from.options[0];
  };
  const auto space = [&](const engine::Restrictions& some) {
    return engine::candidate_space(file.signature(), &file, target, some);
  };
  const auto all = [](const Choice&, const Fork&) { return true; };
  const std::set<std::string> expected = trails(*space({}), kept);
  EXPECT_GT(expected.size(), 10U);
  EXPECT_LT(expected.size() * 2, trails(*space({}), all).size());
  const auto left = space(restrictions);
  EXPECT_EQ(trails(*left, all), expected);
  const auto candidate = left->find(parse_trail(*expected.begin()));
  ASSERT_NE(candidate, nullptr);
  EXPECT_EQ(print(left->compile(*candidate).trail), *expected.begin());
  EXPECT_EQ(left->knobs().at(0).options, std::vector<Value>{Value(8)});
}

TEST(Restrict, AParameterOfAKernelFileMayBeEmpty) {
  const Fork math{"MATH", {std::string(), std::string("-cl-fast-relaxed-math")}};
  EXPECT_EQ(engine::allowed_options(math, {engine::parse_restriction("MATH=", "here")}), std::vector<std::size_t>{0});
  EXPECT_THAT(engine::allowed_options(math, {engine::parse_restriction("MATH=,-cl-fast-relaxed-math", "here")}),
              ElementsAre(0, 1));
}

TEST(Restrict, TuneTakesThoseOfAKernelFile) {
  const measure::TemporaryFolder folder;
  const auto tuned = run_program({"deplo", "tune", "--space", example("matmul.yaml"), "--device", "ptx:sm_90",
                                  "--restrict", "WTP=1", "--restrict", "BLOCK_X=8", "--store", folder.file("s.db")});
  EXPECT_EQ(tuned.code, 1);
  EXPECT_THAT(tuned.err,
              HasSubstr("--restrict: expected a knob (RULE.NAME), such as mark_unroll.a4, or a parameter of "
                        "the kernel file (BLOCK_X, BLOCK_Y, WPT, TILE_K, UNROLL, MATH), found 'WTP'; did you "
                        "mean 'WPT'?"));
  const auto none = run_program(
      {"deplo", "tune", "--space", example("matmul.yaml"), "--restrict", "BLOCK_X=9", "--store", folder.file("s.db")});
  EXPECT_EQ(none.code, 1);
  EXPECT_THAT(none.err,
              HasSubstr("--restrict: expected at least one value of the parameter BLOCK_X, found 'BLOCK_X=9'"));
  const auto space = run_program({"deplo", "space", "--space", example("matmul.yaml"), "--restrict", "BLOCK_X=8"});
  EXPECT_EQ(space.code, 1);
  EXPECT_THAT(space.err, HasSubstr("--space cannot be combined with --restrict"));
}

TEST(Restrict, DecisionsOfFusion) {
  const auto sets = [](const std::vector<std::string>& restrictions) {
    std::vector<std::string> words{
        "deplo",  "space",    "-c", "F.conv2d(torch.randn(1, 4, 6, 6), torch.randn(4, 4, 3, 3))",
        "--json", "--probes", "1"};
    for (const std::string& restriction : restrictions) words.insert(words.end(), {"--restrict", restriction});
    const auto found = nlohmann::json::parse(run_program(words).out);
    return found["graph"].size();
  };
  const std::size_t all = sets({});
  EXPECT_GT(all, 2U);
  EXPECT_EQ(sets({"fusion.*=heuristic"}), 0U) << "only the heuristic's";
  EXPECT_EQ(sets({"fusion.*=heuristic", "fusion.merge_convolution_reduce=0"}), 2U);
}

std::string message(const std::string& yaml) {
  try {
    engine::parse_experiment(yaml + "kernels:\n  - {kernel: gelu, symbols: {M: 2, N: 6}}\n", "x.yaml", ".");
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(Restrict, BadOnesOfAnExperimentNameTheirLine) {
  EXPECT_EQ(message("restrict: {mark_unrol.*: [1]}\n"),
            "x.yaml:1: expected the name of a rule before the dot, found 'mark_unrol.*'; did you mean 'mark_unroll'?");
  EXPECT_EQ(message("restrict:\n  mark_unroll.*: []\n"),
            "x.yaml:2: expected at least one value of mark_unroll.*, found an empty list");
  EXPECT_THAT(message("restrict:\n  mark_unroll.*: 1\n"), HasSubstr("x.yaml:2: expected a list, found '1'"));
  EXPECT_THAT(message("restrict:\n  mark_unroll.*: [[1]]\n"), HasSubstr("x.yaml:2: expected "));
  for (const char* knob : {"bm", "mark_unroll", "mark_unroll.", "mark_unroll.*a", "'*'", "'*.bm'", "'mark_unroll.**'"})
    EXPECT_THAT(message(std::string("restrict: {") + knob + ": [1]}\n"), HasSubstr("x.yaml:1: expected ")) << knob;
  EXPECT_THAT(message("restrict: [1]\n"), HasSubstr("x.yaml:1: expected text"));
  EXPECT_EQ(message("restrict: {}\n"), "no error");
}

TEST(Restrict, AnEntrysOwnComeAfterTheExperiments) {
  const engine::Experiment experiment = engine::parse_experiment(
      "restrict: {mark_unroll.*: [1, heuristic]}\n"
      "kernels:\n"
      "  - {kernel: gelu, symbols: {M: 2, N: 6}}\n"
      "  - {kernel: gelu, symbols: {M: 2, N: 6}, name: other, restrict: {mark_unroll.a3: [4]}}\n"
      "  - {kernel: gelu, symbols: {M: 2, N: 6}, name: same, restrict: {mark_unroll.a3: [4]}}\n",
      "x.yaml", ".");
  ASSERT_EQ(experiment.kernels.size(), 2U);
  EXPECT_EQ(describe(experiment.kernels[0].restrictions), "mark_unroll.*=1,heuristic");
  EXPECT_EQ(describe(experiment.kernels[1].restrictions), "mark_unroll.*=1,heuristic mark_unroll.a3=4");
  EXPECT_THAT(experiment.kernels[1].same, ElementsAre("same"));
}

TEST(Restrict, AnEntryOfAKernelFileHasItsOwn) {
  const auto entry = [](const std::string& restrict_own) {
    return engine::parse_experiment("restrict: {WPT: [1]}\nkernels:\n  - {space: " + example("matmul.yaml") +
                                        ", restrict: {" + restrict_own + "}}\n",
                                    "x.yaml", ".");
  };
  const engine::Experiment experiment = entry("BLOCK_X: [16, 32]");
  ASSERT_EQ(experiment.kernels.size(), 1U);
  EXPECT_EQ(describe(experiment.kernels[0].restrictions), "WPT=1 BLOCK_X=16,32");
  try {
    entry("BLOCKX: [16]");
    FAIL() << "no parameter has this name";
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("x.yaml:3: expected a knob"));
    EXPECT_THAT(e.what(), HasSubstr("did you mean 'BLOCK_X'?"));
  }
}

TEST(Restrict, SpaceAndTuneTakeThem) {
  const measure::TemporaryFolder folder;
  const std::vector<std::string> space{"deplo", "space", "-k", "gelu", "-s", "M=2", "-s", "N=6", "--enumerate"};
  const auto ran = [](std::vector<std::string> words, const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words);
  };
  const auto whole = nlohmann::json::parse(ran(space, {"--json"}).out)["kernels"][0];
  const auto some = ran(space, {"--json", "--restrict", "blockify_launch.t*=1,4", "--restrict", "vectorize.width=1,2"});
  const std::size_t left = nlohmann::json::parse(some.out)["kernels"][0]["candidates"].get<std::size_t>();
  EXPECT_LT(left, whole["candidates"].get<std::size_t>());
  const std::string file =
      deplo::testing::write_file(folder.path(), "x.yaml",
                                 "device: interpreter\ntarget: opencl-cpu\nsearch: {strategy: exhaustive}\n"
                                 "restrict: {blockify_launch.t*: [1, 4]}\n"
                                 "kernels:\n  - {kernel: gelu, symbols: {M: 2, N: 6}}\n");
  const auto tuned = run_program({"deplo-tune", "--config", file, "--store", folder.file("s.db"), "--restrict",
                                  "vectorize.width=1,2", "--json", "--quiet"});
  EXPECT_EQ(tuned.code, 0) << tuned.err;
  measure::sqlite::Database store(folder.file("s.db"));
  measure::sqlite::Statement rows(store, "SELECT DISTINCT trail FROM trial");
  std::size_t measured = 0;
  for (; rows.step(); ++measured) EXPECT_THAT(rows.text(0), Not(HasSubstr("threads=2 ")));
  EXPECT_EQ(measured, left) << tuned.out;
  measure::sqlite::Statement config(store, "SELECT config FROM run");
  ASSERT_TRUE(config.step());
  EXPECT_THAT(config.text(0), HasSubstr("restrict: {blockify_launch.t*: [1, 4]}"));
  EXPECT_THAT(config.text(0), HasSubstr("--restrict vectorize.width=1,2"));
  for (const auto& [flag, text] :
       {std::pair{"mark_unroll.*", "--restrict: expected KNOB=VALUE,VALUE,…, found 'mark_unroll.*'"},
        {"mark_unroll.a=", "expected a value after = and after each comma"},
        {"mark_unroll.a=1,,2", "expected a value after = and after each comma"},
        {"mark.a=1", "--restrict: expected the name of a rule"}}) {
    const auto bad = ran(space, {"--restrict", flag});
    EXPECT_EQ(bad.code, 1);
    EXPECT_THAT(bad.err, HasSubstr(text));
  }
}

TEST(Restrict, EveryFileIsReadAndKeepsTheHeuristic) {
  for (const std::string& name : list_data("configs/restrictions", ".yaml"))
    for (const engine::Restriction& each : engine::load_restrictions(name, "here"))
      EXPECT_EQ(std::ranges::count(each.values, Value("heuristic")), 1) << name << " " << each.knob;
  EXPECT_TRUE(engine::load_restrictions("none", "here").empty());
  EXPECT_EQ(engine::default_restrictions(load_target("sm_90")), "gpu");
  EXPECT_EQ(engine::default_restrictions(load_target("opencl-cpu")), "none");
}

// The restricted space of a GPU's matmul has fewer schedules, and still contains the untuned one.
TEST(Restrict, AnExpertsSpaceOfAMatmulKeepsTheHeuristic) {
  const ir::Program loop = engine::load_kernel("matmul", {{"M", 512}, {"N", 3584}, {"K", 3584}}, "here");
  for (const char* name : {"sm_80", "sm_90", "sm_120"}) {
    const Target target = load_target(name);
    const engine::KernelSpace expert(loop, target, engine::load_restrictions("gpu", "here")), whole(loop, target);
    EXPECT_EQ(search::heuristic(expert)->trail(), search::heuristic(whole)->trail()) << name;
    Rng rng(0);
    std::vector<double> few, all;
    for (int i = 0; i < 200; ++i) {
      few.push_back(weight(search::random_path(expert, rng)));
      all.push_back(weight(search::random_path(whole, rng)));
    }
    EXPECT_LT(search::estimate_leaves(few, 1).leaves, search::estimate_leaves(all, 1).leaves / 100) << name;
  }
}

std::string config_of_tune(const std::string& yaml, const std::vector<std::string>& flags) {
  const measure::TemporaryFolder folder;
  const std::string file = deplo::testing::write_file(
      folder.path(), "x.yaml", yaml + "device: interpreter\nkernels:\n  - {kernel: gelu, symbols: {M: 2, N: 6}}\n");
  std::vector<std::string> words{"deplo-tune",        "--config", file,       "--store",
                                 folder.file("s.db"), "--quiet",  "--trials", "1"};
  words.insert(words.end(), flags.begin(), flags.end());
  const auto tuned = run_program(words);
  EXPECT_EQ(tuned.code, 0) << tuned.err;
  measure::sqlite::Database store(folder.file("s.db"));
  measure::sqlite::Statement config(store, "SELECT config FROM run");
  return config.step() ? config.text(0) : "";
}

TEST(Restrict, TuningOnAGpuIsRestrictedUnlessToldOtherwise) {
  const auto restricted = HasSubstr("# first restricted to chunk_matmul_k.bk=8,16,32,64,heuristic ");
  EXPECT_THAT(config_of_tune("target: opencl-gpu\n", {}), restricted);
  EXPECT_THAT(config_of_tune("target: opencl-gpu\n", {"--restrict", "mark_unroll.*=1"}), restricted);
  EXPECT_THAT(config_of_tune("target: opencl-gpu\n", {"--restrict", "none"}), Not(HasSubstr("first restricted")));
  EXPECT_THAT(config_of_tune("target: opencl-gpu\nrestrict: none\n", {}), Not(HasSubstr("first restricted")));
  EXPECT_THAT(config_of_tune("target: opencl-gpu\nrestrict: none\n", {"--restrict", "gpu"}), restricted);
  EXPECT_THAT(config_of_tune("target: opencl-cpu\n", {}), Not(HasSubstr("first restricted")));
  EXPECT_THAT(config_of_tune("target: opencl-cpu\nrestrict: gpu\n", {}), restricted);
}

TEST(Restrict, AnUnknownNameListsThose) {
  EXPECT_EQ(message("restrict: gpus\n"),
            "x.yaml:1: expected KNOB=VALUE,VALUE,… or restrictions (none, gpu), found 'gpus'; did you mean 'gpu'?");
  const auto bad = run_program({"deplo", "space", "-k", "gelu", "-s", "M=2", "-s", "N=6", "--restrict", "gpus"});
  EXPECT_EQ(bad.code, 1);
  EXPECT_THAT(bad.err, HasSubstr("--restrict: expected KNOB=VALUE,VALUE,… or restrictions (none, gpu), found 'gpus'"));
}

}  // namespace
}  // namespace deplo::apps
