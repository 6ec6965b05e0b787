// Flags of test_rules, in addition to the flags of gtest.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace deplo::rules {

struct TestOptions {
  std::uint64_t cases = 1200;  // --cases N: number of random trails, over all targets
  std::uint64_t seed = 1;      // --seed S, at least 1: seed of each target's first trail
  std::uint64_t jobs = 1;      // --jobs J: number of processes that run the trails
  std::string kernels;         // --kernels PREFIX: only trails of kernels with this prefix; "": all kernels
};
TestOptions& test_options();

/// Parses `--name VALUE` and `--name=VALUE`, in any order. Returns "" if all words were understood, otherwise what was
/// expected and found.
std::string parse_options(const std::vector<std::string>& words, TestOptions&);

}  // namespace deplo::rules
