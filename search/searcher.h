// A searcher decides what to try next and is told what came of it. It never measures and knows no kernels.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/outcome.h"
#include "search/hyperparameters.h"
#include "search/space.h"

namespace deplo::search {

/// What is asked for: a position without a fork, and the effort to evaluate it with.
struct Candidate {
  // Both ways without a word: most searchers know of positions alone.
  // NOLINTBEGIN(google-explicit-constructor)
  Candidate() = default;
  Candidate(std::nullptr_t) {}
  Candidate(PositionPtr complete, double share = 1) : position(std::move(complete)), effort(share) {}
  operator const PositionPtr&() const { return position; }
  // NOLINTEND(google-explicit-constructor)
  explicit operator bool() const { return position != nullptr; }
  const Position* operator->() const { return position.get(); }
  const Position& operator*() const { return *position; }
  bool operator==(const Candidate&) const = default;

  PositionPtr position;
  /// The share of a full evaluation's samples that are taken, in (0, 1]; at least one is. Building and checking are
  /// done whole. No `fidelity` of a stored trial: that is the part of the grid that ran.
  double effort = 1;
};

/// A candidate of the same kernel and what it took on another device, or of a kernel much like it.
struct Experience {
  Trail trail;
  double microseconds = 0;  // infinite: it failed
};
using SourceTask = std::vector<Experience>;  // of one device and kernel

/// Deterministic under its seed. Not thread-safe.
class Searcher {
 public:
  virtual ~Searcher() = default;
  /// Up to n candidates, none that was asked or told before, unless with less effort; empty: the space is exhausted.
  virtual std::vector<Candidate> ask(std::size_t n) = 0;
  /// Every asked one, failures included, in any order; also ones that were never asked (known from a store, or the
  /// heuristic's), which then count as asked. The candidate says with how much effort.
  virtual void tell(const Candidate&, const Outcome&) = 0;
  /// Has it a model that warm_start() can teach?
  virtual bool learns() const { return false; }
  /// Before the first ask and tell: what was measured elsewhere, source by source. Its trails may not exist in this
  /// space. False: a strategy that cannot learn from it, and did not.
  virtual bool warm_start(std::span<const SourceTask>) { return false; }
};

/// What searchers maximise: 1/time, and 0 for a failure.
double reward(const Outcome&);

/// Each searcher's file defines one; the reasons for the defaults of its parameters stand there.
struct SearcherKind {
  std::string_view name;                       // as in --search
  std::string_view summary;                    // one line, of `deplo strategies`
  std::span<const Hyperparameter> parameters;  // every one that it reads
  std::unique_ptr<Searcher> (*make)(const Space&, const Settings&);
};

/// The explicit list, in searchers.cpp.
std::span<const SearcherKind* const> searchers();
/// Of that name; "default" is what the evidence in docs/strategies.md picks. Throws Error that lists the known names.
const SearcherKind& find_searcher(std::string_view name);
/// Throws Error for an unknown name or bad parameters.
std::unique_ptr<Searcher> make_searcher(std::string_view name, const Space&, const SearchOptions&);

}  // namespace deplo::search
