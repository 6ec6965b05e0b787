// Random schedules of tile programs block by block.
#pragma once
#include "core/rng.h"
#include "rules/blocks/decisions.h"

namespace deplo::rules {

/// A complete trail, each option as likely as the others.
inline Trail drawn_trail(const BlockDecisions& decisions, Rng& rng) {
  Trail trail;
  while (const std::optional<Fork> fork = decisions.next(trail))
    trail.push_back({fork->knob, fork->options[rng.below(fork->options.size())]});
  return trail;
}

}  // namespace deplo::rules
