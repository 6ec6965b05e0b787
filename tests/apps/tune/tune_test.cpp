// Tuning, the main job of deplo, from end to end as a user runs it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "apps/run_program.h"
#include "core/file.h"
#include "measure/store_fixture.h"
#include "rules/rule.h"

namespace deplo::testing {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

class Tune : public ::testing::Test {
 protected:
  Ran run(std::vector<std::string> flags, const How& how = {}) {
    flags.insert(flags.begin(), {"deplo-tune", "--store", store()});
    return run_program(flags, how);
  }
  Json run_json(std::vector<std::string> flags) {
    flags.insert(flags.end(), {"--json", "--quiet"});
    const Ran ran = run(flags);
    EXPECT_EQ(ran.code, 0) << ran.err;
    return Json::parse(ran.out);
  }
  std::string store() const { return folder_.file("s.db"); }
  /// Returns the first column of all rows.
  std::vector<std::string> query(const std::string& sql) const {
    measure::sqlite::Database database(store());
    measure::sqlite::Statement statement(database, sql);
    std::vector<std::string> rows;
    while (statement.step()) rows.push_back(statement.text(0));
    return rows;
  }

  measure::TemporaryFolder folder_;
  const std::string smoke_ = (data_folder() / "experiments/smoke.yaml").string();
  const std::string tiny_ = write_file(folder_.path(), "tiny.yaml",
                                       "device: interpreter\nbudget: {time: 60, trials: 5}\nkernels:\n"
                                       "  - {kernel: matmul, symbols: {M: 5, N: 6, K: 7}}\n"
                                       "  - {kernel: softmax, symbols: {M: 3, N: 11}}\n");
};

void expect_verified_results(const Json& summary) {
  for (const Json& kernel : summary["kernels"]) {
    EXPECT_TRUE(kernel["confirmed"]) << kernel;
    ASSERT_TRUE(kernel["best_us"].is_number()) << kernel;
    EXPECT_LE(kernel["best_us"], kernel["heuristic_us"]) << kernel;
    EXPECT_EQ(kernel["failures"].value("wrong_result", 0), 0) << kernel;
    EXPECT_NE(kernel["trail"], "");
  }
}

// Every source that `run` takes is a flag of `tune`, too. What it measured, `run` finds in the store.
TEST_F(Tune, TakesEverySourceAsAFlag) {
  const std::string model = write_file(folder_.path(), "small.yaml",
                                       "source: none\nhidden: 32\nffn: 48\nheads: 2\nkv_heads: 1\nhead_dim: 16\n"
                                       "layers: 1\nrope_theta: 10000\nnorm_eps: 1e-5\n");
  const std::string problem = write_file(folder_.path(), "problem.py",
                                         "import torch\nclass Model(torch.nn.Module):\n"
                                         "    def forward(self, x):\n        return torch.relu(x) + 1\n"
                                         "def get_init_inputs(): return []\n"
                                         "def get_inputs(): return [torch.randn(3, 5)]\n");
  const std::string exported = (data_folder() / "tests/data/pt2/mlp_2.8.0.pt2").string();
  const std::string tile = (data_folder() / "experiments/tile/saxpy.tile").string();
  const std::vector<std::pair<std::string, std::vector<std::string>>> sources = {
      {"problem", {"--file", problem}},
      {"mlp_2.8.0", {"--pt2", exported}},
      {"small.layer0.s3", {"--model", model, "--seq", "3"}},
      {"saxpy",
       {"--tile", tile, "--arg", "X=f32[8,16]", "--arg", "Y=f32[8,16]", "--arg", "2", "--arg", "8", "--arg", "16",
        "--grid", "1"}},
  };
  for (const auto& [name, flags] : sources) {
    std::vector<std::string> all = flags;
    all.insert(all.end(), {"--device", "interpreter", "--trials", "1", "--time", "60"});
    const Json summary = run_json(all);
    ASSERT_FALSE(summary["kernels"].empty());
    EXPECT_THAT(std::string(summary["kernels"][0]["kernel"]), ::testing::StartsWith(name));
  }
  const Ran replay = run_program({"deplo", "run", "--file", problem, "--device", "interpreter", "--tuned", store(),
                                  "--require-tuned", "--no-measure"});
  EXPECT_EQ(replay.code, 0) << replay.err;
  EXPECT_THAT(run({"--pt2", "none.pt2"}).err,
              ::testing::StartsWith("deplo: --pt2: none.pt2: expected a readable file"));
  EXPECT_EQ(run({"-c", "torch.exp(3"}).err,
            "deplo: -c:1:12: expected an operator, `,` or `)`, found the end of the line\n");
  EXPECT_EQ(run({"-c", "torch.randn(0, 3)"}).err, "deplo: -c: expected a graph that computes something, found none\n");
  EXPECT_THAT(run({"--pt2", exported, "--dtype", "f16"}).err, HasSubstr("--dtype cannot be combined with --pt2"));
  EXPECT_THAT(run({"--config", tiny_, "--file", problem}).err, HasSubstr("--config cannot be combined with --file"));
  EXPECT_THAT(run({"--model", model}).err, HasSubstr("--seq"));
  EXPECT_THAT(run({"--tile", tile}).err, HasSubstr("--tile requires --grid"));
  const std::string empty = write_file(folder_.path(), "empty.py", "");
  EXPECT_THAT(run({"--file", empty}).err, HasSubstr(empty + ": expected an expression"));
}

TEST_F(Tune, SmokeOnOpenCl) {
  const Json summary = run_json({"--config", smoke_, "--trials", "3"});
  EXPECT_EQ(summary["kernels"].size(), 6u);
  expect_verified_results(summary);
}

TEST_F(Tune, InterpreterAndTheStore) {
  const Json first = run_json({"--config", tiny_});
  expect_verified_results(first);
  EXPECT_EQ(first["device"].get<std::string>().empty(), false);
  EXPECT_EQ(query("SELECT DISTINCT stage FROM trial ORDER BY stage"), (std::vector<std::string>{"confirm", "screen"}));
  const auto measured = query("SELECT digest FROM trial WHERE stage = 'screen'");
  EXPECT_EQ(std::set(measured.begin(), measured.end()).size(), measured.size()) << "no source is screened twice";
  for (const Json& kernel : first["kernels"]) EXPECT_EQ(kernel["proof"], "proved") << kernel;
  const Ran best = run_program({"deplo", "db", "best", store(), "--json"});
  for (const Json& row : Json::parse(best.out)) {
    EXPECT_EQ(row["proof"], "proved") << row;
    EXPECT_EQ(row["fingerprint"].get<std::string>().size(), 16U) << row;
  }
  EXPECT_EQ(query("SELECT proof FROM trial WHERE stage = 'screen' AND proof <> ''"), std::vector<std::string>{});

  const Json second = run_json({"--config", tiny_});
  expect_verified_results(second);
  for (const Json& kernel : second["kernels"]) EXPECT_GT(kernel["known"], 0);
  const auto after = query("SELECT digest FROM trial WHERE stage = 'screen'");
  EXPECT_EQ(std::set(after.begin(), after.end()).size(), after.size()) << "known trials are not measured again";
}

// Schedules that are left out are not stored.
TEST_F(Tune, FindsOnlySchedulesOfTheSameBits) {
  const std::string sums = write_file(folder_.path(), "sums.yaml",
                                      "device: interpreter\nbudget: {time: 60, trials: 12}\nkernels:\n"
                                      "  - {kernel: matmul, symbols: {M: 8, N: 8, K: 128}}\n"
                                      "  - {kernel: softmax, symbols: {M: 4, N: 300}}\n");
  run_json({"--config", sums});
  const std::string all = "SELECT count(*) FROM trial WHERE stage = 'screen'";
  const int before = std::stoi(query(all).at(0));
  const Json same = run_json({"--config", sums, "--same-bits-as", "heuristic", "--seed", "3"});
  EXPECT_EQ(same["strategy"], "mcts") << "a model learns nothing from what is left out";
  std::int64_t left_out = 0, measured = 0;
  for (const Json& kernel : same["kernels"]) {
    EXPECT_TRUE(kernel["best_us"].is_number()) << kernel;
    left_out += kernel["left_out"].get<std::int64_t>();
    measured += kernel["trials"].get<std::int64_t>();
  }
  EXPECT_GT(left_out, 0) << same;
  EXPECT_LE(std::stoi(query(all).at(0)) - before, measured) << same;
  EXPECT_THAT(query("SELECT DISTINCT settings FROM search"), ::testing::Contains(::testing::HasSubstr("same-bits-as")));
}

// The search takes the stored winner's order of additions. For another number of rows it takes the winner's order
// within a row.
TEST_F(Tune, TakesTheBitsOfTheStoredSchedule) {
  const auto config = [&](int rows) {
    return write_file(folder_.path(), fmt::format("matmul{}.yaml", rows),
                      fmt::format("device: interpreter\nbudget: {{time: 60, trials: 12}}\nkernels:\n"
                                  "  - {{kernel: matmul, symbols: {{M: {}, N: 8, K: 96}}}}\n",
                                  rows));
  };
  const Ran none = run({"--config", config(8), "--same-bits-as", "stored"});
  EXPECT_EQ(none.code, 1);
  EXPECT_THAT(none.err, HasSubstr("--same-bits-as stored: expected a schedule of matmul in the store, found none"));
  EXPECT_EQ(run({"--config", config(8), "--same-bits-as", "fast", "--quiet"}).err,
            "deplo: --same-bits-as: expected heuristic, stored or a trail of matmul, found 'fast'\n");
  run_json({"--config", config(8)});
  const std::string winners = "SELECT DISTINCT fingerprint || ' ' || row_fingerprint FROM trial WHERE proof <> ''";
  const std::string first = query(winners).at(0);
  const Json same = run_json({"--config", config(8), "--same-bits-as", "stored", "--seed", "3"});
  EXPECT_TRUE(same["kernels"][0]["best_us"].is_number()) << same;
  for (const std::string& found : query(winners)) EXPECT_EQ(found, first);
  const Json rows = run_json({"--config", config(4), "--same-rows-as", first.substr(17)});
  EXPECT_TRUE(rows["kernels"][0]["best_us"].is_number()) << rows;
  EXPECT_THAT(query(winners), ::testing::Each(::testing::EndsWith(first.substr(16))));
  EXPECT_EQ(query(winners).size(), 2U);
}

TEST_F(Tune, TheSameSeedAsksTheSame) {
  const auto trails = [&](const std::string& seed) {
    std::filesystem::remove(store());
    run_json({"--config", tiny_, "--search", "random", "--seed", seed});
    return query("SELECT trail FROM trial WHERE stage = 'screen' ORDER BY ordinal");
  };
  const auto first = trails("5");
  EXPECT_EQ(first, trails("5"));
  EXPECT_NE(first, trails("6"));
}

// No schedule is 100 times as fast as the best of the first eight, so the search ends when the goal is first tested.
TEST_F(Tune, AGoalEndsTheSearchOfAKernel) {
  const std::string yaml =
      write_file(folder_.path(), "goal.yaml",
                 "device: interpreter\nsearch: {strategy: random}\nbudget: {trials: 40, goal: 100}\n"
                 "kernels:\n  - {kernel: matmul, symbols: {M: 8, N: 16, K: 16}}\n");
  const Json summary = run_json({"--config", yaml});
  EXPECT_EQ(summary["kernels"][0]["trials"], 17) << "the heuristic's schedule beside: " << summary;
  EXPECT_EQ(query("SELECT DISTINCT stop FROM search"), std::vector<std::string>{"goal"});
  const Ran refused = run({"--config", tiny_, "--goal", "0.5"});
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, HasSubstr("--goal"));
}

