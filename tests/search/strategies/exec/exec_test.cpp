// Strategies in other processes: what they are told, what they may ask for, and how they fail.
#include "search/strategies/exec/exec.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "core/rng.h"
#include "search/guarded.h"
#include "search/loop.h"
#include "search/strategies/exec/child.h"
#include "search/strategies/exec/example.h"
#include "search/toy_space.h"

namespace deplo::search::exec {
namespace {

using ::testing::HasSubstr;

class Exec : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_python()) GTEST_SKIP() << "python3 is not installed";
  }

  struct Run {
    std::vector<std::string> trails;
    std::string fault;
    Stop stop = Stop::exhausted;
  };

  Run run(const std::string& strategy, std::int64_t trials = 20, SearchOptions options = {}) const {
    options.parameters.try_emplace("deadline", "20");
    Guarded searcher([&] { return make_searcher(strategy, space_, options); });
    const Callbacks callbacks{
        .measure = [](const Candidate& candidate) { return Measured{toy::took(toy::noise_time(candidate->trail()))}; },
        .observe = {},
        .cancelled = {}};
    const LoopResult result = search::run(space_, searcher, {.trials = trials}, callbacks);
    Run run{{}, searcher.fault(), result.stop};
    for (const Trial& trial : result.trials) run.trails.push_back(print(trial.trail));
    return run;
  }

  const toy::ToySpace space_ = toy::conditional(6);
};

TEST_F(Exec, SameSeedSameTrials) {
  for (const char* name : {"random_search", "hill_climber"}) {
    const Run first = run(example(name), 30, {.seed = 5});
    EXPECT_EQ(first.fault, "");
    EXPECT_EQ(first.trails, run(example(name), 30, {.seed = 5}).trails);
    EXPECT_NE(first.trails, run(example(name), 30, {.seed = 6}).trails);
    EXPECT_EQ(first.stop, Stop::trials);
  }
}

// deplo compare draws seeds of 64 bits, but NumPy accepts only seeds of 32 bits.
TEST_F(Exec, SeedsHave32Bits) {
  const Run told = run(program("assert space.seed == 9, space.seed\nspace.done()\n"), 20, {.seed = (1ULL << 40) + 9});
  EXPECT_EQ(told.fault, "");
}

// Many optimizers return NumPy's numbers, which Python cannot write as JSON.
TEST_F(Exec, WishesHaveNumbersOfNumPy) {
  const Run told =
      run(program("class Int64:\n    def item(self):\n        return 3\n"
                  "assert space.evaluate({\"toy.k0\": Int64()}).config[\"toy.k0\"] == 3\nspace.done()\n"));
  EXPECT_EQ(told.fault, "");
  EXPECT_THAT(run(program("space.evaluate({\"toy.k0\": {1}})\n")).fault,
              HasSubstr("expected numbers and strings in a wish, found {1}"));
}

TEST_F(Exec, KnowsWhatItIsTold) {
  const SearchOptions options{
      .seed = 9, .parameters = {{"size", "12"}, {"word", "up"}}, .about = {"conv", "the text", "a device", 20, 300}};
  const Run told =
      run(program("assert space.seed == 9 and space.trials == 20 and space.seconds == 300\n"
                  "assert space.parameters == {\"size\": 12, \"word\": \"up\"}, space.parameters\n"
                  "assert (space.kernel, space.source, space.device) == (\"conv\", \"the text\", \"a device\")\n"
                  "assert space.knobs[0].name == \"toy.k0\" and space.knobs[0].kind == \"integer\"\n"
                  "assert space.knobs[0].options == [0, 1, 2, 3, 4, 5], space.knobs[0].options\n"
                  "first = space.evaluate({\"toy.k0\": 1})\n"
                  "assert first.ok and first.status == \"ok\" and first.effort == 1 and not first.repeated\n"
                  "assert space.evaluate(first).repeated and space.evaluate(first.id).us == first.us\n"
                  "assert 0 in space.results and space.best.us <= first.us\n"),
          20, options);
  EXPECT_THAT(told.fault, HasSubstr("ended with code 0"));
  EXPECT_EQ(told.trails.size(), 2u);  // the heuristic's candidate and one more
}

