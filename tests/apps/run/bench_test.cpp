// `deplo run --bench`, as a user runs it. No test expects a certain time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "apps/run/bench.h"
#include "apps/run_program.h"
#include "measure/store_fixture.h"

namespace deplo::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Json = nlohmann::json;

Json bench(std::vector<std::string> flags) {
  flags.insert(flags.begin(), {"deplo", "run", "--bench", "--json", "--time", "0.2"});
  const Ran ran = run_program(flags);
  EXPECT_EQ(ran.code, 0) << ran.err;
  return Json::parse(ran.out);
}

TEST(Bench, AMatmulBesideOnednnAndARowOfItsOwnForTheRest) {
  const Json report = bench({"-c", "F.softmax(torch.randn(9, 33) @ torch.randn(33, 65), dim=-1) @ torch.randn(65, 7)"});
  std::size_t compared = 0;
  for (const Json& kernel : report["kernels"]) {
    EXPECT_GT(kernel["microseconds"], 0);
    EXPECT_EQ(kernel["baselines"].empty(), kernel.contains("no_baseline"));
    for (const Json& baseline : kernel["baselines"]) {
      EXPECT_EQ(baseline["library"], "oneDNN");
      EXPECT_EQ(baseline["samples_us"].size(), kernel["samples_us"].size());
      EXPECT_GT(baseline["ratio"], 0);
      ++compared;
    }
  }
  EXPECT_EQ(report["with_baseline"]["kernels"], compared);
}

// The check for impossible times uses the same bound: it rejects times below 0.9 of the bound.
TEST(Bench, ATimeIsBesideTheBoundOfTheWork) {
  const Json kernel = bench({"-c", "torch.randn(256, 256) @ torch.randn(256, 256)"})["kernels"][0];
  EXPECT_GT(kernel["bound_us"], 0);
  EXPECT_LT(0.9 * kernel["bound_us"].get<double>(), kernel["microseconds"].get<double>());
}

// Each row is reported as soon as it is timed, also without a terminal. Ctrl-C prints the table of these rows.
TEST(Bench, ARowAsItComesAndATableOfThoseThatCame) {
  const measure::TemporaryFolder folder;
  std::string yaml = "kernels:\n";
  for (int m = 200; m < 208; ++m) yaml += "  - {kernel: softmax, symbols: {M: " + std::to_string(m) + ", N: 1009}}\n";
  const std::string config = write_file(folder.path(), "many.yaml", yaml);
  const std::vector<std::string> command{"deplo", "run", "--bench", "--config", config, "--time", "600"};
  How how;
  how.signal_at = "[1/8] softmax.M200.N1009  ";
  const Ran ran = run_program(command, how);
  EXPECT_EQ(ran.code, 130);
  EXPECT_THAT(ran.err, HasSubstr(" µs (heuristic)"));
  EXPECT_THAT(ran.out, HasSubstr("\n0  softmax.M200.N1009  heuristic"));
  EXPECT_EQ(ran.out.find("softmax.M207"), std::string::npos);
  EXPECT_THAT(ran.out, HasSubstr(" of 8 kernels were timed\n"));
}

TEST(Bench, AnInterruptBeforeTheFirstRowLeavesNoTotals) {
  apps::BenchReport report;  // of a graph without kernels
  EXPECT_THAT(print_table(report, 0), HasSubstr("as the sum of 0 launches"));
  report.asked = 8;
  EXPECT_EQ(print_table(report, 0), "interrupted before the first kernel was timed\n");
}

// A worker that dies, as after a sticky error of a GPU, loses one row. The next row is timed in a new process.
TEST(Bench, AProcessThatDiesLosesOneRow) {
  const measure::TemporaryFolder folder;
  const std::string store = folder.file("s.db");
  std::string yaml = "kernels:\n";
  for (int m = 200; m < 208; ++m) yaml += "  - {kernel: softmax, symbols: {M: " + std::to_string(m) + ", N: 1009}}\n";
  const std::string config = write_file(folder.path(), "many.yaml", yaml);
  const auto rows = [&](const std::string& condition) {
    measure::sqlite::Database database(store);
    const bool made = database.integer("SELECT count(*) FROM sqlite_schema WHERE name = 'trial'") > 0;
    return made ? database.integer("SELECT count(*) FROM trial WHERE " + condition) : 0;
  };
  const pid_t bench = start_program({"deplo", "run", "--bench", "--config", config, "--store", store, "--time", "1"});
  int status = 0, kills = 0;
  for (std::int64_t before = 0; waitpid(bench, &status, WNOHANG) != bench;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (kills == 3 || !std::filesystem::exists(store) || rows("true") == before) continue;
    before = rows("true");
    // the second and third kill come later in a row's work
    std::this_thread::sleep_for(std::chrono::milliseconds(30 * kills));
    for (const pid_t worker : workers_of(bench)) kills += kill(worker, SIGSEGV) == 0 ? 1 : 0;
  }
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(kills, 3);
  const std::int64_t lost = rows("status <> 'ok'");
  EXPECT_EQ(WEXITSTATUS(status), lost == 0 ? 0 : 1);
  // While LLVM compiles, its signal handler removes unfinished files, and a signal that is sent does not end the
  // process.
  EXPECT_EQ(rows("status = 'illegal_access' OR message LIKE '%unable to rename temporary%'"), lost)
      << "a fault of the host while a kernel runs on it";
  EXPECT_LE(lost, kills);
  EXPECT_EQ(rows("true"), 8);
}

