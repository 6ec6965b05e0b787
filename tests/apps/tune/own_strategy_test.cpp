// `--search exec:COMMAND` on the command line: another program's strategy tunes, and takes part in a comparison. If a
// strategy fails, only its own search ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "apps/run_program.h"
#include "measure/store_fixture.h"

namespace deplo::testing {
namespace {

using ::testing::HasSubstr;

class OwnStrategy : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::system("python3 -S -c '' > /dev/null 2>&1") != 0) GTEST_SKIP() << "python3 is not installed";
  }
  static std::string example(const std::string& name, const std::string& arguments = "") {
    return "exec:exec python3 -S -B '" DEPLO_SOURCE_DIR "/examples/strategies/" + name + "'" +
           (arguments.empty() ? "" : " " + arguments);
  }
  std::string program(const std::string& text, const std::string& file = "mine.py") const {
    return "exec:exec python3 -S -B '" +
           write_file(folder_.path(), file, "import deplo_search, os, time\nspace = deplo_search.connect()\n" + text) +
           "'";
  }
  Ran tune(const std::string& search, std::vector<std::string> more = {}) const {
    std::vector<std::string> words = {"deplo-tune",   "--store", folder_.file("s.db"), "--config", experiment_,
                                      "--in-process", "--quiet", "--search",           search,     "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words);
  }

  measure::TemporaryFolder folder_;
  const std::string experiment_ = write_file(folder_.path(), "one.yaml",
                                             "device: interpreter\nbudget: {time: 60, trials: 6}\nkernels:\n"
                                             "  - {kernel: softmax, symbols: {M: 3, N: 11}}\n");
  const std::string space_ = write_file(folder_.path(), "space.csv", [] {
    std::string text = "x,y,time (us)\n";
    for (int x = 0; x < 12; ++x)
      for (int y = 0; y < 12; ++y)
        text +=
            std::to_string(x) + "," + std::to_string(y) + "," + std::to_string(10 + (x - 7) * (x - 7) + 3 * y) + "\n";
    return text;
  }());
};

TEST_F(OwnStrategy, Tunes) {
  const Ran ran = tune(example("hill_climber.py"));
  ASSERT_EQ(ran.code, 0) << ran.err;
  const auto summary = nlohmann::json::parse(ran.out);
  EXPECT_EQ(summary["kernels"][0]["trials"], 6);
  EXPECT_TRUE(summary["kernels"][0]["confirmed"]);
  EXPECT_THAT(summary["strategy"].get<std::string>(), HasSubstr("hill_climber.py"));
}

TEST_F(OwnStrategy, KnowsTheKernel) {
  const Ran ran = tune(program("assert \"softmax\" in space.kernel, space.kernel\n"
                               "assert \"load x[\" in space.source and space.device == \"Kernel IR interpreter\"\n"
                               "assert space.parameters == {\"size\": 3} and space.seed == 4 and space.trials == 6\n"
                               "assert any(knob.meaning for knob in space.knobs)\n"
                               "assert repr(space.knobs[0]).startswith(\"Knob('\"), space.knobs\n"
                               "space.evaluate(space.random())\nspace.done()\n"),
                       {"--set", "size=3", "--seed", "4"});
  EXPECT_EQ(ran.code, 0) << ran.err;
}

TEST_F(OwnStrategy, AFailureKeepsWhatWasMeasured) {
  const Ran ran = tune(program("space.evaluate(space.random())\nos.kill(os.getpid(), 9)\n"));
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("was ended by signal 9 (Killed); its earlier measurements are kept"));
  const auto kernel = nlohmann::json::parse(ran.out)["kernels"][0];
  EXPECT_EQ(kernel["trials"], 2);
  EXPECT_TRUE(kernel["confirmed"]);
  EXPECT_EQ(kernel["stop"], "the strategy failed");
  const Ran again = tune(example("random_search.py"));  // with the same store
  EXPECT_EQ(again.code, 0) << again.err;
}

