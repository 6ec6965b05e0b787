#include "search/loop.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <thread>

#include "search/searcher.h"
#include "search/toy_space.h"

namespace deplo::search {
namespace {

using toy::took;

/// Returns a function that answers trial i with outcome i, and then with the last outcome for ever.
std::function<Measured(const Candidate&)> script(std::vector<Measured> answers) {
  return [answers = std::move(answers), at = std::size_t{0}](const Candidate&) mutable {
    return answers[std::min(at++, answers.size() - 1)];
  };
}

struct Fixture {
  toy::ToySpace space = toy::uniform(3, 6);
  std::unique_ptr<Searcher> searcher = make_searcher("random", space, {});
  Budget budget;
  Callbacks callbacks{.measure = script({{took(5)}}), .observe = {}, .cancelled = {}};
  LoopResult operator()() { return run(space, *searcher, budget, callbacks); }
};

TEST(Loop, HeuristicFirstThenEverythingOnce) {
  Fixture loop;
  const LoopResult result = loop();
  EXPECT_EQ(result.stop, Stop::exhausted);
  EXPECT_EQ(result.trials.size(), 216u);
  EXPECT_EQ(print(result.trials[0].trail), "toy.k0=0 toy.k1=0 toy.k2=0");
  EXPECT_EQ(result.best, 0) << "of equal times the first";
}

TEST(Loop, TrialsAreExactWhateverTheBatch) {
  for (const std::size_t batch : {0, 1, 4, 1000}) {
    Fixture loop;
    loop.budget = {.trials = 10, .batch = batch};
    const LoopResult result = loop();
    EXPECT_EQ(result.stop, Stop::trials);
    EXPECT_EQ(result.trials.size(), 10u);
  }
  Fixture none;
  none.budget.trials = 0;
  EXPECT_TRUE(none().trials.empty());
}

// The candidates that are built ahead are measured next, in the same order. Whatever the size of the batch, results are
// told in the order in which candidates were asked for.
TEST(Loop, PreparesWhatItMeasuresNext) {
  for (const std::size_t batch : {1, 7, 16}) {
    Fixture loop;
    loop.budget = {.trials = 50, .batch = batch};
    std::vector<std::string> prepared, measured;
    loop.callbacks.prepare = [&](std::span<const Candidate> next) {
      EXPECT_LE(next.size(), batch);
      EXPECT_EQ(measured.size(), prepared.size()) << "not before the last batch is done";
      for (const Candidate& one : next) prepared.push_back(print(one->trail()));
    };
    loop.callbacks.measure = [&](const Candidate& one) {
      measured.push_back(print(one->trail()));
      return Measured{took(5), false};
    };
    const LoopResult result = loop();
    EXPECT_EQ(measured, prepared);
    for (std::size_t i = 0; i < result.trials.size(); ++i) EXPECT_EQ(print(result.trials[i].trail), measured[i]);
  }
}

TEST(Loop, PatienceCountsNewMeasurementsWithoutANewBest) {
  Fixture loop;
  loop.budget.patience = 3;
  loop.callbacks.measure = script({{took(5)}, {took(6)}, {took(7)}, {took(4)}, {toy::failed()}, {took(4)}, {took(9)}});
  const LoopResult result = loop();
  EXPECT_EQ(result.stop, Stop::patience);
  EXPECT_EQ(result.trials.size(), 7u);
  EXPECT_EQ(result.best, 3);
}

// The goal is reached if the later half of at least 16 measurements gains less than 2 %.
TEST(Loop, TheGoalIsReachedWhenTheLaterHalfGainsLess) {
  const auto trials_of = [](std::vector<Measured> answers, double goal) {
    Fixture loop;
    loop.budget = {.trials = 100, .goal = goal};
    loop.callbacks.measure = script(std::move(answers));
    const LoopResult result = loop();
    return std::pair(result.stop, result.trials.size());
  };
  using Ended = std::pair<Stop, std::size_t>;
  EXPECT_EQ(trials_of({{took(5)}}, 1), Ended(Stop::trials, 100));  // no goal
  EXPECT_EQ(trials_of({{took(5)}}, 1.02), Ended(Stop::goal, 16));
  EXPECT_EQ(trials_of({{toy::failed()}}, 1.02), Ended(Stop::trials, 100));  // there is no best time
  std::vector<Measured> late(15, Measured{took(5)});
  late.push_back({took(4)});  // the 16th measurement is in the later half of up to 31 measurements
  EXPECT_EQ(trials_of(late, 1.02), Ended(Stop::goal, 32));
  std::vector<Measured> slight(15, Measured{took(5)});
  slight.push_back({took(4.95)});
  EXPECT_EQ(trials_of(slight, 1.02), Ended(Stop::goal, 16));
  std::vector<Measured> known(40, Measured{took(5), true});
  known.push_back({took(5), false});
  EXPECT_EQ(trials_of(known, 1.02), Ended(Stop::goal, 56));
}

TEST(Loop, KnownTrialsCostNothing) {
  Fixture loop;
  loop.budget = {.trials = 4, .patience = 3};
  std::vector<Measured> answers(50, Measured{took(5), true});
  answers.push_back({took(5), false});
  loop.callbacks.measure = script(answers);
  const LoopResult result = loop();
  EXPECT_EQ(result.stop, Stop::patience);
  EXPECT_EQ(result.trials.size(), 53u);
}

TEST(Loop, EverythingKnownStillEnds) {
  Fixture loop;
  loop.budget = {.trials = 4, .patience = 3, .batch = 16};
  loop.callbacks.measure = script({{took(5), true}});
  const LoopResult result = loop();
  EXPECT_EQ(result.stop, Stop::exhausted);
  EXPECT_EQ(result.trials.size(), 216u);
}

TEST(Loop, FirstFailureIsNoLossOfPatience) {
  Fixture loop;
  loop.budget.patience = 2;
  loop.callbacks.measure = script({{toy::failed()}});
  const LoopResult result = loop();
  EXPECT_EQ(result.stop, Stop::patience);
  EXPECT_EQ(result.trials.size(), 3u);
  EXPECT_EQ(result.best, -1);
}

TEST(Loop, ImplausibleTimesAreFailures) {
  Fixture loop;
  loop.budget.trials = 5;
  const double infinite = std::numeric_limits<double>::infinity();
  loop.callbacks.measure = script({{took(0)}, {took(-1)}, {took(infinite)}, {took(std::nan(""))}, {took(8)}});
  const LoopResult result = loop();
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(result.trials[i].outcome.status, Status::implausible);
  EXPECT_EQ(result.best, 4);
}

TEST(Loop, CancelledBeforeAnyMeasurement) {
  Fixture loop;
  loop.callbacks.measure = [](const Candidate&) -> Measured { throw std::logic_error("must not be measured"); };
  loop.callbacks.cancelled = [] { return true; };
  EXPECT_EQ(loop().stop, Stop::cancelled);
}

TEST(Loop, CancelledInsideABatch) {
  Fixture loop;
  loop.budget.batch = 16;
  int measured = 0;
  loop.callbacks.observe = [&](const Trial&, const LoopResult& so_far) {
    EXPECT_EQ(so_far.trials.size(), static_cast<std::size_t>(++measured));
  };
  loop.callbacks.cancelled = [&] { return measured == 5; };
  const LoopResult result = loop();
  EXPECT_EQ(result.stop, Stop::cancelled);
  EXPECT_EQ(result.trials.size(), 5u);
}

TEST(Loop, SecondsRunOut) {
  Fixture loop;
  loop.budget.seconds = 0.02;
  loop.callbacks.measure = [](const Candidate&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return Measured{took(1), true};
  };
  const LoopResult result = loop();
  EXPECT_EQ(result.stop, Stop::seconds);
  EXPECT_LE(result.trials.size(), 5u);
}

TEST(Loop, EndsWhenTheCallerHasEnough) {
  Fixture loop;
  int measured = 0;
  loop.callbacks.measure = [&](const Candidate&) { return Measured{took(++measured)}; };
  loop.callbacks.enough = [&] { return measured == 3; };
  EXPECT_EQ(loop().stop, Stop::little_gain);
  EXPECT_EQ(measured, 3);
}

TEST(Loop, AStrategyMayEndBeforeTheSpaceDoes) {
  Fixture loop;
  loop.callbacks.measure = [](const Candidate&) { return Measured{took(1)}; };
  const auto stop_of = [&](const char* strategy) {
    const auto searcher = make_searcher(strategy, loop.space, {});
    return run(loop.space, *searcher, {}, loop.callbacks).stop;
  };
  EXPECT_EQ(stop_of("heuristic"), Stop::ended);
  EXPECT_EQ(stop_of("exhaustive"), Stop::exhausted);
}

/// Breaks the contract of Searcher: asks for the same candidate for ever.
class Repeats final : public Searcher {
 public:
  explicit Repeats(const Space& space) : candidate_(heuristic(space)) {}
  std::vector<Candidate> ask(std::size_t) override { return {candidate_}; }
  void tell(const Candidate&, const Outcome& outcome) override { told.push_back(outcome.microseconds); }
  std::vector<double> told;

