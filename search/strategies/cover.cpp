// Cover: tries every value of every knob in few candidates. Each fork takes the option that was taken least often so
// far. If a candidate has few new values, the next candidate follows the longest way to a value that was offered but
// never taken. For finding faults, not for speed: most faults of software show with one value or two (Kuhn, Wallace and
// Gallo, Software Fault Interactions and Implications for Software Testing, IEEE TSE 30, 2004).
#include <algorithm>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "search/strategies/tree.h"

namespace deplo::search::strategies {
namespace {

class Cover final : public Searcher {
 public:
  Cover(const Space& space, const Settings& settings) : tree_(space), rng_(settings.seed()) {}

  std::vector<Candidate> ask(std::size_t n) override {
    return ask_each(n, [this] {
      constexpr int little = 2;
      const Trail way = fresh_ < little ? longest_way() : Trail{};
      fresh_ = 0;
      return tree_.descend([&](const Node& node) { return choose(node, way); });
    });
  }
  void tell(const Candidate& candidate, const Outcome& outcome) override { tree_.tell(candidate, reward(outcome)); }

 private:
  /// Returns the longest way to a value that was not taken yet, because deep values are seldom met. Removes the way
  /// from the list, even if no candidate is left there.
  Trail longest_way() {
    const auto longest = std::ranges::max_element(ways_, {}, [](const auto& way) { return way.second.size(); });
    if (longest == ways_.end()) return {};
    Trail way = std::move(longest->second);
    ways_.erase(longest);
    return way;
  }

  std::size_t choose(const Node& node, const Trail& way) {
    const Trail& here = node.position->trail();
    const Fork& fork = node.fork();
    std::size_t chosen = least_taken(node);
    if (here.size() < way.size() && std::ranges::equal(here, std::span(way).first(here.size())))
      if (const auto option = option_of(fork, way[here.size()]); option && !node.children[*option].finished)
        chosen = *option;
    for (std::size_t i = 0; i < fork.options.size(); ++i) {
      const Choice choice{fork.knob, fork.options[i]};
      std::size_t& times = taken_[text_of(choice)];
      if (i == chosen && times++ == 0) ++fresh_;
      if (times > 0) {
        ways_.erase(text_of(choice));
      } else if (!node.children[i].finished) {
        Trail& to = ways_[text_of(choice)];
        if (to.empty()) to = here, to.push_back(choice);
      }
    }
    return chosen;
  }

  std::size_t least_taken(const Node& node) {
    std::size_t min_times = std::numeric_limits<std::size_t>::max();
    std::vector<std::size_t> equal;  // options that were taken `min_times` times
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      if (node.children[i].finished) continue;
      const std::size_t times = taken_[text_of({node.fork().knob, node.fork().options[i]})];
      if (times < min_times) min_times = times, equal.clear();
      if (times == min_times) equal.push_back(i);
    }
    CHECK(!equal.empty());
    return equal[rng_.below(equal.size())];
  }

  static std::string text_of(const Choice& choice) { return choice.knob + "=" + deplo::print(choice.value); }

  Tree tree_;
  Rng rng_;
  int fresh_ = 0;                             // values that the last candidate was the first to take
  std::map<std::string, std::size_t> taken_;  // by "knob=value"
  std::map<std::string, Trail> ways_;         // by "knob=value": the way to a value that was offered but not taken
};

}  // namespace

namespace kinds {

extern constinit const SearcherKind cover{
    "cover", "every value of every knob in few schedules, to find faults", {}, construct<Cover>};

}  // namespace kinds

}  // namespace deplo::search::strategies
