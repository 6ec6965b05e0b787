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

}  // namespace

Candidate follow(const Space& space, const Sample& sample) {
  std::size_t level = 0;
  return follow(space, [&](const Position&) { return sample.options[level++]; });
}

Points points(const std::vector<Sample>& samples, Encoding& encoding) {
  Points result{encoding.dimensions().size(), {}};
  result.values.reserve(result.dimensions * samples.size());
  for (const Sample& sample : samples) encoding.point(sample.codes, result.add());
  return result;
}

Pool::Pool(const Space& space, const Settings& settings, Encoding& encoding, Rng& rng)
    : space_(space),
      encoding_(encoding),
      rng_(rng),
      size_(static_cast<std::size_t>(settings.integer("pool"))),
      mutants_(static_cast<std::size_t>(settings.integer("mutants"))) {}

Sample Pool::sample(const Pick& pick) {
  Sample sample;
  follow(space_, [&](const Position& position) {
    const std::size_t option = pick(position);
    sample.options.push_back(static_cast<std::uint32_t>(option));
    encoding_.note(position.fork()->knob, position.fork()->options[option], sample.codes);
    return option;
  });
  encoding_.close(sample.codes);
  return sample;
}

Sample Pool::sample(const Trail& wish) {
  return sample([&](const Position& position) { return wanted_option(*position.fork(), wish); });
}

std::vector<Sample> Pool::unseen(const std::vector<Sample>& samples) const {
  std::unordered_set<Codes, CodesHash> listed;
  std::vector<Sample> result;
  for (const Sample& sample : samples)
    if (!seen(sample) && listed.insert(sample.codes).second) result.push_back(sample);
  return result;
}

template <class Draw>
void Pool::fill(std::vector<Sample>& samples, std::size_t size, Draw&& draw) {
  std::unordered_set<Codes, CodesHash> listed;
  for (const Sample& known : samples) listed.insert(known.codes);
  for (std::size_t in_vain = 0; samples.size() < size && in_vain < most_in_vain;) {
    Sample drawn = draw();
    if (seen(drawn) || !listed.insert(drawn.codes).second) {
      ++in_vain;
      continue;
    }
    samples.push_back(std::move(drawn));
    in_vain = 0;
  }
}

template <class Draw>
void Pool::renew(std::vector<Sample>& samples, std::size_t size, Draw&& draw) {
  std::erase_if(samples, [&](const Sample& sample) { return seen(sample); });
  const auto fresh = static_cast<std::size_t>(std::ceil(refresh * static_cast<double>(size)));
  if (samples.size() + fresh > size)
    samples.erase(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(samples.size() + fresh - size));
  fill(samples, size, draw);
}

std::vector<Sample> Pool::design(std::size_t count) {
  std::vector<Sample> drawn, chosen;
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

std::vector<Sample> Pool::candidates(const std::vector<Trail>& fastest) {
  renew(random_, size_, [&] { return sample([&](const Position& at) { return random_option(at, rng_); }); });
  renew_near(fastest);
  if (!fastest.empty())
    renew(mutated_, mutants_, [&] {
      const Trail& parent = fastest[rng_.below(fastest.size())];
      return sample(mutate(space_, parent, least_changes + rng_.below(kinds_of_changes), rng_));
    });
  std::vector<Sample> result = random_;
  result.insert(result.end(), kept_.begin(), kept_.end());
  for (const auto& [trail, samples] : near_) result.insert(result.end(), samples.begin(), samples.end());
  result.insert(result.end(), mutated_.begin(), mutated_.end());
  return unseen(result);
}

void Pool::renew_near(const std::vector<Trail>& fastest) {
  std::vector<std::pair<Trail, std::vector<Sample>>> near;
  for (std::size_t i = 0; i < std::min(incumbents, fastest.size()); ++i) {
    const auto known = std::ranges::find(near_, fastest[i], [](const auto& each) { return each.first; });
    if (known != near_.end()) {
      near.push_back(std::move(*known));
      continue;
    }
    std::vector<Sample>& samples = near.emplace_back(fastest[i], std::vector<Sample>()).second;
    for (const Trail& wish : neighbours(space_, fastest[i])) samples.push_back(sample(wish));
  }
  near_ = std::move(near);
}

}  // namespace deplo::search