TEST_F(Exec, WishesAreRepairedByReplay) {
  const Run wished =
      run(program("one = space.evaluate({\"toy.k1\": 1, \"toy.k0\": 4.2})\n"
                  "assert one.config == {\"toy.k0\": 4, \"toy.k1\": 1}, one.config\n"
                  "assert space.repair({\"toy.k1\": \"1\", \"toy.k0\": \"4\"}) is one\n"
                  "two = space.repair({\"toy.k0\": 99})\n"
                  "assert two.config[\"toy.k0\"] == 5 and two.status is None\n"
                  "assert space.evaluate(two).config == two.config\n"
                  "space.done()\n"));
  EXPECT_EQ(wished.fault, "");
  EXPECT_EQ(wished.stop, Stop::ended);
  EXPECT_THAT(wished.trails, ::testing::Contains("toy.k0=4 toy.k1=1"));
}

TEST_F(Exec, ListsDrawsAndNeighbours) {
  const std::size_t leaves = toy::leaves(space_).size();
  const Run asked = run(program("everything = space.all()\n"
                                "assert len(everything) == " +
                                std::to_string(leaves) +
                                "\n"
                                "assert len(set(each.id for each in everything)) == len(everything)\n"
                                "assert all(each in everything for each in space.draw(50))\n"
                                "here = space.repair({\"toy.k0\": 2, \"toy.k1\": 0})\n"
                                "assert len(space.neighbours(here)) == 6, space.neighbours(here)\n"
                                "assert len(space.results) < 2, \"only measurements are results\"\n"
                                "space.evaluate_all(everything)\n"
                                "assert len(space.results) == len(everything)\n"),
                        10000);
  EXPECT_EQ(asked.trails.size(), leaves);
  EXPECT_EQ(asked.stop, Stop::exhausted);
}

TEST_F(Exec, DoneAfterTheLastCandidateIsExhausted) {
  EXPECT_EQ(run(program("space.evaluate_all(space.all()[:-1])\nspace.done()\n"), 10000).stop, Stop::ended);
  EXPECT_EQ(run(program("space.evaluate_all(space.all())\nspace.done()\n"), 10000).stop, Stop::exhausted);
}

TEST_F(Exec, LearnsFromOtherSources) {
  const auto searcher = make_searcher(program("space = None"), space_, {});
  EXPECT_FALSE(searcher->learns());
  const std::string learner =
      "exec:exec python3 -S -c 'import deplo_search\nspace = deplo_search.connect(learns=True)\n"
      "space.evaluate(space.random())\n"
      "assert space.warm_start == [[({\"toy.k0\": 3}, 2.5), ({\"toy.k0\": 1}, None)]], space.warm_start\nspace.done()'";
  const auto warm = make_searcher(learner, space_, {});
  EXPECT_TRUE(warm->learns());
  const SourceTask source{{parse_trail("toy.k0=3"), 2.5},
                          {parse_trail("toy.k0=1"), std::numeric_limits<double>::infinity()}};
  EXPECT_TRUE(warm->warm_start(std::vector<SourceTask>{source}));
  const auto asked = warm->ask(1);
  ASSERT_EQ(asked.size(), 1u);
  warm->tell(asked[0], toy::took(3));
  EXPECT_TRUE(warm->ask(1).empty());
}

TEST_F(Exec, LessEffortMayBeAskedAgain) {
  const Run run_twice =
      run(program("quick = space.evaluate({\"toy.k0\": 2}, effort=0.25)\n"
                  "assert quick.effort == 0.25\n"
                  "assert space.evaluate(quick, effort=0.25).repeated\n"
                  "full = space.evaluate(quick)\n"
                  "assert full.effort == 1 and not full.repeated and full.id == quick.id\n"
                  "space.done()\n"));
  EXPECT_EQ(run_twice.fault, "");
  EXPECT_EQ(run_twice.trails.size(), 3u);
}

// A faulty program, the number of measurements before its failure, and a part of the message.
struct Misdeed {
  const char* name;
  std::string text;
  const char* message;
  std::size_t trials = 3;
};

