// Flags of test_rules beside those of gtest.
#pragma once
#include <cstdint>

namespace deplo::rules {

struct TestOptions {
  std::uint64_t cases = 400;  // --cases=N, of random trails for each target
  std::uint64_t seed = 1;     // --seed=S, of the first
};
TestOptions& test_options();

}  // namespace deplo::rules
