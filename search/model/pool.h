// Unseen candidates for a model to rank: random ones, and those around the fastest.
//
//   neighbours   of the four fastest: every candidate that differs in one choice
//   mutants      of the eight fastest: two to four choices differ. What leads out of a valley whose neighbours were all
//                seen; among 241,600 candidates a random one hardly ever does (docs/strategies.md)
//
// From round to round the best ranked stay, and new ones come for what was asked and for the worst.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_set>
#include <vector>

#include "core/rng.h"
#include "search/hyperparameters.h"
#include "search/model/encoding.h"
#include "search/model/gp.h"
#include "search/trails.h"

namespace deplo::search::model {

/// A candidate without its position, which may be large: a kernel's holds a program.
struct Sample {
  std::vector<std::uint32_t> options;  // of each fork on the way
  Codes codes;
};
Candidate follow(const Space&, const Sample&);
/// Shared: a round's thousand candidates are mostly those of the round before.
using SamplePtr = std::shared_ptr<const Sample>;

/// Reads pool and mutants (model_parameters.h). Candidates that are encoded alike count as one. Not thread-safe.
class Pool {
 public:
  Pool(const Space&, const Settings&, Encoding&, Rng&);

  void asked(const Codes& codes) { asked_.insert(codes); }
  std::size_t count_asked() const { return asked_.size(); }
  bool seen(const Sample& sample) const { return asked_.contains(sample.codes); }
  /// Those that were neither asked nor told, once each.
  std::vector<SamplePtr> unseen(const std::vector<SamplePtr>&) const;

  SamplePtr sample(const Pick&);
  /// What the wish comes nearest to.
  SamplePtr sample(const Trail& wish);
  /// Unseen ones, `count` at most: where nothing was asked the one nearest to the middle first, then those that are
  /// farthest from all before (maximin).
  std::vector<SamplePtr> design(std::size_t count);
  /// In every pool until it is asked.
  void keep(const Trail& wish) { kept_.push_back(sample(wish)); }

  static constexpr std::size_t parents = 8;
  /// Unseen ones for the next round. `fastest`: the best first, as many as there are up to `parents`.
  std::vector<SamplePtr> candidates(const std::vector<Trail>& fastest);
  /// The bounds of the latest candidates(), in their order, the least the best: new ones will come for the worst.
  void ranked(std::span<const double> bounds);

 private:
  class Distinct;
  /// How many of the hyperparameter's are drawn at this stage of the run.
  std::size_t grown(std::size_t size) const;
  /// Drops what was seen and the worst, and draws unseen ones until there are `size`, fewer where most were seen.
  template <class Draw>
  void renew(std::vector<SamplePtr>&, std::size_t size, Distinct&, Draw&& draw);
  template <class Draw>
  void fill(std::vector<SamplePtr>&, std::size_t size, Distinct&, Draw&& draw);
  struct Parent {
    Moves moves;
    std::vector<SamplePtr> neighbours;  // once it is among the `incumbents` fastest
  };
  void renew_parents(const std::vector<Trail>& fastest);

  const Space& space_;
  Encoding& encoding_;
  Rng& rng_;
  std::size_t size_, mutants_;
  std::unordered_set<Codes, CodesHash> asked_;
  std::vector<SamplePtr> random_, mutated_, kept_;
  std::vector<Parent> parents_;   // the fastest first
  std::size_t asked_before_ = 0;  // the latest round
  std::size_t twentieths_ = 0;    // of those drawn that are new in this round
};

/// One point for each sample.
Points points(const std::vector<SamplePtr>&, Encoding&);

}  // namespace deplo::search::model