// Two tuners that run at the same time with one store.
class TwoTuners : public Tune {
 protected:
  void tune_at_once(const std::string& seed, const std::string& other_seed, const std::string& trials) {
    const auto flags = [&](const std::string& drawn) {
      return std::vector<std::string>{"--config", tiny_,  "--search",   "random", "--seed", drawn,
                                      "--trials", trials, "--patience", trials,   "--quiet"};
    };
    Ran other;
    std::thread beside([&] { other = run(flags(other_seed)); });
    const Ran mine = run(flags(seed));
    beside.join();
    EXPECT_EQ(mine.code, 0) << mine.err;
    EXPECT_EQ(other.code, 0) << other.err;
    EXPECT_EQ(query("SELECT count(*) FROM run"), std::vector<std::string>{"2"});
    EXPECT_EQ(query("SELECT DISTINCT pipeline FROM run"),
              std::vector<std::string>{rules::version_of(rules::pipeline())});
    EXPECT_THAT(query("SELECT group_concat(id) FROM trial WHERE stage = 'screen' GROUP BY kernel, digest "
                      "HAVING count(*) > 1"),
                ::testing::IsEmpty());
    EXPECT_THAT(query("SELECT id FROM running"), ::testing::IsEmpty());
  }
};

// Both tuners ask for the same candidates in the same order. The tuner that starts first may stay ahead to the end, so
// the other one may measure nothing.
TEST_F(TwoTuners, OfOneSeedMeasureNothingTwice) { tune_at_once("3", "3", "40"); }

