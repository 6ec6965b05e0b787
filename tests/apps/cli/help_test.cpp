// Help, misspelt commands and flags, and lists of what exists.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>

#include "apps/run_program.h"

namespace deplo::testing::help_test {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Json = nlohmann::json;

std::string output(std::vector<std::string> words) {
  const Ran ran = run_program(std::move(words));
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.err, "");
  return ran.out;
}

std::string refusal(std::vector<std::string> words) {
  const Ran ran = run_program(std::move(words));
  EXPECT_EQ(ran.code, 1) << ran.out;
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
  return ran.err;
}

TEST(Help, TheProgramAloneListsItsCommands) {
  const std::string list = output({"deplo"});
  for (const char* command : {"tune", "run", "compile", "space", "db", "report", "compare", "strategies", "devices"})
    EXPECT_THAT(list, HasSubstr(std::string("\n  ") + command + " ")) << list;
  EXPECT_THAT(list, Not(HasSubstr("worker"))) << "not for people";
  EXPECT_EQ(output({"deplo", "--help"}), list);
  EXPECT_EQ(output({"deplo", "help"}), list);
  EXPECT_THAT(output({"deplo", "db"}), HasSubstr("\n  best "));
}

TEST(Help, OfACommand) {
  EXPECT_EQ(output({"deplo", "help", "tune"}), output({"deplo", "tune", "--help"}));
  EXPECT_EQ(output({"deplo", "help", "db", "best"}), output({"deplo", "db", "best", "-h"}));
  EXPECT_THAT(output({"deplo", "db", "best", "--help"}), StartsWith("Usage: deplo db best [STORE] [OPTIONS]\n"));
  EXPECT_THAT(output({"deplo", "help", "help"}), StartsWith("Usage: deplo help [COMMAND] [OPTIONS]\n"));
  EXPECT_THAT(output({"deplo-tune", "--help"}), AllOf(StartsWith("Usage: deplo-tune "), HasSubstr("--config")));
}

TEST(Help, TheVersionSaysTheRevision) {
  const std::string version = output({"deplo", "--version"});
  EXPECT_TRUE(std::regex_match(version, std::regex("deplo \\d+\\.\\d+\\.\\d+( \\([0-9a-f]{7,40}(, modified)?\\))?\n")))
      << version;
  EXPECT_EQ(output({"deplo-tune", "--version"}), "deplo-tune" + version.substr(version.find(' ')));
}

TEST(Help, ShortFirst) {
  const std::string help = output({"deplo", "tune", "--help"}), all = output({"deplo", "tune", "--help-all"});
  EXPECT_THAT(help, AllOf(HasSubstr("--config"), HasSubstr("--help-all"), Not(HasSubstr("--analytic-prior"))));
  EXPECT_THAT(all, AllOf(HasSubstr("--config"), HasSubstr("--analytic-prior")));
  EXPECT_LT(std::ranges::count(help, '\n'), 44);
  EXPECT_THAT(help, AllOf(HasSubstr("[300].\n"), HasSubstr("per kernel [100].\n"), HasSubstr("[opencl].\n")));
  EXPECT_THAT(all, HasSubstr("[60].\n"));
}

// The PTX machine has no times, so only commands that need none offer it.
TEST(Help, OfDevices) {
  EXPECT_THAT(output({"deplo", "help", "run"}), HasSubstr("ptx:sm_N"));
  EXPECT_THAT(output({"deplo", "help", "bench"}), AllOf(HasSubstr("interpreter"), Not(HasSubstr("ptx:sm_N"))));
}

TEST(Help, OfLimits) {
  EXPECT_THAT(output({"deplo", "help", "db", "trials"}), HasSubstr("Show at most N rows [20].\n"));
  EXPECT_THAT(output({"deplo", "help", "db", "best"}), HasSubstr("Show at most N rows.\n"));
}

