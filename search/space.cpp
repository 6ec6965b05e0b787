#include "search/space.h"

#include <algorithm>
#include <iterator>

namespace deplo::search {

std::optional<std::size_t> option_of(const Fork& fork, const Choice& choice) {
  if (fork.knob != choice.knob) return std::nullopt;
  const auto found = std::find(fork.options.begin(), fork.options.end(), choice.value);
  if (found == fork.options.end()) return std::nullopt;
  return static_cast<std::size_t>(std::distance(fork.options.begin(), found));
}

PositionPtr Space::find(const Trail& trail) const {
  PositionPtr position = walk(*this, trail);
  return position != nullptr && !position->fork() ? position : nullptr;
}

PositionPtr walk(const Space& space, const Trail& trail) {
  PositionPtr position = space.root();
  for (const Choice& choice : trail) {
    if (!position->fork()) return nullptr;
    const std::optional<std::size_t> option = option_of(*position->fork(), choice);
    if (!option) return nullptr;
    position = position->choose(*option);
  }
  return position;
}

PositionPtr heuristic(const Space& space) {
  PositionPtr position = space.root();
  while (position->fork()) position = position->choose(0);
  return position;
}

}  // namespace deplo::search