TEST_F(Exec, FailuresKeepWhatWasMeasured) {
  const std::string two = "space.evaluate(space.random())\nspace.evaluate(space.random())\n";
  const std::string raw = "space.wait()\nspace._out.write(";
  const std::vector<Misdeed> misdeeds = {
      {"ends", two, "ended with code 0"},
      {"raises", two + "raise ValueError(\"of mine\")\n", "ended with code 1; it said: ValueError: of mine"},
      {"is killed", two + "os.kill(os.getpid(), 9)\n", "was ended by signal 9 (Killed)"},
      {"closes", two + "os.close(1)\ntime.sleep(100)\n", "closed its standard output"},
      {"floods", two + raw + "\"x\" * 40000000)\nspace._out.flush()\n", "a line of more than 16 MiB"},
      {"speaks", two + raw + "\"{}\\n\" * 5)\nspace._out.flush()\ntime.sleep(100)\n", "broke the protocol"},
      {"prints", two + raw + "\"hello\\n\")\nspace._out.flush()\ntime.sleep(100)\n", "wrote 'hello' instead"},
      {"nests",
       two + raw +
           "json.dumps({\"type\": \"candidates\", \"candidates\": 0})[:-2] + \"[\" * 300000 + \"]\" * 300000 + " +
           "\"}\\n\")\nspace._out.flush()\ntime.sleep(100)\n",
       "wrote a message: expected at most 128 nested levels, found more"},
      {"knob", two + "space.evaluate({\"toy.k\": 1})\n", "wished for the knob 'toy.k', which the space does not have"},
      {"value", two + "space.evaluate({\"toy.k0\": [1]})\n", "a value of the knob toy.k0, found [1]"},
      {"id", two + "space.evaluate(123456)\n", "expected the id of a candidate, found 123456"},
      {"effort", two + "space.evaluate(space.random(), effort=2)\n", "expected an effort in (0, 1], found 2"},
      {"count", two + "space.wait()\nspace._propose([{\"random\": True}] * 9)\n", "expected a list of one candidate"},
      {"stands still", two + "while True: space.evaluate({})\n", "only for candidates that it already knows"},
  };
  for (const Misdeed& misdeed : misdeeds) {
    const Run failed = run(program(misdeed.text), 20);
    EXPECT_THAT(failed.fault, HasSubstr(misdeed.message)) << misdeed.name;
    EXPECT_EQ(failed.trails.size(), misdeed.trials) << misdeed.name;
    EXPECT_EQ(failed.stop, Stop::ended) << misdeed.name;
  }
}

TEST_F(Exec, ProgramsThatHangAreEnded) {
  // Six seconds, because Python must start within this time on a busy machine.
  for (const char* text : {"time.sleep(100)\n", "while True: space.draw(1)\n", "space.draw(1)\ntime.sleep(100)\n"}) {
    const Run failed =
        run(program(std::string("space.evaluate(space.random())\n") + text), 20, {.parameters = {{"deadline", "6"}}});
    EXPECT_THAT(failed.fault, HasSubstr("did not answer within 6 s")) << text;
    EXPECT_EQ(failed.trails.size(), 2u) << text;
  }
}

// A program that thinks for longer than the search may take does not extend it.
TEST_F(Exec, TheEndOfTheSearchEndsTheWaitForAnAnswer) {
  for (const char* text : {"time.sleep(100)\n", "while True: space.draw(1)\n"}) {
    Guarded searcher([&] { return make_searcher(program(text), space_, {.parameters = {{"deadline", "90"}}}); });
    const Callbacks callbacks{
        .measure = [](const Candidate&) { return Measured{toy::took(1)}; }, .observe = {}, .cancelled = {}};
    const auto start = std::chrono::steady_clock::now();
    const LoopResult result = search::run(space_, searcher, {.seconds = 0.5}, callbacks);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    EXPECT_EQ(result.stop, Stop::seconds) << text;
    EXPECT_EQ(searcher.fault(), "") << text;
    EXPECT_LT(taken.count(), 45) << text;
  }
}

TEST_F(Exec, ALineThatNothingAskedForIsAFault) {
  Guarded searcher([&] {
    return make_searcher(program("space.wait()\nspace._propose([deplo_search.RANDOM])\nspace._out.write(\"{}\\n\")\n"
                                 "space._out.flush()\ntime.sleep(100)\n"),
                         space_, {});
  });
  const auto asked = searcher.ask(1);
  ASSERT_EQ(asked.size(), 1u);
  // The line is not an answer, whether it arrives before the next ask or after it.
  EXPECT_TRUE(searcher.ask(1).empty());
  EXPECT_THAT(searcher.fault(),
              ::testing::AnyOf(HasSubstr("was not requested: '{}'"), HasSubstr("broke the protocol")));
}

