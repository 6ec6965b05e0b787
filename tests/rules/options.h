// Flags of test_rules beside those of gtest.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace deplo::rules {

struct TestOptions {
  std::uint64_t cases = 1200;  // --cases N: random trails, over all targets
  std::uint64_t seed = 1;      // --seed S, from 1 on: of each target's first
  std::uint64_t jobs = 1;      // --jobs J: processes that try them
  std::string kernels;         // --kernels PREFIX: random trails of those whose names begin so; "": of all
};
TestOptions& test_options();

/// `--name VALUE` and `--name=VALUE`, in any order. "": all were understood; else what was expected and found.
std::string parse_options(const std::vector<std::string>& words, TestOptions&);

}  // namespace deplo::rules
