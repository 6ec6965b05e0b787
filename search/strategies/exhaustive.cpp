// Exhaustive: tries every candidate, depth first in option order. Finds the optimum of spaces that are small enough.
#include <algorithm>

#include "search/strategies/tree.h"

namespace deplo::search::strategies {
namespace {

std::size_t first_open(const Node& node) {
  return static_cast<std::size_t>(std::ranges::find(node.children, false, &Node::finished) - node.children.begin());
}

class Exhaustive final : public Searcher {
 public:
  Exhaustive(const Space& space, const Settings&) : tree_(space) {}
  std::vector<Candidate> ask(std::size_t n) override {
    return ask_each(n, [this] { return tree_.descend(first_open); });
  }
  void tell(const Candidate& candidate, const Outcome& outcome) override { tree_.tell(candidate, reward(outcome)); }

 private:
  Tree tree_;
};

}  // namespace

namespace kinds {

extern constinit const SearcherKind exhaustive{.name = "exhaustive",
                                               .summary = "every schedule, depth first in the order of the options",
                                               .parameters = {},
                                               .make = construct<Exhaustive>,
                                               .walks_all = true};

}  // namespace kinds

}  // namespace deplo::search::strategies
