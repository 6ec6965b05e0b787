// The tests run commands in this process, too. Processes that such a command starts as workers are this program.
#include <gtest/gtest.h>

#include <string_view>

#include "apps/cli/cli.h"

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "worker") return deplo::apps::run_program(argc, argv, false);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
