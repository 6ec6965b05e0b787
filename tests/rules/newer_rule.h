// A rule that no stored trail knows, for tests of replaying them.
#pragma once
#include <vector>

#include "rules/rule.h"

namespace deplo::rules {

/// Forks once, `newer.on`: the heuristic takes 1, which gives the kernel another name; 0 leaves it as it was.
inline const Rule newer_rule = {
    "newer",
    [](const ir::Program&, const Target&, std::span<const Choice> pins) -> Verdict {
      if (pins.empty()) return Fork{"on", {Value(std::int64_t{1}), Value(std::int64_t{0})}};
      return pins[0].value == Value(std::int64_t{0}) ? Verdict(Skip{"on=0"}) : Apply{};
    },
    [](ir::Program program, const Target&, std::span<const Choice>) {
      program.name += "_newer";
      return program;
    },
    Value(std::int64_t{0}),
};

/// The pipeline with the rule at that place.
inline std::vector<const Rule*> with_newer_rule(std::size_t place, const Rule& rule = newer_rule) {
  std::vector<const Rule*> rules(pipeline().begin(), pipeline().end());
  rules.insert(rules.begin() + static_cast<std::ptrdiff_t>(place), &rule);
  return rules;
}

}  // namespace deplo::rules
