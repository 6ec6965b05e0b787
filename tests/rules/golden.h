// A golden is a file that describes what one rule decides and does on one program (tests/golden/RULE/CASE.ir).
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
  std::vector<std::string> forks;  // as in the file; options are sorted, because heuristics may change their order
  std::string before, after;
};

std::vector<std::string> golden_files(std::string_view rule);
Golden read_golden(const std::string& path);
std::string text_of(const Golden&);

/// The rule's forks on the program before, and the program after, both in the form of the file.
struct Effect {
  std::vector<std::string> forks;
  std::string after;
};
/// Runs the rule on the golden's program before. Throws Error if a pin is missing, left over, or not among the options.
Effect run(const Rule&, const Golden&);

}  // namespace deplo::rules
