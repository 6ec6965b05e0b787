// Tests that each file tests/golden/RULE/CASE.ir describes what its rule decides and does. `make update-golden`
// rewrites the forks and the program after. "Part 2" in a golden is part 2 of "A Principled ML Compiler Stack in 5,000
// Lines of Python".
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/error.h"
#include "rules/golden.h"

namespace deplo::rules::golden_test {
namespace {

class Goldens : public ::testing::TestWithParam<const Rule*> {};

TEST_P(Goldens, AreWhatTheRuleDoes) {
  const Rule& rule = *GetParam();
  const std::vector<std::string> files = golden_files(rule.name);
  EXPECT_FALSE(files.empty()) << "tests/golden/" << rule.name << " has no case";
  bool applies = false, skips = false;
  for (const std::string& file : files) {
    SCOPED_TRACE(file);
    Golden golden = read_golden(file);
    Effect effect;
    ASSERT_NO_THROW(effect = run(rule, golden)) << "a pin that the rule does not offer";
    skips |= effect.after.starts_with("skip: ");
    applies |= effect.after.starts_with("===");
    if (std::getenv("UPDATE_GOLDEN") != nullptr) {
      golden.forks = effect.forks;
      golden.after = effect.after;
      std::ofstream(file, std::ios::binary) << text_of(golden);
    }
    EXPECT_EQ(golden.forks, effect.forks);
    EXPECT_EQ(golden.after, effect.after);
  }
  EXPECT_TRUE(applies) << "no case in which the rule applies";
  EXPECT_TRUE(skips) << "no case in which the rule skips";
}

std::string rule_name(const ::testing::TestParamInfo<const Rule*>& info) { return std::string(info.param->name); }

INSTANTIATE_TEST_SUITE_P(Rules, Goldens, ::testing::ValuesIn(pipeline().begin(), pipeline().end()), rule_name);

TEST(Goldens, EveryFolderIsARule) {
  for (const auto& entry : std::filesystem::directory_iterator(DEPLO_SOURCE_DIR "/tests/golden"))
    EXPECT_NE(find_rule(entry.path().filename().string()), nullptr) << entry.path();
}

TEST(Goldens, TheTextOfAGoldenIsItsIdentity) {
  for (const Rule* rule : pipeline())
    for (const std::string& file : golden_files(rule->name))
      EXPECT_EQ(text_of(read_golden(file)), [&] {
        std::ifstream in(file, std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(in), {});
      }());
}

}  // namespace
}  // namespace deplo::rules::golden_test
