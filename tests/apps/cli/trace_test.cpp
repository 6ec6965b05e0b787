// The traces and the final CUDA of the three examples in "A Principled ML Compiler Stack in 5,000 Lines of Python",
// part 2, as `deplo compile` prints them. The files are tests/traces/NAME.txt:
//   # a description
//   arguments of `deplo compile`, one per line
//   ----
//   the output without the rules that skipped: otherwise a new rule would change every trace, and tests/golden/ shows
//   why rules skip
// `make update-golden` rewrites the outputs.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "apps/run_program.h"

namespace deplo::apps {
namespace {

struct Trace {
  std::string header, output;
  std::vector<std::string> arguments;
};

Trace read_trace(const std::filesystem::path& path) {
  std::ifstream file(path);
  Trace trace;
  std::string line;
  while (std::getline(file, line) && line != "----") {
    trace.header += line + "\n";
    if (!line.starts_with("# ")) trace.arguments.push_back(line);
  }
  std::stringstream rest;
  rest << file.rdbuf();
  trace.output = rest.str();
  return trace;
}

std::string without_skips(const std::string& output) {
  std::string text;
  std::stringstream lines(output);
  for (std::string line; std::getline(lines, line);)
    if (!line.starts_with("--- t:")) text += line + "\n";
  return text;
}

TEST(Traces, AreWhatCompilePrints) {
  int count = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(DEPLO_SOURCE_DIR) / "tests/traces")) {
    const Trace trace = read_trace(entry.path());
    std::vector<std::string> words = {"deplo", "compile"};
    words.insert(words.end(), trace.arguments.begin(), trace.arguments.end());
    const testing::Ran ran = testing::run_program(words);
    ASSERT_EQ(ran.code, 0) << entry.path() << ": " << ran.err;
    ++count;
    if (std::getenv("UPDATE_GOLDEN") != nullptr)
      std::ofstream(entry.path()) << trace.header << "----\n" << without_skips(ran.out);
    else
      EXPECT_EQ(without_skips(ran.out), trace.output) << entry.path();
  }
  EXPECT_GE(count, 10);
}

}  // namespace
}  // namespace deplo::apps