// The tuners' candidates overlap only in part: six trials are a small part of a space, so each tuner asks for
// candidates that the other one does not ask for.
TEST_F(TwoTuners, OfTwoSeedsMeasureNothingTwiceAndBothMeasure) {
  tune_at_once("3", "4", "6");
  EXPECT_EQ(query("SELECT count(DISTINCT run) FROM trial WHERE stage = 'screen'"), std::vector<std::string>{"2"});
}

TEST_F(Tune, ProgressIsPlainInAPipeAndTheTableIsOnStdout) {
  const Ran ran = run({"--config", tiny_, "--trials", "2"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.err, HasSubstr("[2/2] softmax.M3.N11  confirmed "));
  EXPECT_EQ(ran.err.find('\r'), std::string::npos);
  EXPECT_EQ(ran.err.find('\x1b'), std::string::npos);
  EXPECT_THAT(ran.out, ::testing::StartsWith("kernel "));
  EXPECT_THAT(ran.out, HasSubstr("matmul.K7.M5.N6"));
}

TEST_F(Tune, QuietSaysNothing) { EXPECT_EQ(run({"--config", tiny_, "--trials", "1", "--quiet"}).err, ""); }

// Regression test: the kernel that measures the device's rate was first built without a function that it calls, and
// Clang wrote "13 errors generated." to standard error.
TEST_F(Tune, InThisProcessTheCompilerSaysNothing) {
  const Ran ran = run({"-c", "torch.relu(torch.randn(64))", "--trials", "1", "--in-process", "--quiet"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.err, "");
}

TEST_F(Tune, CtrlCStopsWithEverythingStored) {
  const std::string yaml = write_file(
      folder_.path(), "long.yaml",
      "device: interpreter\nsearch: {strategy: random}\nbudget: {time: 600, trials: 100000, patience: 100000}\n"
      "kernels:\n  - {kernel: matmul, symbols: {M: 16, N: 24, K: 32}}\n"
      "  - {kernel: gelu, symbols: {M: 2, N: 3}}\n");
  const auto start = std::chrono::steady_clock::now();
  const Ran ran = run({"--config", yaml, "--json", "--quiet"}, {.signal_after_ms = 1500});
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(1500 + 8000))
      << "one second, and a slow machine";
  EXPECT_EQ(ran.code, 130) << ran.err;
  const Json summary = Json::parse(ran.out);
  EXPECT_TRUE(summary["interrupted"]);
  EXPECT_EQ(summary["kernels"][1]["stop"], "cancelled");
  EXPECT_EQ(query("PRAGMA integrity_check"), std::vector<std::string>{"ok"});
  EXPECT_EQ(query("SELECT count(*) FROM trial").at(0), std::to_string(summary["kernels"][0]["trials"].get<int>()));
}

// PoCL's compiler deletes the files it works on if it receives the signal. A sound candidate must not be stored as
// broken.
TEST_F(Tune, ASignalDuringABuildIsNoFailureOfTheCandidate) {
  const std::string yaml = write_file(folder_.path(), "builds.yaml",
                                      "search: {strategy: random}\nbudget: {time: 60, trials: 1000, patience: 1000}\n"
                                      "kernels:\n  - {kernel: matmul, symbols: {M: 16, N: 24, K: 32}}\n");
  for (const auto& [signal, wait] : {std::pair{SIGINT, 250}, {SIGTERM, 400}, {SIGHUP, 550}, {SIGINT, 700}}) {
    const Ran ran =
        run({"--config", yaml, "--quiet", "--seed", std::to_string(wait)}, {.signal_after_ms = wait, .signal = signal});
    EXPECT_EQ(ran.code, 128 + signal) << ran.err;
    EXPECT_EQ(ran.err, "");
  }
  EXPECT_EQ(query("SELECT message FROM trial WHERE status <> 'ok'"), std::vector<std::string>{});
  EXPECT_EQ(query("SELECT trail FROM running"), std::vector<std::string>{});
}

TEST_F(Tune, TimeIsSharedAndAlwaysEnoughForTheHeuristic) {
  const Json summary = run_json({"--config", tiny_, "--time", "0"});
  expect_verified_results(summary);
  for (const Json& kernel : summary["kernels"]) EXPECT_EQ(kernel["trials"], 1);
}

/// Returns the kernels' names in the order in which their results came.
std::vector<std::string> order_of(const std::string& progress) {
  std::vector<std::string> names;
  std::istringstream lines(progress);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("[") && line.find(": ") != std::string::npos)
      names.push_back(line.substr(line.find("] ") + 2, line.find("  ") - line.find("] ") - 2));
  return names;
}

