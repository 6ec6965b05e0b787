#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "rules/options.h"

namespace deplo::rules {

TestOptions& test_options() {
  static TestOptions options;
  return options;
}

}  // namespace deplo::rules

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    auto& options = deplo::rules::test_options();
    if (arg.starts_with("--cases=")) {
      options.cases = std::strtoull(arg.c_str() + 8, nullptr, 10);
    } else if (arg.starts_with("--seed=")) {
      options.seed = std::strtoull(arg.c_str() + 7, nullptr, 10);
    } else {
      std::fprintf(stderr, "expected --cases=N or --seed=S, found %s\n", arg.c_str());
      return 1;
    }
  }
  return RUN_ALL_TESTS();
}
