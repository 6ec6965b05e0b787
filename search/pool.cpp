#include "search/pool.h"

#include <algorithm>
#include <cmath>

#include "search/maximin.h"

namespace deplo::search {
namespace {

constexpr std::size_t incumbents = 4;  // whose neighbours are in the pool
constexpr std::size_t least_changes = 2, kinds_of_changes = 3;
constexpr std::size_t design_pool = 1000;
constexpr double refresh = 0.25;          // of those drawn, in each round: a path of a kernel's space is slow
constexpr std::size_t most_in_vain = 50;  // draws in a row: hardly anything is left then

struct Hash {
  std::size_t operator()(const Sample* sample) const { return CodesHash()(sample->codes); }
};
struct Alike {
  bool operator()(const Sample* a, const Sample* b) const { return a->codes == b->codes; }
};
using Distinct = std::unordered_set<const Sample*, Hash, Alike>;

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
      size_(static_cast<std::size_t>(settings.integer("pool"))),
      mutants_(static_cast<std::size_t>(settings.integer("mutants"))) {}

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

std::vector<SamplePtr> Pool::unseen(const std::vector<SamplePtr>& samples) const {
  Distinct listed(samples.size());
  std::vector<SamplePtr> result;
  for (const SamplePtr& sample : samples)
    if (!seen(*sample) && listed.insert(sample.get()).second) result.push_back(sample);
  return result;
}

template <class Draw>
void Pool::fill(std::vector<SamplePtr>& samples, std::size_t size, Draw&& draw) {
  Distinct listed(size);
  for (const SamplePtr& known : samples) listed.insert(known.get());
  for (std::size_t in_vain = 0; samples.size() < size && in_vain < most_in_vain;) {
    SamplePtr drawn = draw();
    if (seen(*drawn) || !listed.insert(drawn.get()).second) {
      ++in_vain;
      continue;
    }
    samples.push_back(std::move(drawn));
    in_vain = 0;
  }
}

template <class Draw>
void Pool::renew(std::vector<SamplePtr>& samples, std::size_t size, Draw&& draw) {
  std::erase_if(samples, [&](const SamplePtr& sample) { return seen(*sample); });
  const auto fresh = static_cast<std::size_t>(std::ceil(refresh * static_cast<double>(size)));
  if (samples.size() + fresh > size)
    samples.erase(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(samples.size() + fresh - size));
  fill(samples, size, draw);
}

std::vector<SamplePtr> Pool::design(std::size_t count) {
  std::vector<SamplePtr> drawn, chosen;
  fill(drawn, design_pool, [&] { return sample([&](const Position& at) { return random_option(at, rng_); }); });
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

std::vector<SamplePtr> Pool::candidates(const std::vector<Trail>& fastest) {
  renew(random_, size_, [&] { return sample([&](const Position& at) { return random_option(at, rng_); }); });
  renew_parents(fastest);
  if (!parents_.empty())
    renew(mutated_, mutants_, [&] {
      const Moves& moves = parents_[rng_.below(parents_.size())].moves;
      return sample(moves.mutate(least_changes + rng_.below(kinds_of_changes), rng_));
    });
  std::vector<SamplePtr> result = random_;
  result.insert(result.end(), kept_.begin(), kept_.end());
  for (std::size_t i = 0; i < std::min(incumbents, parents_.size()); ++i)
    result.insert(result.end(), parents_[i].neighbours.begin(), parents_[i].neighbours.end());
  result.insert(result.end(), mutated_.begin(), mutated_.end());
  return unseen(result);
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

}  // namespace deplo::search
