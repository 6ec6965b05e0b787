// Unseen candidates for a model to rank: random ones, and ones close to the fastest.
//
//   neighbours   of the four fastest: every candidate that differs in one choice
//   mutants      of the eight fastest: two to four choices differ. Mutants lead out of a local minimum whose neighbours
//                were all seen; a random one of 241,600 candidates hardly ever does (docs/strategies.md)
//
// From round to round the best-ranked candidates stay. New ones replace those that were asked, and the worst. A small
// space is listed instead as soon as random draws seldom find anything new: then all of its unseen candidates are ranked.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_set>
#include <vector>

#include "core/indices.h"
#include "core/rng.h"
#include "search/hyperparameters.h"
#include "search/model/encoding.h"
#include "search/model/gp.h"
#include "search/trails.h"

namespace deplo::search::model {

/// A candidate without its position, which may be large: a kernel's position holds a program.
struct Sample {
  std::vector<std::uint32_t> options;  // the option taken at each fork, from the root
  Codes codes;
};
Candidate follow(const Space&, const Sample&);
/// Shared, because most of a round's thousand candidates stay for the next round.
using SamplePtr = std::shared_ptr<const Sample>;

/// Reads pool, mutants, design and climb (model_parameters.h). Candidates with equal codes count as one. Not
/// thread-safe.
class Pool {
 public:
  Pool(const Space&, const Settings&, Encoding&, Rng&);

  void asked(const Codes& codes) { asked_.insert(codes); }
  std::size_t count_asked() const { return asked_.size(); }
  bool seen(const Sample& sample) const { return asked_.contains(sample.codes); }
  /// The samples that were neither asked nor told, without duplicates.
  std::vector<SamplePtr> unseen(const std::vector<SamplePtr>&) const;

  SamplePtr sample(const Pick&);
  /// The candidate that the wish leads to (replay(), trails.h).
  SamplePtr sample(const Trail& wish);
  /// The next samples of the first evaluations; empty: these evaluations are over. While the search climbs, an unseen
  /// neighbour of the best, drawn at random; else a design().
  std::vector<SamplePtr> beginning(const std::vector<Trail>& fastest);
  /// True for `climb` evaluations if something was told before the first call, as `tune` tells the untuned schedule.
  bool is_climbing();
  /// The unseen candidates that differ from the trail in one choice.
  std::vector<SamplePtr> neighbours(const Trail&);
  /// Up to `count` unseen candidates. If nothing was asked yet, the first is the candidate nearest to the mean of the
  /// drawn candidates. Each further candidate is the farthest from all candidates before it and from all that were
  /// asked (maximin).
  std::vector<SamplePtr> design(std::size_t count);
  /// Adds the wish's candidate to every round until it is asked.
  void keep(const Trail& wish) { kept_.push_back(sample(wish)); }

  static constexpr std::size_t parents = 8;
  /// Unseen candidates for the next round. `fastest`: at most `parents` trails, the fastest first.
  std::vector<SamplePtr> candidates(const std::vector<Trail>& fastest);
  /// `bounds`: the acquisition of each of the latest candidates(), in their order; the least is the best. The next
  /// round replaces the worst.
  void ranked(std::span<const double> bounds);

 private:
  class Distinct;
  /// `size`, or a smaller number early in the run.
  std::size_t grown(std::size_t size) const;
  /// Drops the samples that were seen, and the worst. Draws unseen samples until there are `size`; stops earlier if
  /// hardly any are left.
  template <class Draw>
  void renew(std::vector<SamplePtr>&, std::size_t size, Distinct&, Draw&& draw);
  template <class Draw>
  void fill(std::vector<SamplePtr>&, std::size_t size, Distinct&, Draw&& draw);
  struct Parent {
    Moves moves;
    std::vector<SamplePtr> neighbours;  // filled once the parent is among the `incumbents` fastest
  };
  void renew_parents(const std::vector<Trail>& fastest);
  /// Whether whole_ has the candidates. Lists them once random draws seldom find a new one, if the space is small.
  bool lists_space();

  const Space& space_;
  Encoding& encoding_;
  Rng& rng_;
  std::size_t size_, mutants_, design_, climb_;
  // number of candidates told before the first evaluation that the pool suggests
  std::optional<std::size_t> told_first_;
  std::unordered_set<Codes, CodesHash> asked_;
  std::vector<SamplePtr> random_, mutated_, kept_;
  std::vector<Parent> parents_;  // the fastest first
  enum class Extent { unknown, listed, large } extent_ = Extent::unknown;
  std::vector<SamplePtr> whole_;  // the unseen candidates of a space that is listed
  std::size_t known_draws_ = 0;   // number of draws that led to known candidates
  std::size_t asked_before_ = 0;  // number of candidates asked before the latest round
  std::size_t twentieths_ = 0;    // twentieths of the random candidates and mutants that are new in this round
};

/// One point for each sample.
Points points(const std::vector<SamplePtr>&, Encoding&);

/// Up to `count` of the samples, the best first. `cost(i)` of sample i: the least is the best. Each further sample is
/// the best after `visit(i)` of the sample before it. With probability `random`, a sample is drawn at random instead.
template <class Cost, class Visit>
std::vector<SamplePtr> pick(const std::vector<SamplePtr>& samples, std::size_t count, double random, Rng& rng,
                            const Cost& cost, const Visit& visit) {
  std::vector<SamplePtr> picked;
  std::vector<std::size_t> left = indices(samples.size());
  while (picked.size() < count && !left.empty()) {
    auto next = left.begin() + static_cast<std::ptrdiff_t>(rng.below(left.size()));
    if (rng.uniform() >= random) next = std::ranges::min_element(left, {}, cost);
    const std::size_t sample = *next;
    picked.push_back(samples[sample]);
    left.erase(next);
    if (picked.size() < count) visit(sample);
  }
  return picked;
}

}  // namespace deplo::search::model
