// Tuning the tuners: a strategy's hyperparameters over its grid, on training spaces, scored on others.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "apps/compare/strategy_compare.h"

namespace deplo::apps {

using Parameters = std::map<std::string, std::string>;  // what differs from the defaults
/// "model", "model:batch=0.04:kappa=2".
std::string label(const std::string& strategy, const Parameters&);
/// Every change of one parameter to another value of its grid.
std::vector<Parameters> single_changes(const search::SearcherKind&, const Parameters&);

struct TunedParameters {
  struct Round {
    std::vector<std::string> labels;  // the first: the best of the round before
    std::vector<double> scores;       // mean over the training spaces
  };
  std::vector<Round> rounds;
  Parameters best;
  Comparison scored;  // defaults and best on the other spaces; no orders without such
};

/// Coordinate-wise: each round compares all single changes of the best so far, with common seeds, and moves to the best
/// of them, until none is better or `most_rounds` were made. `flags.search` is the one strategy, `flags.spaces` the
/// training spaces. Throws Error where a space is among both.
TunedParameters tune_hyperparameters(const CompareFlags& flags, const std::vector<std::string>& scored_spaces,
                                     std::size_t most_rounds, Progress&);

std::string print_tuned(const TunedParameters&, const CompareFlags&, std::size_t width);

}  // namespace deplo::apps
