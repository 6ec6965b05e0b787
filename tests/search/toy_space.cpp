#include "search/toy_space.h"

namespace deplo::search::toy {
namespace {

Fork fork_at(std::size_t level, std::int64_t options) {
  Fork fork{"toy.k" + std::to_string(level), {}};
  for (std::int64_t i = 0; i < options; ++i) fork.options.emplace_back(i);
  return fork;
}

void leaves(const PositionPtr& position, std::vector<Trail>& out) {
  if (!position->fork()) return out.push_back(position->trail());
  for (std::size_t i = 0; i < position->fork()->options.size(); ++i) leaves(position->choose(i), out);
}

}  // namespace

ToySpace levels(std::vector<std::int64_t> branching) {
  return ToySpace([branching = std::move(branching)](const Trail& trail) -> std::optional<Fork> {
    if (trail.size() == branching.size()) return std::nullopt;
    return fork_at(trail.size(), branching[trail.size()]);
  });
}

ToySpace uniform(std::size_t depth, std::int64_t branching) {
  return levels(std::vector<std::int64_t>(depth, branching));
}

ToySpace conditional(std::int64_t width) {
  return ToySpace([width](const Trail& trail) -> std::optional<Fork> {
    if (trail.empty()) return fork_at(0, width);
    const std::int64_t first = taken(trail, 0);
    const auto depth = static_cast<std::size_t>(first % 2 == 0 ? 2 : first + 1);
    if (trail.size() == depth) return std::nullopt;
    return fork_at(trail.size(), first % 2 == 0 ? 2 : first + 1);
  });
}

ToySpace comb(std::size_t depth) {
  return ToySpace([depth](const Trail& trail) -> std::optional<Fork> {
    if (trail.size() == depth || (!trail.empty() && taken(trail, trail.size() - 1) == 0)) return std::nullopt;
    return fork_at(trail.size(), 2);
  });
}

std::uint64_t scramble(const Trail& trail, std::uint64_t salt) {
  std::uint64_t hash = 0xcbf29ce484222325ULL ^ (salt * 0x9e3779b97f4a7c15ULL);
  for (const char c : print(trail)) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash ^ (hash >> 29);
}

std::vector<Trail> leaves(const Space& space) {
  std::vector<Trail> out;
  leaves(space.root(), out);
  return out;
}

}  // namespace deplo::search::toy
