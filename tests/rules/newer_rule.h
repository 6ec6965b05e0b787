// A rule that no stored trail contains, for tests that replay stored trails.
#pragma once
#include <vector>

#include "rules/rule.h"

namespace deplo::rules {

/// Has one fork, `newer.on`. The heuristic takes 1, which renames the kernel. 0 leaves the kernel unchanged.
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

/// Returns the pipeline with the rule inserted at `place`.
inline std::vector<const Rule*> with_newer_rule(std::size_t place, const Rule& rule = newer_rule) {
  std::vector<const Rule*> rules(pipeline().begin(), pipeline().end());
  rules.insert(rules.begin() + static_cast<std::ptrdiff_t>(place), &rule);
  return rules;
}

}  // namespace deplo::rules
