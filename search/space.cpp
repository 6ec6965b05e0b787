#include "search/space.h"

#include <algorithm>
#include <iterator>

#include "core/rng.h"

namespace deplo::search {

std::optional<std::size_t> option_of(const Fork& fork, const Choice& choice) {
  if (fork.knob != choice.knob) return std::nullopt;
  const auto found = std::find(fork.options.begin(), fork.options.end(), choice.value);
  if (found == fork.options.end()) return std::nullopt;
  return static_cast<std::size_t>(std::distance(fork.options.begin(), found));
}

std::string kind_of(const std::vector<Value>& options) {
  const auto is_integer = [](const Value& value) { return std::holds_alternative<std::int64_t>(value); };
  return std::ranges::all_of(options, is_integer) ? "integer" : "text";
}

std::vector<KnobInfo> Space::knobs() const {
  constexpr int random_paths = 64;
  std::vector<KnobInfo> knobs;
  const auto add = [&](const Fork& fork) {
    auto knob = std::ranges::find(knobs, fork.knob, &KnobInfo::name);
    if (knob == knobs.end()) knob = knobs.insert(knob, {fork.knob, {}, "", ""});
    for (const Value& option : fork.options)
      if (std::ranges::find(knob->options, option) == knob->options.end()) knob->options.push_back(option);
  };
  Rng rng(0);
  for (int path = 0; path <= random_paths; ++path) {
    PositionPtr position = root();
    for (; position->fork(); position = position->choose(path == 0 ? 0 : rng.below(position->fork()->options.size())))
      add(*position->fork());
  }
  for (KnobInfo& knob : knobs) knob.kind = kind_of(knob.options);
  return knobs;
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

PositionPtr heuristic(const Space& space) { return completed(space.root()); }

PositionPtr completed(PositionPtr position) {
  while (position->fork()) position = position->choose(0);
  return position;
}

}  // namespace deplo::search