 private:
  Candidate candidate_;
};

TEST(Loop, RepetitionsAreAnsweredOnceMeasured) {
  Fixture loop;
  loop.callbacks.measure = script({{took(5)}, {took(6)}});
  Repeats repeats(loop.space);
  const LoopResult result = run(loop.space, repeats, {}, loop.callbacks);
  EXPECT_EQ(result.stop, Stop::exhausted);
  EXPECT_EQ(result.trials.size(), 1u);
  EXPECT_EQ(repeats.told, (std::vector<double>{5, 5}));
}

TEST(Loop, MoreEffortMeasuresAgainLessDoesNot) {
  Fixture loop;
  const PositionPtr one = walk(loop.space, parse_trail("toy.k0=1 toy.k1=2 toy.k2=3"));
  toy::Plan plan({{one, 0.25}, {one, 1}, {one, 0.5}});
  loop.callbacks.measure = script({{took(9)}, {took(5)}, {took(6)}, {took(7)}});
  const LoopResult result = run(loop.space, plan, {}, loop.callbacks);
  EXPECT_EQ(plan.told, (std::vector<std::pair<double, double>>{{1, 9}, {0.25, 5}, {1, 6}, {0.5, 6}}));
  ASSERT_EQ(result.trials.size(), 3u);
  EXPECT_EQ(result.trials[1].effort, 0.25);
  EXPECT_EQ(result.best, 2) << "the 5 is a guess";
}

TEST(Loop, AGuessIsTheBestUntilSomethingBetterIsKnown) {
  Fixture loop;
  const auto at = [&](const char* trail) { return walk(loop.space, parse_trail(trail)); };
  toy::Plan plan({{at("toy.k0=1 toy.k1=0 toy.k2=0"), 0.25}, {at("toy.k0=2 toy.k1=0 toy.k2=0"), 0.25}});
  loop.callbacks.measure = script({{toy::failed()}, {took(6)}, {took(5)}});
  EXPECT_EQ(run(loop.space, plan, {}, loop.callbacks).best, 2);
}

TEST(Loop, ReasonsHaveNames) {
  EXPECT_EQ(name(Stop::patience), "patience");
  EXPECT_EQ(name(Stop::goal), "goal");
  EXPECT_EQ(name(Stop::exhausted), "exhausted");
  EXPECT_EQ(name(Stop::ended), "ended");
  EXPECT_EQ(name(Stop::little_gain), "little_gain");
}

}  // namespace
}  // namespace deplo::search
