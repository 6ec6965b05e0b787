// Tunes a strategy's hyperparameters over its grid on training spaces, and scores the result on other spaces.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "apps/compare/strategy_compare.h"

namespace deplo::apps {

using Parameters = std::map<std::string, std::string>;  // values that differ from the defaults
/// Returns the strategy with its parameters: "model", "model:batch=0.04:kappa=2".
std::string label(const std::string& strategy, const Parameters&);
/// Returns every change of one parameter to another value of its grid.
std::vector<Parameters> single_changes(const search::SearcherKind&, const Parameters&);

struct TunedParameters {
  struct Round {
    std::vector<std::string> labels;  // the first: the best of the previous round
    std::vector<double> scores;       // means over the training spaces
  };
  std::vector<Round> rounds;
  Parameters best;
  Comparison scored;  // the defaults against the best on the other spaces; without orders if there are no such spaces
};

/// Coordinate descent: each round compares all single changes of the best so far, with common seeds, and takes the best
/// of them. It ends if none is better, or after `max_rounds`. `flags.search`: the only strategy. `flags.spaces`: the
/// training spaces. Throws Error if a space is also in `scored_spaces`.
TunedParameters tune_hyperparameters(const CompareFlags& flags, const std::vector<std::string>& scored_spaces,
                                     std::size_t max_rounds, Progress&);

std::string print_tuned(const TunedParameters&, const CompareFlags&, std::size_t width);

}  // namespace deplo::apps
