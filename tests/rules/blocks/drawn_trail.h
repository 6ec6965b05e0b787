// Draws random schedules of tile programs that run block by block.
#pragma once
#include "core/rng.h"
#include "rules/blocks/decisions.h"

namespace deplo::rules {

/// Returns a complete trail. At each fork, all options are equally likely.
inline Trail drawn_trail(const BlockDecisions& decisions, Rng& rng) {
  Trail trail;
  while (const std::optional<Fork> fork = decisions.next(trail))
    trail.push_back({fork->knob, fork->options[rng.below(fork->options.size())]});
  return trail;
}

}  // namespace deplo::rules
