// The cost of a replay, without the strategy's own work.
#include <benchmark/benchmark.h>

#include <algorithm>

#include "search/compare/replay.h"

namespace deplo::search {
namespace {

// 8 knobs: two with 2 values, six with 4. A fifth of 2^18 draws is left out, so that there are about as many records as
// in the largest recorded space we have.
const TableSpace& space() {
  static const TableSpace made = [] {
    RecordsBuilder builder("bench");
    for (int k = 0; k < 8; ++k) builder.add_knob("knob" + std::to_string(k));
    Rng rng(1);
    for (std::int64_t i = 0; i < 1 << 18; ++i) {
      if (rng.below(5) == 0) continue;  // left out as if by a constraint
      std::vector<Value> values;
      for (int k = 0; k < 8; ++k) values.emplace_back(k < 2 ? i >> (16 - k) & 1 : i >> (2 * (k - 2)) & 3);
      builder.add(values, {.outcome = {Status::ok, rng.uniform(1, 9), ""}, .run_seconds = 1});
    }
    return TableSpace(std::make_shared<const Records>(builder.finish()));
  }();
  return made;
}

std::vector<Candidate> candidates(std::size_t count) {
  std::vector<Candidate> out;
  Rng rng(2);
  while (out.size() < count) {
    PositionPtr position = space().root();
    while (position->fork()) position = position->choose(rng.below(position->fork()->options.size()));
    out.push_back(std::move(position));
  }
  return out;
}

void lookup(benchmark::State& state) {
  const std::vector<Candidate> all = candidates(4096);
  std::size_t i = 0;
  for (auto _ : state) benchmark::DoNotOptimize(space().at(all[i++ % all.size()]).outcome.microseconds);
}
BENCHMARK(lookup);

void descent(benchmark::State& state) {
  Rng rng(3);
  for (auto _ : state) {
    PositionPtr position = space().root();
    while (position->fork()) position = position->choose(rng.below(position->fork()->options.size()));
    benchmark::DoNotOptimize(position);
  }
}
BENCHMARK(descent);

/// Asks for the given candidates in order, and ignores their outcomes.
class Listed final : public Searcher {
 public:
  explicit Listed(const std::vector<Candidate>& all) : all_(all) {}
  std::vector<Candidate> ask(std::size_t) override {
    if (next_ == all_.size()) return {};
    return {all_[next_++]};
  }
  void tell(const Candidate&, const Outcome& outcome) override { benchmark::DoNotOptimize(outcome.microseconds); }

 private:
  const std::vector<Candidate>& all_;
  std::size_t next_ = 0;
};

void evaluation(benchmark::State& state) {
  static const compare::Landscape landscape(space());
  const std::vector<Candidate> all = candidates(4096);
  for (auto _ : state) {
    Listed searcher(all);
    benchmark::DoNotOptimize(compare::replay(space(), landscape, searcher, {.seconds = 1e9}, 1));
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(all.size()));
}
BENCHMARK(evaluation);

}  // namespace
}  // namespace deplo::search

BENCHMARK_MAIN();
