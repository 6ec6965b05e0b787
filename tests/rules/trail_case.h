// One way through the rules: a kernel, its extents, a target and the choices, and all that must hold on it.
#pragma once
#include <cstdint>
#include <string>

#include "rules/programs.h"
#include "rules/rule.h"

namespace deplo::rules {

struct TrailCase {
  std::string kernel, target;
  ir::Symbols symbols;
  Trail wanted;            // choices by knob; the others are options[0]
  std::uint64_t seed = 0;  // not 0: choices are drawn, uniformly at each fork
  bool tight = false;      // a device that reports limits which small extents reach
};
std::string describe(const TrailCase&);

/// Kernel, extents and target drawn; the work bounded, so that interpreting takes milliseconds.
TrailCase random_case(std::string_view target, std::uint64_t seed);

/// Lowers the case to source text and interprets each level, in a process of its own: an abort or an endless loop is a
/// failure like another. `trail` is what was chosen up to there, `failure` "" where everything holds.
struct Finding {
  Trail trail;
  std::string failure;
};
Finding attempt(const TrailCase&);

/// The failing case with as many choices as possible left to options[0], on the smallest extents that still fail.
TrailCase shrink(TrailCase);

}  // namespace deplo::rules
