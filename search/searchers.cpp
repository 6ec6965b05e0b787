#include "search/searchers.h"

#include <algorithm>
#include <array>

#include "core/error.h"

namespace deplo::search {
namespace {

constexpr std::array kinds = {
    SearcherKind{"mcts", "Monte Carlo tree search with max backup (the default)", make_mcts},
    SearcherKind{"random", "uniform choices without repetition: the baseline of every comparison", make_random},
    SearcherKind{"exhaustive", "everything, depth first in option order", make_exhaustive},
    SearcherKind{"heuristic", "the first option of every fork: the untuned compiler", make_heuristic},
};

}  // namespace

std::span<const SearcherKind> searchers() { return kinds; }

std::unique_ptr<Searcher> make_searcher(std::string_view name, const Space& space, const SearchOptions& options) {
  const auto found = std::find_if(kinds.begin(), kinds.end(), [&](const auto& kind) { return kind.name == name; });
  if (found != kinds.end()) return found->make(space, options);
  std::string known;
  for (const SearcherKind& kind : kinds) known += (known.empty() ? "" : ", ") + std::string(kind.name);
  throw Error("expected a searcher (" + known + "), found '" + std::string(name) + "'");
}

}  // namespace deplo::search