TEST(Bench, KernelsByNameAndGraphsWithEqualKernels) {
  const Json one = bench({"-k", "softmax", "-s", "M=5", "-s", "N=33"});
  ASSERT_EQ(one["kernels"].size(), 1U);
  EXPECT_THAT(std::string(one["kernels"][0]["no_baseline"]), HasSubstr("no library"));
  const Json two = bench({"-c", "x = torch.randn(4, 8); (x @ torch.randn(8, 6), x @ torch.randn(8, 6))"});
  ASSERT_EQ(two["kernels"].size(), 2U);
  EXPECT_EQ(two["kernels"][1]["first"], 0);
  EXPECT_EQ(two["kernels"][1]["samples_us"], two["kernels"][0]["samples_us"]);
}

TEST(Bench, ModulesInFilesNameTheFunctionOfTheirInputs) {
  const measure::TemporaryFolder folder;
  const std::string file = write_file(folder.path(), "module.py",
                                      "import torch\nclass Model(torch.nn.Module):\n"
                                      "    def forward(self, x):\n        return torch.relu(x)\n"
                                      "rows = columns = 33  # equal\n"
                                      "def sizes(): return []\ndef my_inputs(): return [torch.randn(rows, columns)]\n");
  const Json one = bench({"--file", file, "--init", "sizes", "--inputs", "my_inputs", "--set", "rows=4"});
  ASSERT_EQ(one["kernels"].size(), 1U);
  EXPECT_EQ(one["kernels"][0]["kernel"], "relu");
  for (const char* command : {"compile", "space"})
    EXPECT_THAT(run_program({"deplo", command, "--file", file, "--init", "sizes", "--inputs", "my_inputs"}).err,
                IsEmpty());
  EXPECT_EQ(run_program({"deplo", "bench", "-c", file}).err,
            "deplo: -c: expected code, found the name of a file; --file " + file + " reads it\n");
  const std::string usual = write_file(folder.path(), "usual.py",
                                       "import torch\nclass Model(torch.nn.Module):\n"
                                       "    def forward(self, x):\n        return torch.relu(x)\n"
                                       "rows = 33\ndef get_init_inputs(): return []\n"
                                       "def get_inputs(): return [torch.randn(rows, 5)]\n");
  EXPECT_EQ(bench({"--file", usual, "--set", "rows=4"})["kernels"].size(), 1U);
}

