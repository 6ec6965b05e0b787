// How many candidates a strategy with a model asks for at once, and how many it draws for that.
#include <gtest/gtest.h>

#include "search/searcher.h"
#include "search/toy_space.h"

namespace deplo::search::toy {
namespace {

std::vector<Candidate> ask(Searcher& searcher, std::size_t n) {
  std::vector<Candidate> asked = searcher.ask(n);
  for (const Candidate& candidate : asked) searcher.tell(candidate, took(noise_time(candidate->trail())));
  return asked;
}

// GPUs ask for 16 candidates, to build them ahead. A design draws a thousand candidates, which takes seconds for a
// kernel.
TEST(ModelSearcher, DrawsOneDesignForTheFirstAsk) {
  constexpr std::size_t design = 6, drawn = 1000;  // from model_parameters.h and pool.cpp
  std::size_t paths = 0;
  const ToySpace space([&](const Trail& trail) -> std::optional<Fork> {
    paths += trail.empty() ? 1 : 0;
    if (trail.size() == 8) return std::nullopt;
    return Fork{"k" + std::to_string(trail.size()),
                {Value(std::int64_t{0}), Value(std::int64_t{1}), Value(std::int64_t{2})}};
  });
  const auto searcher = make_searcher("model", space, {});
  EXPECT_EQ(ask(*searcher, 16).size(), design);
  EXPECT_LT(paths, 2 * drawn);
  EXPECT_EQ(ask(*searcher, 16).size(), 16U);
}

}  // namespace
}  // namespace deplo::search::toy