// The message about each search says what ended it.
TEST_F(OwnStrategy, SaysWhyEachSearchEnded) {
  struct End {
    std::vector<std::string> flags;
    const char *words, *stop;
  };
  const std::string one = "space.evaluate(space.random())\n";
  const std::string many =
      // a kernel with many schedules
      write_file(folder_.path(), "many.yaml",
                 "device: interpreter\nkernels: [{kernel: matmul, symbols: {M: 8, N: 16, K: 16}}]\n");
  const std::vector<End> ends = {
      {{"--search", program(one + "space.done()\n")}, ": the strategy ended", "ended"},
      {{"--search", program("while True: space.evaluate(space.random())\n", "all.py"), "--trials", "100000"},
       ": every schedule tried",
       "exhausted"},
      {{"--search", program(one + "raise ValueError(5)\n", "raises.py")},
       "it said: ValueError: 5",
       "the strategy failed"},
      {{"--search", "exhaustive", "--trials", "100000", "--patience", "100000"}, ": every schedule tried", "exhausted"},
      {{"--search", "heuristic"}, ": the strategy ended", "ended"},
      {{"--search", "random", "--trials", "3"}, ": trial limit reached", "trials"},
      {{"--search", "random", "--trials", "100", "--patience", "1"}, ": no improvement", "patience"},
      {{"--search", "random", "--trials", "100", "--goal", "100", "--config", many}, ": goal reached", "goal"},
      {{"--search", "random", "--time", "0"}, ": time is up", "seconds"},
      {{"--search", program(one + "time.sleep(100)\n", "sleeps.py"), "--time", "3"}, ": time is up", "seconds"},
  };
  for (std::size_t i = 0; i < ends.size(); ++i) {
    std::vector<std::string> words = {"deplo-tune", "--store", folder_.file(std::to_string(i) + ".db"), "--in-process",
                                      "--json"};
    if (std::ranges::find(ends[i].flags, "--config") == ends[i].flags.end())
      words.insert(words.end(), {"--config", experiment_});
    words.insert(words.end(), ends[i].flags.begin(), ends[i].flags.end());
    const Ran ran = run_program(words);
    EXPECT_THAT(ran.err, HasSubstr(ends[i].words)) << i;
    EXPECT_EQ(nlohmann::json::parse(ran.out)["kernels"][0]["stop"], ends[i].stop) << i;
  }
  const std::string begun = folder_.file("begun");
  const std::string waits = program(one + "open('" + begun + "', 'w').close()\ntime.sleep(100)\n", "waits.py");
  const auto wait_for_it = [&] {
    for (int tries = 0; tries < 3000 && !std::filesystem::exists(begun); ++tries)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
  };
  const Ran interrupted = run_program({"deplo-tune", "--store", folder_.file("i.db"), "--config", experiment_,
                                       "--search", waits, "--in-process", "--json"},
                                      {.signal_after_ms = 0, .meanwhile = wait_for_it});
  EXPECT_EQ(interrupted.code, 130) << interrupted.err;
  EXPECT_THAT(interrupted.err, HasSubstr(": cancelled"));
}

TEST_F(OwnStrategy, TakesPartInAComparison) {
  const auto compare = [&](const std::vector<std::string>& strategies) {
    std::vector<std::string> words = {"deplo", "compare", "--spaces", space_, "--repeats", "4", "--quiet", "--search"};
    words.insert(words.end(), strategies.begin(), strategies.end());
    return run_program(words);
  };
  const Ran good = compare({"random", example("random_search.py"), example("hill_climber.py")});
  EXPECT_EQ(good.code, 0) << good.err;
  EXPECT_EQ(good.out, compare({"random", example("random_search.py"), example("hill_climber.py")}).out);
  const Ran bad = compare({"random", program("space.evaluate(space.random())\nraise ValueError(space.seed)\n")});
  EXPECT_EQ(bad.code, 1);
  EXPECT_THAT(bad.out, HasSubstr("4 of 4 runs of exec:"));
  EXPECT_THAT(bad.err, HasSubstr("ended with code 1; it said: ValueError"));
  const Ran nothing = compare({"random", program("space.done()\n")});
  EXPECT_EQ(nothing.code, 1);
  EXPECT_THAT(nothing.out, HasSubstr("4 of 4 runs of exec:"));
  EXPECT_THAT(nothing.err, HasSubstr("the strategy ended after 0 evaluations"));
  const Ran comma = compare({"random,exec:python3 -c 'import sys,json'"});
  EXPECT_EQ(comma.code, 1);
  EXPECT_THAT(comma.err, HasSubstr("found 'json''; a comma separates strategies, so the command after exec: must not "
                                   "contain one"));
}

// Strategies minimise `us` also if higher values of the objective are better.
TEST_F(OwnStrategy, KnowsTheObjectiveOfARecordedSpace) {
  std::string text = "x,GFLOP/s\n";
  for (int x = 0; x < 40; ++x) text += std::to_string(x) + "," + std::to_string(x + 1) + "\n";
  const std::string rates = write_file(folder_.path(), "rates.csv", text);
  const std::string strategy = program(
      "assert space.objective == \"GFLOP/s, higher is better\", space.objective\n"
      "assert space.evaluate({\"x\": 3}).us == 0.25\nspace.done()\n");
  const Ran ran = run_program({"deplo", "compare", "--spaces", rates, "--objective", "GFLOP/s", "--repeats", "2",
                               "--quiet", "--search", strategy});
  EXPECT_EQ(ran.code, 0) << ran.err;
}

TEST_F(OwnStrategy, SaysWhatItLacks) {
  for (const auto& [name, arguments] :
       {std::pair("optuna_sampler.py", ""), {"skopt_bayes.py", ""}, {"kernel_tuner_strategy.py", "greedy_ils"}}) {
    const Ran ran = tune(example(name, arguments));  // python3's flag -S hides installed packages
    EXPECT_EQ(ran.code, 1);
    EXPECT_THAT(ran.err, HasSubstr("expected the Python package ")) << name;
  }
  EXPECT_THAT(tune("exec:").err, HasSubstr("expected a command after exec:"));
}

TEST_F(OwnStrategy, TheExampleForLanguageModelsPrintsItsPrompt) {
  const std::string answers = write_file(folder_.path(), "answers.jsonl", "{\"cooperative_reduce.rows\": 2}\n");
  const Ran ran = tune(example("language_model.py", "'" + answers + "'"));
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("Choose values that make this kernel fast on Kernel IR interpreter"));
  EXPECT_THAT(ran.err, ::testing::ContainsRegex("Measured so far:\n\\{\"cooperative_reduce.threads\".* -> .* us"));
  EXPECT_THAT(ran.err, HasSubstr("the answer {\"cooperative_reduce.rows\": 2} became"));
}

}  // namespace
}  // namespace deplo::testing
