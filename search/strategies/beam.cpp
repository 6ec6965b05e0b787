// Beam: keeps, level by level, the `width` most promising beginnings of a trail.
//
//   The value of a beginning is the time of the fastest candidate below it that was told. Each beginning gets `samples`
//   evaluations: first the completion that follows the best trail, then random completions. The next level has all
//   options of the `width` best beginnings. At the end the search starts again with twice the samples.
//
// Lowerre, The HARPY speech recognition system (1976); for schedules of kernels with a learned value: Adams et al.,
// Learning to optimize Halide with tree search and random programs, TOG 38 (2019).
#include <algorithm>
#include <array>

#include "search/strategies/proposer.h"
#include "search/trails.h"

namespace deplo::search::strategies {
namespace {

// Tuned on dedispersion and GEMM, and better on the convolutions too: docs/strategies.md, "Tuning the tuners".
constexpr std::array beam_parameters = {
    integer("width", "2", 1, 10000, "2 4 8", "partial schedules kept per level"),
    integer("samples", "1", 1, 10000, "1 2 4", "evaluations of each partial schedule"),
};

class Beam final : public Proposer {
 public:
  Beam(const Space& space, const Settings& settings)
      : Proposer(space, settings.seed()), width_(settings.integer("width")), samples_(settings.integer("samples")) {}

 private:
  struct Beginning {
    Trail trail;
    double time;  // time of the fastest candidate below
  };

  std::optional<Trail> wish() override {
    if (wishes_.empty()) advance();
    if (wishes_.empty()) return std::nullopt;
    Trail next = std::move(wishes_.back());
    wishes_.pop_back();
    return next;
  }

  void advance() {
    std::ranges::stable_sort(beam_, {}, &Beginning::time);
    if (beam_.size() > width_) beam_.resize(width_);
    std::vector<Beginning> next;
    for (const Beginning& one : beam_) expand(one.trail, next);
    if (next.empty()) {  // at the end of the tree, or at the start
      if (!beam_.empty()) samples_ = std::min<std::size_t>(2 * samples_, 1 << 20);
      expand({}, next);
    }
    beam_ = std::move(next);
    for (const Beginning& one : beam_)
      for (std::size_t i = 0; i < samples_; ++i) wishes_.push_back(complete(one.trail, i + 1 == samples_));
  }

  /// Appends the beginnings that are one choice longer than the trail. Passes over forks with one option.
  void expand(const Trail& trail, std::vector<Beginning>& to) const {
    PositionPtr position = walk(space(), trail);
    while (position->fork() && position->fork()->options.size() == 1) position = position->choose(0);
    if (!position->fork()) return;
    for (const Value& option : position->fork()->options) {
      to.push_back({position->trail(), std::numeric_limits<double>::infinity()});
      to.back().trail.push_back({position->fork()->knob, option});
    }
  }

  Trail complete(const Trail& beginning, bool as_best) {
    std::size_t level = 0;
    const auto pick = [&](const Position& position) {
      if (level < beginning.size()) return *option_of(*position.fork(), beginning[level++]);
      return as_best && best() ? wanted_option(*position.fork(), *best()) : random_option(position, rng());
    };
    return follow(space(), pick)->trail();
  }

  void learn(const Trail& trail, double time) override {
    for (Beginning& one : beam_)
      if (one.trail.size() <= trail.size() && std::equal(one.trail.begin(), one.trail.end(), trail.begin()))
        one.time = std::min(one.time, time);
  }

  std::size_t width_, samples_;
  std::vector<Beginning> beam_;
  std::vector<Trail> wishes_;
};

}  // namespace

namespace kinds {

extern constinit const SearcherKind beam{"beam", "beam search over the levels, with sampled completions",
                                         beam_parameters, construct<Beam>};

}  // namespace kinds

}  // namespace deplo::search::strategies
