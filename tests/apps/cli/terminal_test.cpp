// What a person sees on a terminal: each program runs on a real terminal whose width the test sets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "apps/run_program.h"
#include "core/text/text.h"
#include "measure/store_fixture.h"

namespace deplo::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::size_t least = 60, usual = 80, wide = 220;

class Terminal : public ::testing::Test {
 protected:
  /// Returns the lines on the terminal after the program has ended.
  std::vector<std::string> see(std::vector<std::string> words, std::size_t width, int code = 0, How how = {}) {
    how.terminal = static_cast<int>(width);
    const Ran ran = run_program(std::move(words), how);
    EXPECT_EQ(ran.code, code) << ran.out;
    return screen(ran.out, width);
  }
  static std::string joined(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    return text;
  }
  std::string file(const std::string& name) const { return folder_.file(name); }

  measure::TemporaryFolder folder_;
};

// The status line must be erased before the table begins.
TEST_F(Terminal, ProgressIsNotGluedToTheTable) {
  for (const std::size_t width : {usual, wide}) {
    const auto run =
        see({"deplo", "run", "-c", "F.softmax(torch.randn(4, 100), dim=-1)", "--device", "interpreter"}, width);
    EXPECT_THAT(run.front(), StartsWith("#  kernel")) << joined(run);
    const auto bench =
        see({"deplo", "run", "--bench", "-k", "softmax", "-s", "M=3", "-s", "N=17", "--time", "0"}, width);
    EXPECT_THAT(bench[0], StartsWith("[1/1] softmax  ")) << joined(bench);
    EXPECT_THAT(bench[1], StartsWith("#  kernel")) << joined(bench);
    for (const auto& line : bench) EXPECT_EQ(line.find("timing"), std::string::npos) << line;
  }
}

TEST_F(Terminal, AnInterruptedTableStandsAloneToo) {
  const std::string config = write_file(folder_.path(), "e.yaml",
                                        "name: my test\ndevice: interpreter\nsearch: {strategy: random}\n"
                                        "budget: {time: 600, trials: 100000, patience: 100000}\n"
                                        "kernels:\n  - {kernel: softmax, symbols: {M: 3, N: 11}}\n");
  How how;
  how.signal_at = "trials";  // a word of the status line
  const auto lines = see({"deplo", "tune", "--config", config, "--store", file("s.db")}, wide, 130, how);
  EXPECT_THAT(lines, Contains(StartsWith("kernel ")));
  EXPECT_THAT(joined(lines), HasSubstr("interrupted: the same command continues from"));
  EXPECT_THAT(joined(lines), HasSubstr("my test (" + config + ") on ")) << "the experiment's own name";
}

TEST_F(Terminal, TheBestSchedulesCanBeReadAtAnyWidth) {
  const std::string store = file("s.db"), trail = "chunk_matmul_k.bk=16 blockify_launch.bm=32 blockify_launch.bn=256";
  {
    measure::Store made = measure::Store::open(store);
    made.append(measure::some_trial(measure::add_context(made), 0, trail, 45));
  }
  const auto flat = [](const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) text += line.substr(std::min(line.size(), line.find_first_not_of(' '))) + " ";
    return text;
  };
  for (const std::size_t width : {least, usual, std::size_t{120}, wide}) {
    const auto best = see({"deplo", "db", "best", store}, width);
    EXPECT_THAT(flat(best), HasSubstr(trail)) << width << "\n" << joined(best);
    EXPECT_THAT(joined(best), HasSubstr("45.0")) << joined(best);
    const auto trials = see({"deplo", "db", "trials", store}, width);
    EXPECT_THAT(flat(trials), HasSubstr(trail)) << width << "\n" << joined(trials);
  }
  EXPECT_THAT(see({"deplo", "db", "best", store}, least).front(), StartsWith("matmul 4x4x4")) << "a paragraph";
}

TEST_F(Terminal, HelpFitsTheWindow) {
  const std::vector<std::vector<std::string>> commands = {
      {},
      {"tune"},
      {"run"},
      {"compile"},
      {"space"},
      {"compare"},
      {"strategies"},
      {"report"},
      {"model"},
      {"model", "eval"},
      {"check"},
      {"completion"},
      {"man"},
      {"devices"},
      {"db"},
      {"db", "info"},
      {"db", "best"},
      {"db", "trials"},
      {"db", "kernels"},
      {"db", "failures"},
      {"db", "families"},
      {"db", "heuristics"},
      {"db", "instructions"},
      {"db", "diff"},
      {"db", "check"},
      {"db", "sql"},
      {"db", "merge"},
      {"db", "prune"},
      {"db", "import"},
      {"db", "export"},
  };
  How how;
  // help shows the path of the user's store; a fixed path has a fixed length
  how.environment = {"XDG_CACHE_HOME=/cache"};
  for (const std::size_t width : {least, usual})
    for (std::vector<std::string> words : commands) {
      words.insert(words.begin(), "deplo");
      words.emplace_back("--help");
      const auto help = see(words, width, 0, how);
      words.back() = "--help-all";
      const auto all = see(words, width, 0, how);
      EXPECT_GE(all.size(), help.size());
      EXPECT_LE(help.size(), width == usual ? 44 : 66) << joined(help);
      words.back() = "--help";
      const std::string text = run_program(words, how).out;
      if (width == usual) {
        EXPECT_EQ(text, joined(help)) << "80 columns where there is no terminal";
      }
      // A line that is too long would be broken within a word, and the next line would begin in column 0.
      for (const auto* lines : {&help, &all})
        for (std::size_t i = 0; i + 1 < lines->size(); ++i)
          EXPECT_FALSE(columns((*lines)[i]) == width && !(*lines)[i + 1].empty() && (*lines)[i + 1][0] != ' ' &&
                       (*lines)[i][0] == ' ')
              << (*lines)[i] << "\n"
              << (*lines)[i + 1];
    }
}

}  // namespace
}  // namespace deplo::testing