TEST_F(Tune, AKernelWithoutTimeIsNotFinished) {
  const std::vector<std::string> command{"--config", tiny_, "--time", "0"};
  const Json out_of_time = run_json(command);
  for (const Json& kernel : out_of_time["kernels"]) {
    EXPECT_EQ(kernel["stop"], "seconds");
    EXPECT_FALSE(kernel["finished"]);
  }
  EXPECT_EQ(query("SELECT DISTINCT finished FROM search"), std::vector<std::string>{"0"});
  EXPECT_THAT(run(command).out,
              HasSubstr("not finished, 2 of 2 kernels; the same command continues with these first: "));
  EXPECT_THAT(run_program({"deplo", "db", "best", store()}).out, HasSubstr("unfinished"));
  // Without the time limit the search is the same and finishes all kernels. Afterwards a command without time takes the
  // results from the store.
  const Json all = run_json({"--config", tiny_});
  for (const Json& kernel : all["kernels"]) EXPECT_TRUE(kernel["finished"]);
  const std::string trials = query("SELECT count(*) FROM trial").at(0);
  const Json known = run_json(command);
  expect_verified_results(known);
  for (const Json& kernel : known["kernels"]) {
    EXPECT_TRUE(kernel["finished"]);
    EXPECT_EQ(kernel["trials"], 0);
    EXPECT_EQ(kernel["stop"], "trials");
  }
  EXPECT_EQ(query("SELECT count(*) FROM trial").at(0), trials) << "nothing is measured";
  EXPECT_THAT(run_program({"deplo", "db", "best", store()}).out, ::testing::Not(HasSubstr("unfinished")));
  // A search with another seed is a different search, which is not finished.
  const Json other = run_json({"--config", tiny_, "--time", "0", "--seed", "5"});
  for (const Json& kernel : other["kernels"]) EXPECT_FALSE(kernel["finished"]);
}

