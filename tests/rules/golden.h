// A golden: what one rule decides and does on one program, in a file of its own (tests/golden/RULE/CASE.ir).
//   # a sentence
//   target sm_120
//   pins bm=64 bn=128
//   forks bm: 16 32 64
//   forks bn: 64 128
//   === tile: … (the program before)
//   ----
//   === tile: … (the program after), or `skip: REASON`
#pragma once
#include <map>
#include <string>
#include <vector>

#include "rules/rule.h"

namespace deplo::rules {

struct Golden {
  std::string path, comment, target;
  Trail pins;
  std::vector<std::string> forks;  // as in the file; the order of options is left open, heuristics change
  std::string before, after;
};

std::vector<std::string> golden_files(std::string_view rule);
Golden read_golden(const std::string& path);
std::string text_of(const Golden&);

/// What the rule decides on the program before, and what it makes of it, in the form of the file. Throws Error where a
/// pin is missing, left over or not among the options.
struct Effect {
  std::vector<std::string> forks;
  std::string after;
};
Effect run(const Rule&, const Golden&);

}  // namespace deplo::rules
