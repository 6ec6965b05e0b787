// The searcher of the documentation compiles, keeps the contract, and finds the optimum.
#include "search/tabu_example.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "core/file.h"
#include "search/toy_space.h"

namespace deplo::search::strategies {
namespace {

double bowl(const Trail& trail) {
  double time = 1;
  for (std::size_t level = 0; level < trail.size(); ++level)
    time += std::abs(static_cast<double>(toy::taken(trail, level) - 3));
  return time;
}

TEST(TabuExample, FindsTheBottomOfABowl) {
  const toy::ToySpace space = toy::uniform(5, 10);
  Tabu tabu(space, Settings("tabu", tabu_parameters, {.seed = 1}));
  double best = 1e9;
  for (int i = 0; i < 800; ++i)
    for (const Candidate& candidate : tabu.ask(1)) {
      best = std::min(best, bowl(candidate->trail()));
      tabu.tell(candidate, toy::took(bowl(candidate->trail())));
    }
  EXPECT_EQ(best, 1);
}

TEST(TabuExample, AsksForEverythingOnce) {
  const toy::ToySpace space = toy::conditional(4);
  Tabu tabu(space, Settings("tabu", tabu_parameters, {.seed = 1}));
  std::set<std::string> asked;
  for (auto some = tabu.ask(3); !some.empty(); some = tabu.ask(3))
    for (const Candidate& candidate : some) {
      EXPECT_TRUE(asked.insert(print(candidate->trail())).second);
      tabu.tell(candidate, toy::failed());
    }
  EXPECT_EQ(asked.size(), toy::leaves(space).size());
}

// docs/strategies.md contains the file unchanged.
TEST(TabuExample, IsInTheDocumentation) {
  const std::filesystem::path root = DEPLO_SOURCE_DIR;
  EXPECT_NE(read_file(root / "docs/strategies.md").find(read_file(root / "tests/search/tabu_example.h")),
            std::string::npos);
}

}  // namespace
}  // namespace deplo::search::strategies
