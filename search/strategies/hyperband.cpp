// Hyperband: brackets of successive halving, which spends little effort on many candidates and all of it on the best.
//
//   s_max     ⌊log_eta R⌋
//   bracket   s = s_max, s_max − 1, …, 0, then again from s_max: n = ⌈(s_max + 1)/(s + 1) eta^s⌉ candidates, uniform
//             without repetition, are evaluated with effort eta^−s
//   rung      the fastest ⌊n eta^−i⌋ of them go on with effort eta^(i−s), i = 1, …, s; the last rung has effort 1
//
// Jamieson and Talwalkar, Non-stochastic best arm identification, AISTATS 2016; Li et al., Hyperband, JMLR 18 (2018),
// algorithm 1. While a rung waits for tells, the next bracket begins. When all candidates were drawn, those that did
// not fail are evaluated with full effort, the fastest first.
#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <functional>
#include <string>
#include <unordered_map>

#include "search/strategies/tree.h"

namespace deplo::search::strategies {
namespace {

constexpr std::array hyperband_parameters = {
    integer("eta", "4", 2, 1000, "2 3 4", "one in eta candidates goes on, with eta times the effort"),
    integer("R", "64", 1, 1000000, "4 16 64", "the least effort is 1/R, rounded up to a power of 1/eta"),
};

struct Entry {
  PositionPtr position;
  double asked = 0, told = 0;  // the largest effort so far; 0: never
  double speed = 0;            // measured with effort `told`; 0: the candidate failed
  bool failed() const { return told > 0 && speed == 0; }
  bool done() const { return asked == 1 || failed(); }
  Candidate raise(double effort) { return {position, asked = effort}; }
};

struct Bracket {
  int rungs = 0;            // number of rungs above the current one
  std::size_t size = 0;     // members of the current rung, if that many candidates are left
  std::size_t to_draw = 0;  // candidates still to draw for the first rung
  std::vector<Entry*> members = {};
  std::size_t asked = 0;  // number of members that were asked
  bool finished() const { return to_draw == 0 && members.empty(); }
};

class Hyperband final : public Searcher {
 public:
  Hyperband(const Space& space, const Settings& settings)
      : tree_(space), rng_(settings.seed()), eta_(settings.integer("eta")) {
    for (std::size_t power = eta_; power <= settings.integer("R"); power *= eta_) ++max_rungs_;
    next_rungs_ = max_rungs_;
  }

  std::vector<Candidate> ask(std::size_t n) override {
    return ask_each(n, [this] { return next(); });
  }

  void tell(const Candidate& candidate, const Outcome& outcome) override {
    const double speed = reward(outcome);
    tree_.tell(candidate, speed);
    Entry& entry = entry_of(candidate);
    if (candidate.effort <= entry.told) return;
    entry.asked = std::max(entry.asked, candidate.effort);
    entry.told = candidate.effort;
    entry.speed = speed;
  }

 private:
  Candidate next() {
    for (;;) {
      for (Bracket& bracket : open_)
        if (Candidate candidate = next_of(bracket)) return candidate;
      std::erase_if(open_, [](const Bracket& bracket) { return bracket.finished(); });
      if (tree_.root().finished) return next_left();
      const double n = std::ceil((max_rungs_ + 1) * std::pow(eta_, next_rungs_) / (next_rungs_ + 1));
      open_.push_back({next_rungs_, static_cast<std::size_t>(n), static_cast<std::size_t>(n)});
      next_rungs_ = next_rungs_ > 0 ? next_rungs_ - 1 : max_rungs_;
    }
  }

  /// The next candidate of the bracket; nullptr: the bracket is finished, or waits for tells.
  Candidate next_of(Bracket& bracket) {
    while (!bracket.finished()) {
      const double effort = std::pow(eta_, -bracket.rungs);
      if (bracket.to_draw > 0) draw(bracket);
      while (bracket.asked < bracket.members.size())
        if (Entry& member = *bracket.members[bracket.asked++]; member.asked < effort) return member.raise(effort);
      if (bracket.to_draw > 0) continue;
      if (std::ranges::any_of(bracket.members, [&](const Entry* member) { return member->told < effort; })) break;
      promote(bracket);
    }
    return nullptr;
  }

  void draw(Bracket& bracket) {
    const Candidate drawn = tree_.draw(rng_);
    bracket.to_draw = drawn ? bracket.to_draw - 1 : 0;
    if (drawn) bracket.members.push_back(&entry_of(drawn));
  }

  void promote(Bracket& bracket) const {
    bracket.size = bracket.rungs == 0 ? 0 : bracket.size / eta_;
    std::erase_if(bracket.members, [](const Entry* member) { return member->failed(); });
    std::ranges::stable_sort(bracket.members, std::greater(), &Entry::speed);
    bracket.members.resize(std::min(bracket.members.size(), bracket.size));
    bracket.asked = 0;
    --bracket.rungs;
  }

  /// A candidate that was drawn, but not yet evaluated with full effort.
  Candidate next_left() {
    if (left_.empty()) {
      for (Entry& entry : entries_)
        if (!entry.done()) left_.push_back(&entry);
      std::ranges::stable_sort(left_, std::greater(), &Entry::speed);
    }
    for (; !left_.empty(); left_.pop_front())
      if (!left_.front()->done()) return left_.front()->raise(1);
    return nullptr;
  }

  Entry& entry_of(const Candidate& candidate) {
    const auto [found, fresh] = by_trail_.try_emplace(deplo::print(candidate->trail()));
    if (fresh) found->second = &entries_.emplace_back(Entry{candidate.position});
    return *found->second;
  }

  Tree tree_;
  Rng rng_;
  std::size_t eta_;
  int max_rungs_ = 0, next_rungs_ = 0;  // next_rungs_: of the next bracket
  std::deque<Bracket> open_;
  std::deque<Entry> entries_;  // in the order in which they were drawn or told
  std::unordered_map<std::string, Entry*> by_trail_;
  std::deque<Entry*> left_;
};

}  // namespace

namespace kinds {

extern constinit const SearcherKind hyperband{
    "hyperband", "successive halving: little effort for many candidates, full effort for the best",
    hyperband_parameters, construct<Hyperband>};

}  // namespace kinds

}  // namespace deplo::search::strategies
