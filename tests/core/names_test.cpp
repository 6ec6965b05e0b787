// Suites and tests are named as types are: clang-tidy (readability-identifier-naming) does not look into TEST().
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <string>

#include "core/file.h"

namespace deplo {
namespace {

TEST(Names, OfTestsAreThoseOfTypes) {
  const std::regex test(R"((?:^|\n)(?:TEST|TEST_F|TEST_P|TYPED_TEST|INSTANTIATE_TEST_SUITE_P)\(\s*(\w+),\s*(\w+))");
  const std::regex good("(DISABLED_)?[A-Z][A-Za-z0-9]*");
  std::size_t found = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(DEPLO_SOURCE_DIR "/tests")) {
    if (entry.path().extension() != ".cpp") continue;
    const std::string text = read_file(entry.path());
    for (std::sregex_iterator one(text.begin(), text.end(), test), end; one != end; ++one, ++found)
      for (const int part : {1, 2})
        EXPECT_TRUE(std::regex_match((*one)[part].str(), good)) << entry.path() << ": " << (*one)[part];
  }
  EXPECT_GT(found, 1000U);
}

}  // namespace
}  // namespace deplo
