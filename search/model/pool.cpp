#include "search/model/pool.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory_resource>

#include "core/error.h"
#include "core/indices.h"
#include "search/count.h"

namespace deplo::search::model {
namespace {

constexpr std::size_t incumbents = 4;  // number of the fastest candidates whose neighbours are in the pool
constexpr std::size_t least_changes = 2, kinds_of_changes = 3;
constexpr std::size_t design_pool = 1000;
// For each evaluation since the last round a twentieth of the drawn samples is replaced, but at most a quarter, because
// a path through a kernel's space is slow.
constexpr std::size_t twentieth = 20, max_twentieths = 5;
// Half of each kind is used up to 200 evaluations, and all from 400 evaluations on. A few evaluations cannot
// distinguish a thousand candidates, and in a large space only many mutants leave a valley late in a run.
constexpr double whole_from = 400, least_share = 0.5;
constexpr std::size_t max_in_vain = 50;  // unsuccessful draws in a row, after which hardly any candidate is left
// A space with at most `max_listed` candidates is listed once `tolerated_in_vain` draws led to known candidates: then
// the draws have cost about as much as the list will.
constexpr std::size_t max_listed = 1000, tolerated_in_vain = 1000;

/// Finds points far from each other, for maximin designs: Johnson, Moore and Ylvisaker, Minimax and maximin distance
/// designs, J. Stat. Planning and Inference 26 (1990). Keeps the squared distance of each point to the nearest point
/// given so far.
class Nearest {
 public:
  explicit Nearest(const Points& points)
      : points_(points), away_(points.size(), std::numeric_limits<float>::infinity()) {}
  void give(const float* x) {
    const float* p = points_.values.data();
    for (float& away : away_) {
      float sum = 0;
      for (std::size_t d = 0; d < points_.dimensions; ++d, ++p) sum += (*p - x[d]) * (*p - x[d]);
      away = std::min(away, sum);
    }
  }
  void give(std::size_t point) { give(points_.values.data() + point * points_.dimensions); }
  std::size_t nearest() const { return static_cast<std::size_t>(std::ranges::min_element(away_) - away_.begin()); }
  std::size_t farthest() const { return static_cast<std::size_t>(std::ranges::max_element(away_) - away_.begin()); }

 private:
  const Points& points_;
  std::vector<float> away_;
};

std::vector<float> middle(const Points& points) {
  std::vector<float> mean(points.dimensions);
  for (std::size_t i = 0; i < points.values.size(); ++i) mean[i % points.dimensions] += points.values[i];
  for (float& m : mean) m /= static_cast<float>(points.size());
  return mean;
}

void worst_first(std::vector<SamplePtr>& samples, std::span<const double> bounds) {
  std::vector<SamplePtr> sorted;
  for (const std::size_t i : indices_by(samples.size(), [&](std::size_t i) { return -bounds[i]; }))
    sorted.push_back(std::move(samples[i]));
  samples = std::move(sorted);
}

}  // namespace

Candidate follow(const Space& space, const Sample& sample) {
  std::size_t level = 0;
  return follow(space, [&](const Position&) { return sample.options[level++]; });
}

Points points(const std::vector<SamplePtr>& samples, Encoding& encoding) {
  Points result{encoding.dimensions().size(), {}};
  result.values.reserve(result.dimensions * samples.size());
  for (const SamplePtr& sample : samples) encoding.point(sample->codes, result.add());
  return result;
}

Pool::Pool(const Space& space, const Settings& settings, Encoding& encoding, Rng& rng)
    : space_(space),
      encoding_(encoding),
      rng_(rng),
      size_(settings.integer("pool")),
      mutants_(settings.integer("mutants")),
      design_(settings.integer("design")),
      climb_(settings.integer("climb")) {}

SamplePtr Pool::sample(const Pick& pick) {
  auto sample = std::make_shared<Sample>();
  follow(space_, [&](const Position& position) {
    const std::size_t option = pick(position);
    sample->options.push_back(static_cast<std::uint32_t>(option));
    encoding_.note(position.fork()->knob, position.fork()->options[option], sample->codes);
    return option;
  });
  encoding_.close(sample->codes);
  return sample;
}

SamplePtr Pool::sample(const Trail& wish) { return sample(towards(wish)); }

/// A set of samples in which samples with equal codes count as one. The samples must outlive it.
class Pool::Distinct {
 public:
  explicit Distinct(const Pool& pool) : pool_(pool) {}
  /// Returns whether the sample is new, both to the search and to this set.
  bool insert(const Sample& sample) { return !pool_.seen(sample) && listed_.insert(&sample).second; }