// Times are stored. Times of other programs that are in the store are shown next to them.
TEST(Bench, AStoreGetsTheTimesAndGivesEarlierOnes) {
  const measure::TemporaryFolder folder;
  const std::string store = folder.file("s.db");
  const std::string config = write_file(folder.path(), "two.yaml",
                                        "kernels:\n"
                                        "  - {name: first, expression: \"torch.randn(9, 33) @ torch.randn(33, 65)\"}\n"
                                        "  - {name: second, expression: \"torch.randn(9, 33) @ torch.randn(33, 65)\"}\n"
                                        "  - {name: third, expression: \"F.softmax(torch.randn(5, 33), dim=-1)\"}\n");
  const Json before = bench({"--config", config, "--store", store});
  ASSERT_EQ(before["kernels"].size(), 3U);
  EXPECT_EQ(before["kernels"][1]["kernel"], "second");
  EXPECT_EQ(before["kernels"][1]["first"], 0);
  measure::sqlite::Database database(store);
  EXPECT_EQ(database.integer("SELECT count(*) FROM trial WHERE stage = 'confirm' AND status = 'ok'"), 2);
  EXPECT_EQ(database.integer("SELECT count(*) FROM baseline"), before["kernels"][0]["baselines"].size());
  EXPECT_EQ(database.integer("SELECT count(*) FROM run WHERE searcher = 'bench'"), 1);
  EXPECT_EQ(database.integer("SELECT count(*) FROM ceiling"), 1);

  // the device's name as PyTorch reports it, without "pthread-"
  measure::sqlite::Statement name(database, "SELECT substr(name, 9) FROM device");
  ASSERT_TRUE(name.step());
  const std::string device = name.text(0);
  const auto line = [&](const std::string& variant, double us) {
    return Json{{"kernel", "first"},
                {"expression", "torch.randn(9, 33) @ torch.randn(33, 65)"},
                {"variant", variant},
                {"library", "PyTorch"},
                {"version", "2.11.0"},
                {"device", device},
                {"threads", 2},
                {"precision", "fp32"},
                {"status", "ok"},
                {"message", ""},
                {"median_us", us},
                {"warm_us", nullptr},
                {"samples", {us}},
                {"batch", 3},
                {"sets", 4},
                {"protocol", "torch v1"},
                {"date", "2026-11-21T11:04:22+00:00"}}
               .dump() +
           "\n";
  };
  const std::string lines =
      write_file(folder.path(), "torch.jsonl", line("eager", 1e6) + line("compile", 2e6) + line("ours", 3));
  const Ran imported = run_program({"deplo", "db", "import", lines, "--store", store});
  EXPECT_EQ(imported.out, lines + ": 2 times of 1 kernel; skipped 1 of deplo's own\n") << imported.err;
  const Json after = bench({"--config", config, "--store", store});
  EXPECT_EQ(after["kernels"][0]["schedule"], "tuned");
  const Json& all = after["kernels"][0]["baselines"];
  ASSERT_EQ(all.size(), before["kernels"][0]["baselines"].size() + 2);
  EXPECT_EQ(all[all.size() - 2]["library"], "PyTorch eager");
  EXPECT_EQ(all.back()["library"], "PyTorch compile");
  EXPECT_EQ(all.back()["date"], "2026-11-21T11:04:22Z");
  EXPECT_DOUBLE_EQ(all.back()["ratio"], 2e6 / double(after["kernels"][0]["microseconds"]));
  EXPECT_EQ(after["means"].back()["kernels"], 2) << "the second is equal to the first";
  EXPECT_EQ(after["with_baseline"]["kernels"], before["with_baseline"]["kernels"]) << "those of the same rounds";
}

TEST(Bench, TwoSchedulesBesideEachOther) {
  const std::vector<std::string> kernel{"-k", "matmul", "-s", "M=33", "-s", "N=64", "-s", "K=64"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), kernel.begin(), kernel.end());
    return more;
  };
  const Json both = bench(with({"--ab", "chunk_matmul_k.bk=32", "chunk_matmul_k.bk=64"}));
  const Json& row = both["kernels"][0];
  EXPECT_THAT(std::string(row["trail"]), ::testing::StartsWith("chunk_matmul_k.bk=32"));
  EXPECT_EQ(row["baselines"].back()["library"], "B");
  EXPECT_EQ(row["baselines"].back()["precision"], "ours");
  std::vector<std::string> words = with({"--ab", "chunk_matmul_k.bk=33", "chunk_matmul_k.bk=64"});
  words.insert(words.begin(), {"deplo", "run", "--bench"});
  EXPECT_THAT(run_program(words).err, HasSubstr("chunk_matmul_k.bk=33 is not legal here"));
}

TEST(Bench, LinesThatAreNoBaselines) {
  const measure::TemporaryFolder folder;
  const std::string store = folder.file("s.db");
  const std::string good =
      R"({"kernel":"k","expression":"torch.randn(4) * 2","variant":"eager","library":"PyTorch","version":"2","device":"d",)"
      R"("threads":2,"precision":"fp32","status":"ok","message":"","median_us":1.5,"samples":[1.5],"protocol":"p",)"
      R"("date":"2026-11-21"})";
  const auto replaced = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    return text.replace(text.find(from), from.size(), to);
  };
  for (const auto& [text, what] : std::vector<std::pair<std::string, std::string>>{
           {"", "found none"},
           {good + "\n{", ":2: expected a line of torch_suite.py"},
           {"[]", "found a JSON array"},
           {replaced("\"ok\"", "\"fine\""), ":1: "},
           {replaced("1.5,", "-1,"), "expected a positive time"},
           {replaced("\"2\"", "2"), "type must be string"},
           {replaced("* 2", "* nobody"), ":1: "},
           {replaced("torch.randn(4) * 2", "x = torch.randn(4, 9); (x @ x.T, F.softmax(x, dim=0))"),
            "with expressions that become one kernel, found none"}}) {
    const Ran ran =
        run_program({"deplo", "db", "import", write_file(folder.path(), "a.jsonl", text), "--store", store});
    EXPECT_EQ(ran.code, 1) << text;
    EXPECT_THAT(ran.err, HasSubstr(what)) << text;
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
    EXPECT_FALSE(std::filesystem::exists(store));
  }
  const std::string several = replaced("torch.randn(4) * 2", "x = torch.randn(4, 9); (x @ x.T, F.softmax(x, dim=0))");
  const Ran ran = run_program(
      {"deplo", "db", "import", write_file(folder.path(), "a.jsonl", several + "\n" + good), "--store", store});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("1 time of 1 kernel; skipped 1 whose expression becomes several kernels"));
  const std::string file = write_file(folder.path(), "a.jsonl", good + "\n" + good);
  EXPECT_EQ(run_program({"deplo", "db", "import", file, "--store", store}).code, 0);
  EXPECT_EQ(run_program({"deplo", "db", "import", file, "--store", store, "--time", "x"}).code, 1);
}

