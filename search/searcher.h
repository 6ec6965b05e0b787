// A searcher decides what to try next and is told what came of it. It never measures and knows no kernels.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/outcome.h"
#include "search/space.h"

namespace deplo::search {

using Candidate = PositionPtr;  // a position without a fork

/// Deterministic under its seed. Not thread-safe.
class Searcher {
 public:
  virtual ~Searcher() = default;
  /// Up to n candidates, none that was asked or told before; empty: the space is exhausted.
  virtual std::vector<Candidate> ask(std::size_t n) = 0;
  /// Every asked one, failures included, in any order; also ones that were never asked (known from a store, or the
  /// heuristic's), which then count as asked.
  virtual void tell(const Candidate&, const Outcome&) = 0;
};

/// Settings shared by all; each searcher documents those it reads. The reasons for the defaults stand in its file.
struct SearchOptions {
  std::uint64_t seed = 0;
  double exploration = 0.5;  // mcts: c of UCB1
};

struct SearcherKind {
  std::string_view name;     // as in --search
  std::string_view summary;  // one line for --help
  std::unique_ptr<Searcher> (*make)(const Space&, const SearchOptions&);
};
/// The explicit list: mcts, random, exhaustive, heuristic.
std::span<const SearcherKind> searchers();
/// Throws Error that lists the known names.
std::unique_ptr<Searcher> make_searcher(std::string_view name, const Space&, const SearchOptions&);

}  // namespace deplo::search
