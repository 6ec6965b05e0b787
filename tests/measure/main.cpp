#include <gtest/gtest.h>

#include "measure/faulty.h"

int main(int argc, char** argv) {
  if (const int code = deplo::measure::worker::run_as_worker(argc, argv); code >= 0) return code;
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