TEST(Help, MisspeltWords) {
  EXPECT_THAT(refusal({"deplo", "tuen"}), HasSubstr("found 'tuen'; did you mean 'tune'?"));
  EXPECT_THAT(refusal({"deplo", "help", "tuen"}), HasSubstr("did you mean 'tune'?"));
  EXPECT_THAT(refusal({"deplo", "tuen", "--config", "x.yaml"}), HasSubstr("did you mean 'tune'?"));
  EXPECT_THAT(refusal({"deplo", "db", "bset"}),
              AllOf(HasSubstr("deplo: db: expected a command (info, best, "), HasSubstr("did you mean 'best'?")));
  EXPECT_THAT(refusal({"deplo", "db", "best", "--kernels", "x"}),
              HasSubstr("deplo: db best: expected one of its flags, found '--kernels'; did you mean '--kernel'?"));
  EXPECT_THAT(refusal({"deplo", "tune", "--trails=5"}), HasSubstr("found '--trails'; did you mean '--trials'?"));
  EXPECT_THAT(refusal({"deplo", "tune", "x.yaml"}),
              HasSubstr("deplo: tune: expected no other argument, found 'x.yaml'; did you mean --config x.yaml?"));
  EXPECT_THAT(refusal({"deplo", "run", "x.pt2"}), HasSubstr("did you mean --pt2 x.pt2?"));
  EXPECT_THAT(refusal({"deplo", "run", "torch.randn(3)"}), HasSubstr("did you mean --code \"torch.randn(3)\"?"));
  EXPECT_THAT(refusal({"deplo", "tune", "x.db"}), HasSubstr("did you mean --store x.db?"));
  EXPECT_THAT(refusal({"deplo", "db", "export", "x.db"}), HasSubstr("did you mean --store x.db?"));
  EXPECT_THAT(refusal({"deplo", "db", "best", "x.db", "y.db"}), HasSubstr("found 'y.db'; see deplo db best --help"));
  EXPECT_THAT(refusal({"deplo", "run", "x.db"}), HasSubstr("did you mean --tuned x.db?"));
  EXPECT_THAT(refusal({"deplo", "compare", DEPLO_SOURCE_DIR}),
              HasSubstr("did you mean --spaces " DEPLO_SOURCE_DIR "?"));
  EXPECT_THAT(refusal({"deplo", "compare", "none.csv"}), HasSubstr("found 'none.csv'; see deplo compare --help"));
  EXPECT_THAT(refusal({"deplo", "run", "more"}), HasSubstr("found 'more'; see deplo run --help"));
  EXPECT_THAT(refusal({"deplo", "tune"}), EndsWith("found none; see deplo tune --help\n"));
  EXPECT_THAT(refusal({"deplo-tune"}), EndsWith("found none; see deplo-tune --help\n"));
  EXPECT_THAT(refusal({"deplo", "compile"}), EndsWith("found none; see deplo compile --help\n"));
  EXPECT_THAT(refusal({"deplo", "db", "diff", "a.db"}), EndsWith("found 1; see deplo db diff --help\n"));
  EXPECT_THAT(refusal({"deplo", "nonsense"}), Not(HasSubstr("did you mean")));
}

// A control character is printed as four characters. If the length limit did not count them, this message would have
// 2,394 bytes.
TEST(Messages, AreShortWhateverIsInThem) {
  const std::string message =
      refusal({"deplo", "space", "-k", "matmul", "--restrict", std::string(3000, '\n') + "x.y=1"});
  EXPECT_LT(message.size(), 1100U);
  EXPECT_THAT(message, HasSubstr("[...]"));
}

TEST(Strategies, AreListed) {
  const std::string list = output({"deplo", "strategies"});
  EXPECT_THAT(list, HasSubstr("\nmcts        Monte Carlo tree search"));
  EXPECT_THAT(list, Not(HasSubstr("backup=")));
  const std::string mcts = output({"deplo", "strategies", "mcts"});
  EXPECT_THAT(mcts, AllOf(HasSubstr("c=0.1: "), HasSubstr("backup=max: "), Not(HasSubstr("genetic"))));
  EXPECT_THAT(output({"deplo", "strategies", "-v"}), HasSubstr(mcts));
  EXPECT_THAT(output({"deplo", "strategies", "default"}), HasSubstr("kappa"));
  EXPECT_THAT(output({"deplo", "strategies", "model"}), HasSubstr("kappa")) << "not the command `model`";
  EXPECT_THAT(refusal({"deplo", "strategies", "mtcs"}), HasSubstr("did you mean 'mcts'?"));
  const Json all = Json::parse(output({"deplo", "strategies", "--json"}));
  EXPECT_EQ(std::ranges::count(all, true, [](const Json& one) { return one["default"].get<bool>(); }), 1);
  const Json one = Json::parse(output({"deplo", "strategies", "mcts", "--json"}));
  EXPECT_EQ(one["strategy"], "mcts");
  EXPECT_EQ(one["hyperparameters"][0]["name"], "c");
  EXPECT_EQ(one["hyperparameters"][0]["default"], "0.1");
}

TEST(Devices, AsJson) {
  const Json json = Json::parse(output({"deplo", "devices", "--json"}));
  const auto is_interpreter = [](const Json& device) { return device["device"] == "interpreter"; };
  EXPECT_EQ(std::ranges::count_if(json["devices"], is_interpreter), 1);
  for (const Json& device : json["devices"]) {
    EXPECT_FALSE(device["name"].get<std::string>().empty());
    EXPECT_TRUE(device["backend"] ==
                device["device"].get<std::string>().substr(0, device["device"].get<std::string>().find(':')));
  }
  for (const char* kind : {"cuda", "opencl"}) {
    const bool listed =
        std::ranges::any_of(json["devices"], [&](const Json& device) { return device["backend"] == kind; });
    EXPECT_NE(listed, json["not_usable"].contains(kind)) << "a device of the kind, or why there is none";
  }
}

}  // namespace
}  // namespace deplo::testing::help_test