// If only one of two kernels is finished, the next run begins with the other one.
TEST_F(Tune, UnfinishedKernelsComeFirst) {
  const std::vector<std::string> command{"--config", tiny_};
  ASSERT_EQ(run(command).code, 0);
  const std::vector<std::string> usual = order_of(run(command).err);
  ASSERT_EQ(usual.size(), 2U);
  measure::sqlite::Database(store()).execute("DELETE FROM search WHERE kernel = (SELECT id FROM kernel WHERE name = '" +
                                             usual[1] + "')");
  EXPECT_THAT(order_of(run(command).err), ::testing::ElementsAre(usual[1], usual[0]));
}

TEST_F(Tune, AReadOnlyHomeIsSaidAndAnotherStoreNamed) {
  for (const char* home : {"/dev/null", "/proc/none"}) {
    const Ran ran =
        run_program({"deplo-tune", "--config", tiny_}, {.environment = {std::string("XDG_CACHE_HOME=") + home}});
    EXPECT_EQ(ran.code, 2);
    EXPECT_THAT(ran.err,
                HasSubstr(std::string("store ") + home + "/deplo/tuned.db: your own store cannot be written: "));
    EXPECT_THAT(ran.err, HasSubstr("; name another file with --store FILE"));
  }
}

TEST(Compile, PrintsEveryLevelAndReplaysASchedule) {
  const std::vector<std::string> matmul{"deplo", "compile", "-k", "matmul", "-s", "M=33", "-s", "N=509", "-s", "K=777"};
  const auto with = [&](std::vector<std::string> flags) {
    flags.insert(flags.begin(), matmul.begin(), matmul.end());
    const Ran ran = run_program(flags);
    EXPECT_EQ(ran.code, 0) << ran.err;
    return ran.out;
  };
  EXPECT_THAT(with({"--ir", "loop"}), HasSubstr("=== loop: matmul ==="));
  EXPECT_THAT(with({"--ir", "tile"}), HasSubstr("=== tile: matmul ==="));
  EXPECT_THAT(with({"--ir", "kernel"}), HasSubstr("=== kernel: matmul ==="));
  EXPECT_THAT(with({"--ir", "opencl"}), HasSubstr("__kernel"));
  EXPECT_THAT(with({"--ir", "cuda"}), HasSubstr("__global__"));
  const std::string traced = with({"--ir", "tile", "-vv"});
  EXPECT_THAT(traced,
              HasSubstr(">>> t:tileify: outer loops become thread axes\n@@ matched at matmul (in-place) @@\n@@ -1,"));
  EXPECT_THAT(traced, HasSubstr("<<< t:tileify\n"));
  EXPECT_THAT(traced, HasSubstr(" skipped at matmul: "));
  const std::size_t at = traced.find("schedule: ") + 10;
  const std::string schedule = traced.substr(at, traced.find('\n', at) - at);
  EXPECT_EQ(with({"--ir", "opencl", "--schedule", schedule}), with({"--ir", "opencl"}));
}

}  // namespace
}  // namespace deplo::testing
