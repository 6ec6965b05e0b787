#include "search/searcher.h"

#include <cmath>

namespace deplo::search {

double reward(const Outcome& outcome) {
  const bool valid = outcome.ok() && std::isfinite(outcome.microseconds) && outcome.microseconds > 0;
  return valid ? 1 / outcome.microseconds : 0;
}

}  // namespace deplo::search
