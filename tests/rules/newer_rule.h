// A rule that no stored trail knows, for tests of replaying them.
#pragma once
#include <vector>

#include "rules/rule.h"

namespace deplo::rules {

/// Forks once, `newer.on`: the heuristic takes 1, which gives the kernel another name; 0 leaves it as it was.
inline const Rule newer_rule = {
    .name = "newer",
    .summary = "another name",
    .knobs = {{"on", KnobType::on_off, 0}},
    .decide = [](const ir::Program&, const Target&, const Pins& pins) -> Verdict {
      const auto on = pins.on_off("on");
      if (!on) return on_off_fork("on", true);
      return *on ? Verdict(Apply{}) : Skip{"on=0"};
    },
    .apply =
        [](ir::Program program, const Target&, const Pins&) {
          program.name += "_newer";
          return program;
        },
};

/// The pipeline with the rule at that place.
inline std::vector<const Rule*> with_newer_rule(std::size_t place, const Rule& rule = newer_rule) {
  std::vector<const Rule*> rules(pipeline().begin(), pipeline().end());
  rules.insert(rules.begin() + static_cast<std::ptrdiff_t>(place), &rule);
  return rules;
}

}  // namespace deplo::rules
