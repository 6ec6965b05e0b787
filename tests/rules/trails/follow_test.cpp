// Tests follow(): a printed trail replays exactly. If a trail does not fit, the message says where, and what would fit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "rules/lower.h"
#include "rules/newer_rule.h"
#include "rules/programs.h"

namespace deplo::rules {
namespace {

ir::Program small_matmul() { return matmul(33, 64, 64); }

using ::testing::AllOf;
using ::testing::HasSubstr;

void expect_error(const std::string& trail, const ::testing::Matcher<std::string>& message) {
  const auto found = follow(small_matmul(), load_target("sm_90"), parse_trail(trail));
  ASSERT_FALSE(found.ok()) << trail;
  EXPECT_THAT(found.failure().message, message) << trail;
}

TEST(Follow, APrintedTrailReplaysToTheSameProgram) {
  const Target target = load_target("sm_90");
  Lowering lowering(small_matmul(), target);
  while (lowering.fork()) lowering.choose(lowering.fork()->options.size() - 1);
  const std::string text = print(lowering.trail());
  const Lowering again = follow(small_matmul(), target, parse_trail(text)).value();
  EXPECT_EQ(again.program(), lowering.program());
  EXPECT_EQ(print(again.trail()), text);
}

TEST(Follow, AfterItsEndTakesTheFirstOption) {
  const Target target = load_target("sm_90");
  const Trail all = heuristic(small_matmul(), target).trail();
  ASSERT_GT(all.size(), 3U);
  for (std::size_t n = 0; n <= all.size(); ++n)
    EXPECT_EQ(follow(small_matmul(), target, Trail(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n)))
                  .value()
                  .trail(),
              all);
}

TEST(Follow, IsValueSemantics) {
  const Lowering start(small_matmul(), load_target("sm_90"));
  Lowering one = start, two = start;
  one.choose(0);
  two.choose(1);
  EXPECT_NE(one.trail(), two.trail());
  EXPECT_TRUE(start.trail().empty());
}

TEST(Follow, AWrongKnobNamesTheOneExpected) {
  expect_error("blockify_launch.bm=33",
               AllOf(HasSubstr("expected the knob chunk_matmul_k.bk"), HasSubstr("blockify_launch.bm=33")));
  expect_error("chunk_matmul_k.bk=16 split_matmul_k.splits=1 blockify_launch.bn=64",
               AllOf(HasSubstr("expected the knob blockify_launch.bm"), HasSubstr("blockify_launch.bn=64")));
}

TEST(Follow, AnIllegalValueNamesTheLegalOnes) {
  expect_error("chunk_matmul_k.bk=17", AllOf(HasSubstr("chunk_matmul_k.bk=17 is not legal here"), HasSubstr("16")));
  expect_error("chunk_matmul_k.bk=wide", HasSubstr("chunk_matmul_k.bk=wide is not legal here"));
}

TEST(Follow, ALeftOverChoiceIsNamed) {
  const std::string all = print(heuristic(small_matmul(), load_target("sm_90")).trail());
  expect_error(all + " split_matmul_k.splits=4", HasSubstr("split_matmul_k.splits=4 is left over"));
}

TEST(Follow, AWholeTrailIsReadByName) {
  const Target target = load_target("sm_90");
  const Lowering all = heuristic(small_matmul(), target);
  Trail trail = all.trail();
  std::ranges::reverse(trail);
  EXPECT_EQ(follow(small_matmul(), target, trail, TrailIs::whole).value().trail(), all.trail());
  trail.pop_back();
  EXPECT_THAT(follow(small_matmul(), target, trail, TrailIs::whole).failure().message,
              HasSubstr("expected the knob chunk_matmul_k.bk next"));
}

TEST(Follow, ATrailOlderThanARuleMeansWhatItMeant) {
  const Target target = load_target("sm_90");
  Lowering before(small_matmul(), target);
  while (before.fork()) before.choose(before.fork()->options.size() - 1);
  Rule strict = newer_rule;
  strict.knobs[0].as_before.reset();
  for (std::size_t place = 1; place <= pipeline().size(); ++place) {
    const auto rules = with_newer_rule(place);
    const auto found = follow(Lowering(small_matmul(), target, {}, rules), before.trail(), TrailIs::whole);
    ASSERT_TRUE(found.ok()) << place << ": " << found.failure().message;
    EXPECT_EQ(found.value().program(), before.program()) << place;
    EXPECT_EQ(found.value().trail().size(), before.trail().size() + 1) << "and can be stored again, in full";
    const auto without = with_newer_rule(place, strict);
    EXPECT_THAT(follow(Lowering(small_matmul(), target, {}, without), before.trail(), TrailIs::whole).failure().message,
                HasSubstr("expected the knob newer.on next"));
    EXPECT_NE(follow(Lowering(small_matmul(), target, {}, rules), {}, TrailIs::beginning).value().program(),
              heuristic(small_matmul(), target).program())
        << "a beginning leaves it to the heuristic";
  }
}

TEST(Follow, TheObserverSeesEachRuleOnceInOrder) {
  std::vector<std::string_view> seen;
  ir::Program last = small_matmul();
  const auto observe = [&](const Lowering::Step& step) {
    seen.emplace_back(step.rule.name);
    EXPECT_EQ(step.before, last);
    EXPECT_TRUE(step.skipped.empty() || step.after == step.before) << step.rule.name;
    last = step.after;
  };
  ASSERT_TRUE(follow(Lowering(small_matmul(), load_target("opencl-cpu"), observe), {}, TrailIs::beginning).ok());
  ASSERT_EQ(seen.size(), pipeline().size());
  for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i], pipeline()[i]->name);
}

}  // namespace
}  // namespace deplo::rules