 private:
  struct Hash {
    std::size_t operator()(const Sample* sample) const { return CodesHash()(sample->codes); }
  };
  struct Alike {
    bool operator()(const Sample* a, const Sample* b) const { return a->codes == b->codes; }
  };
  const Pool& pool_;
  std::pmr::monotonic_buffer_resource memory_;  // the set of a round is filled once and discarded
  std::pmr::unordered_set<const Sample*, Hash, Alike> listed_{&memory_};
};

std::vector<SamplePtr> Pool::unseen(const std::vector<SamplePtr>& samples) const {
  Distinct listed(*this);
  std::vector<SamplePtr> result;
  for (const SamplePtr& sample : samples)
    if (listed.insert(*sample)) result.push_back(sample);
  return result;
}

template <class Draw>
void Pool::fill(std::vector<SamplePtr>& samples, std::size_t size, Distinct& listed, Draw&& draw) {
  for (std::size_t in_vain = 0; samples.size() < size && in_vain < max_in_vain;) {
    SamplePtr drawn = draw();
    if (!listed.insert(*drawn)) {
      ++in_vain;
      ++known_draws_;
      continue;
    }
    samples.push_back(std::move(drawn));
    in_vain = 0;
  }
}

template <class Draw>
void Pool::renew(std::vector<SamplePtr>& samples, std::size_t size, Distinct& listed, Draw&& draw) {
  const std::size_t fresh = (size * twentieths_ + twentieth - 1) / twentieth;
  std::erase_if(samples, [&](const SamplePtr& sample) { return seen(*sample); });
  if (samples.size() + fresh > size)
    samples.erase(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(samples.size() + fresh - size));
  std::erase_if(samples, [&](const SamplePtr& sample) { return !listed.insert(*sample); });
  fill(samples, size, listed, draw);
}

std::vector<SamplePtr> Pool::beginning(const std::vector<Trail>& fastest) {
  if (is_climbing() && !fastest.empty()) {
    std::vector<SamplePtr> samples = neighbours(fastest[0]);
    if (samples.empty()) return {};
    return {std::move(samples[rng_.below(samples.size())])};
  }
  const bool climbed = *told_first_ > 0 && climb_ > 0;
  return climbed || asked_.size() >= design_ ? std::vector<SamplePtr>() : design(design_ - asked_.size());
}

bool Pool::is_climbing() {
  if (!told_first_) told_first_ = asked_.size();
  return *told_first_ > 0 && asked_.size() - *told_first_ < climb_;
}

std::vector<SamplePtr> Pool::neighbours(const Trail& trail) {
  std::vector<SamplePtr> samples;
  for (const Trail& wish : Moves(space_, trail).neighbours()) samples.push_back(sample(wish));
  return unseen(samples);
}

std::vector<SamplePtr> Pool::design(std::size_t count) {
  std::vector<SamplePtr> drawn, chosen;
  Distinct listed(*this);
  fill(drawn, design_pool, listed, [&] { return sample([&](const Position& at) { return random_option(at, rng_); }); });
  if (drawn.empty()) return {};
  const Points all = points(drawn, encoding_);
  Nearest before(all);
  std::vector<float> point(all.dimensions);
  for (const Codes& codes : asked_) {
    encoding_.point(codes, point.data());
    before.give(point.data());
  }
  if (asked_.empty()) {
    Nearest centre(all);
    centre.give(middle(all).data());
    chosen.push_back(drawn[centre.nearest()]);
    before.give(centre.nearest());
  }
  while (chosen.size() < std::min(count, drawn.size())) {
    chosen.push_back(drawn[before.farthest()]);
    before.give(before.farthest());
  }
  return chosen;
}

std::size_t Pool::grown(std::size_t size) const {
  const double share = std::clamp(static_cast<double>(asked_.size()) / whole_from, least_share, 1.0);
  return static_cast<std::size_t>(std::ceil(share * static_cast<double>(size)));
}

bool Pool::lists_space() {
  if (known_draws_ >= tolerated_in_vain && extent_ == Extent::unknown) {
    std::vector<Candidate> leaves;
    const bool whole = for_each_path(space_, [&](const Path& path) {
      leaves.push_back(path.leaf);
      return leaves.size() <= max_listed;
    });
    extent_ = whole ? Extent::listed : Extent::large;
    if (whole)
      for (const Candidate& leaf : leaves) whole_.push_back(sample(leaf->trail()));
  }
  return extent_ == Extent::listed;
}

std::vector<SamplePtr> Pool::candidates(const std::vector<Trail>& fastest) {
  if (lists_space()) return whole_ = unseen(whole_);
  twentieths_ = std::min(max_twentieths, asked_.size() - asked_before_);
  asked_before_ = asked_.size();
  Distinct listed(*this);
  renew(random_, grown(size_), listed,
        [&] { return sample([&](const Position& at) { return random_option(at, rng_); }); });
  std::vector<SamplePtr> result = random_;
  const auto add = [&](const SamplePtr& sample) {
    if (listed.insert(*sample)) result.push_back(sample);
  };
  std::ranges::for_each(kept_, add);
  renew_parents(fastest);
  for (std::size_t i = 0; i < std::min(incumbents, parents_.size()); ++i)
    std::ranges::for_each(parents_[i].neighbours, add);
  if (!parents_.empty())
    renew(mutated_, grown(mutants_), listed, [&] {
      const Moves& moves = parents_[rng_.below(parents_.size())].moves;
      return sample(moves.mutate(least_changes + rng_.below(kinds_of_changes), rng_));
    });
  result.insert(result.end(), mutated_.begin(), mutated_.end());
  return result;
}

void Pool::ranked(std::span<const double> bounds) {
  if (extent_ == Extent::listed) return;
  CHECK(bounds.size() >= random_.size() + mutated_.size());
  worst_first(random_, bounds.first(random_.size()));
  worst_first(mutated_, bounds.last(mutated_.size()));
}

void Pool::renew_parents(const std::vector<Trail>& fastest) {
  std::vector<Parent> next;
  for (const Trail& trail : fastest) {
    const auto known = std::ranges::find(parents_, trail, [](const Parent& parent) { return parent.moves.trail(); });
    next.push_back(known != parents_.end() ? std::move(*known) : Parent{Moves(space_, trail), {}});
    Parent& parent = next.back();
    if (next.size() > incumbents || !parent.neighbours.empty()) continue;
    for (const Trail& wish : parent.moves.neighbours()) parent.neighbours.push_back(sample(wish));
  }
  parents_ = std::move(next);
}

}  // namespace deplo::search::model