TEST_F(Exec, AProgramThatDoesNotReadIsEnded) {
  Guarded searcher([&] { return make_searcher(program("time.sleep(100)"), space_, {}); });
  const Candidate candidate = heuristic(space_);
  const Outcome outcome{Status::build_error, 0, std::string(1 << 20, 'x'), 0};
  for (int i = 0; i < 400 && searcher.fault().empty(); ++i) searcher.tell(candidate, outcome);
  EXPECT_THAT(searcher.fault(), HasSubstr("does not read its standard input"));
}

// Regression test: a line of more than 64 MiB, such as the answer to "all", was a failure before the program could read
// it.
TEST(ExecStart, SendsALongLine) {
  constexpr std::size_t bytes = std::size_t{65} << 20;
  Child child("head -n 1 | wc -c");
  child.send(std::string(bytes, 'x'));
  EXPECT_EQ(child.line(std::chrono::steady_clock::now() + std::chrono::seconds(60)), std::to_string(bytes + 1));
}

TEST(ExecStart, SaysWhyItDoesNot) {
  const toy::ToySpace space = toy::levels({3});
  const auto fault = [&](const std::string& command) {
    Guarded searcher([&] { return make_searcher("exec:" + command, space, {.parameters = {{"deadline", "20"}}}); });
    EXPECT_TRUE(searcher.ask(1).empty());
    return searcher.fault();
  };
  EXPECT_THAT(fault("no_such_program_of_mine"),
              HasSubstr("the strategy 'no_such_program_of_mine' ended with code 127"));
  EXPECT_THAT(fault("echo hello"), HasSubstr("wrote 'hello' instead of a JSON object on one line"));
  for (const char* number : {"NaN", "Infinity", "-Infinity"})
    EXPECT_THAT(fault(fmt::format("echo '{{\"type\":\"hello\",\"x\":{}}}'", number)),
                HasSubstr("on one line; NaN and Infinity, which Python's json writes, are not JSON"));
  EXPECT_THAT(fault("echo '{\"type\":\"hello\",\"x\":1e400}'"),
              HasSubstr("on one line; it has a number that is too large"));
  EXPECT_THAT(fault("echo '{\"type\":\"hello\",\"protocol\":99}'; cat"), HasSubstr("expected protocol 1, found 99"));
  EXPECT_THAT(fault("exit 3"), HasSubstr("ended with code 3"));
  EXPECT_THROW(make_searcher("exec:", space, {}), Error);
  EXPECT_THROW(make_searcher("exec:cat", space, {.parameters = {{"deadline", "soon"}}}), Error);
}

// Random bytes and damaged messages: whatever a program writes, its run ends with a message.
TEST(ExecStart, SurvivesAnyAnswer) {
  const toy::ToySpace space = toy::conditional(3);
  Rng rng(11);
  const std::string hello = "{\"type\":\"hello\",\"protocol\":1}\\n";
  const std::string answers[] = {"{\"type\":\"candidates\",\"candidates\":[{\"wish\":{\"toy.k0\":1}}]}",
                                 "{\"type\":\"candidates\",\"candidates\":[{\"id\":0,\"effort\":0.5}]}",
                                 "{\"type\":\"query\",\"query\":\"neighbours\",\"id\":0}",
                                 "{\"type\":\"query\",\"query\":\"random\",\"n\":3}"};
  for (int round = 0; round < 60; ++round) {
    std::string answer = answers[rng.below(4)];
    for (std::uint64_t damage = rng.below(3); damage > 0; --damage) {
      const std::size_t at = rng.below(answer.size());
      constexpr std::string_view bytes = "{}[]\":,-0123456789.etfn";
      if (rng.below(2) == 0)
        answer[at] = bytes[rng.below(bytes.size())];
      else
        answer.erase(at, 1 + rng.below(3));
    }
    const std::string command = "printf '" + hello + answer + "\\n'";
    Guarded searcher([&] { return make_searcher("exec:" + command, space, {.parameters = {{"deadline", "20"}}}); });
    for (int asks = 0; asks < 4; ++asks) searcher.ask(2);
    EXPECT_NE(searcher.fault(), "") << "round " << round << ": " << command;
  }
}

}  // namespace
}  // namespace deplo::search::exec