TEST(Bench, HasFlagsThatRunHasNot) {
  EXPECT_THAT(run_program({"deplo", "run", "--config", "experiments/smoke.yaml"}).err,
              HasSubstr("run: expected one of its flags, found '--config', a flag of tune and bench"));
  EXPECT_THAT(run_program({"deplo", "bench", "--config", "experiments/smoke.yaml", "-k", "softmax"}).err,
              HasSubstr("--kernel cannot be combined with --config"));
  const Ran ran = run_program({"deplo", "run", "-k", "softmax"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("found '-k', a flag of tune, bench, compile and space"));
}

TEST(Bench, IsRunWithBenchToo) {
  const std::vector<std::string> flags{"-c", "torch.randn(3, 5).exp()", "--time", "0", "--json"};
  const auto bench = [&](std::vector<std::string> words) {
    words.insert(words.end(), flags.begin(), flags.end());
    return run_program(words);
  };
  for (const auto& words : {std::vector<std::string>{"deplo", "bench"}, {"deplo", "run", "--bench"}}) {
    const Ran ran = bench(words);
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("\"ours_us\"")) << "a report of times";
  }
  EXPECT_EQ(run_program({"deplo", "run", "--bench", "--help"}).out, run_program({"deplo", "bench", "--help"}).out);
  EXPECT_EQ(run_program({"deplo", "run", "--help", "--bench"}).out, run_program({"deplo", "bench", "--help"}).out);
  // A flag's value is not taken as a flag.
  EXPECT_THAT(run_program({"deplo", "run", "-c", "--bench"}).err, HasSubstr("-c:1:3: "));
  EXPECT_THAT(run_program({"deplo", "run", "--outputs", "--bench", "-c", "torch.rand"}).err, HasSubstr("-c:1:"));
  EXPECT_THAT(run_program({"deplo", "run", "--ab", "a", "--bench", "-c", "torch.rand"}).err,
              HasSubstr("found '--ab', a flag of bench"));
}

// The table of a report with made-up times.
TEST(Bench, TheTable) {
  apps::BenchReport report{"a device", "opencl-cpu", "", "", "v2", 2, {}};
  apps::BenchKernel kernel;
  kernel.name = "matmul";
  kernel.ours.median_us = 200;
  kernel.baselines.push_back({"oneDNN", "2.6.0", "fp32", 2, {}, 0.75, {0.74, 0.76}});
  kernel.baselines.back().time.median_us = 150;
  kernel.baselines.push_back({"PyTorch eager", "2.11", "fp32", 2, {}, 3, {}, "2026-11-21T11:04:22Z"});
  report.kernels.push_back(kernel);
  apps::BenchKernel rest;
  rest.name = "softmax";
  rest.first = 1;
  rest.ours.median_us = 50;
  rest.no_baseline = "no library has this kernel";
  report.kernels.push_back(rest);
  const std::string table = print_table(report, 0);
  EXPECT_THAT(table, HasSubstr("[0.740, 0.760]  oneDNN 2.6.0"));
  EXPECT_THAT(table, HasSubstr("3.000  of 2026-11-21   PyTorch eager 2.11"));
  EXPECT_THAT(table, HasSubstr("over 1 kernel: 3.000  PyTorch eager 2.11"));
  EXPECT_THAT(table, HasSubstr("none: no library has this kernel"));
  EXPECT_THAT(table, HasSubstr("2 launches: ours 250 µs; the 1 with a baseline: ours 200 µs, baseline 150 µs"));
  EXPECT_EQ(Json::parse(print_json(report)).at("ours_us"), 250);
  report.kernels[0].ours = {};
  report.kernels[0].ours.failure = "wrong_result: c[0]";
  EXPECT_FALSE(report.right());
  EXPECT_THAT(print_table(report, 0), HasSubstr("wrong_result: c[0]"));
  EXPECT_THAT(print_table(report, 0), HasSubstr("not known, because 1 of 2 launches failed; the others: ours 50.0 µs"));
  EXPECT_TRUE(Json::parse(print_json(report)).at("ours_us").is_null());
}

}  // namespace
}  // namespace deplo::testing
