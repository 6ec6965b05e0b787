// The cost of a searcher per trial (ask + tell) on a space that is cheap itself, in searches of 300 and 30,000 trials.
#include <benchmark/benchmark.h>

#include "../search/toy_space.h"
#include "search/searcher.h"

namespace {

using namespace deplo;
using namespace deplo::search;

double time(const Trail& trail) {
  double sum = 1;
  for (std::size_t level = 0; level < trail.size(); ++level) sum += static_cast<double>(toy::taken(trail, level));
  return sum;
}

void ask_tell(benchmark::State& state, std::string_view name) {
  const toy::ToySpace space = toy::levels({12, 4, 40, 10, 10, 6, 6, 2, 2, 3, 2, 2});
  for (auto _ : state) {
    const auto searcher = make_searcher(name, space, {});
    for (std::int64_t trial = 0; trial < state.range(0); ++trial)
      for (const Candidate& candidate : searcher->ask(1))
        searcher->tell(candidate, toy::took(time(candidate->trail())));
  }
  state.counters["per_trial"] = benchmark::Counter(static_cast<double>(state.iterations() * state.range(0)),
                                                   benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

}  // namespace

int main(int argc, char** argv) {
  for (const SearcherKind* kind : searchers())
    if (kind->name != "heuristic")
      benchmark::RegisterBenchmark(std::string(kind->name).c_str(),
                                   [kind](benchmark::State& s) { ask_tell(s, kind->name); })
          ->Arg(300)
          ->Arg(30000)
          ->Unit(benchmark::kMillisecond);
  // Ask and tell of a strategy in another process (docs/protocol.md). The time of 300 trials includes its start.
  benchmark::RegisterBenchmark(
      "exec",
      [](benchmark::State& s) {
        ask_tell(s, "exec:exec python3 '" DEPLO_SOURCE_DIR "/examples/strategies/random_search.py'");
      })
      ->Arg(300)
      ->Arg(30000)
      ->Unit(benchmark::kMillisecond);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
