#include <gtest/gtest.h>

#include <cstdio>

#include "rules/options.h"

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  const std::string wrong = deplo::rules::parse_options({argv + 1, argv + argc}, deplo::rules::test_options());
  if (!wrong.empty()) {
    std::fprintf(stderr, "%s\n", wrong.c_str());
    return 1;
  }
  return RUN_ALL_TESTS();
}
