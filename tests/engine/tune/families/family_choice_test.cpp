// Choosing few schedules for many shapes, and the rules that choose among them.
#include "engine/tune/families/family_choice.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <limits>

#include "core/error.h"
#include "core/rng.h"
#include "engine/loop/kernel.h"

namespace deplo::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr double failed = std::numeric_limits<double>::infinity();

TEST(FamilyChoice, KeepsAsFewSchedulesAsMeetTheGoal) {
  const Losses losses = {{0.00, 0.50, 0.04, failed}, {0.50, 0.00, 0.04, 0.3}, {0.50, 0.30, 0.04, 0.0}};
  EXPECT_THAT(keep_schedules(losses, {FamilyGoal::Over::worst, 0.5}), ElementsAre(0)) << "the heuristic's will do";
  EXPECT_THAT(keep_schedules(losses, {FamilyGoal::Over::worst, 0.05}), ElementsAre(0, 2));
  EXPECT_THAT(keep_schedules(losses, {FamilyGoal::Over::worst, 0.04}), ElementsAre(0, 2));
  EXPECT_THAT(keep_schedules(losses, {FamilyGoal::Over::worst, 0.03}), ElementsAre(0, 1, 3));
  EXPECT_THAT(keep_schedules(losses, {FamilyGoal::Over::mean, 0.03}), ElementsAre(0, 2));
  EXPECT_THAT(keep_schedules(losses, {FamilyGoal::Over::worst, 0}), ElementsAre(0, 1, 3));
}

Losses drawn_losses(Rng& rng, std::size_t shapes, std::size_t schedules) {
  Losses losses(shapes, std::vector<double>(schedules));
  for (std::vector<double>& row : losses) {
    for (double& loss : row) loss = rng.below(8) == 0 ? failed : rng.uniform(0, 0.2);
    row[rng.below(schedules)] = 0;
  }
  return losses;
}

double loss_of_set(const Losses& losses, const FamilyGoal& goal, std::uint64_t set) {
  std::vector<double> best;
  for (const std::vector<double>& row : losses) {
    double& least = best.emplace_back(failed);
    for (std::size_t i = 0; i < row.size(); ++i)
      if ((set >> i & 1U) != 0) least = std::min(least, row[i]);
  }
  return loss_of(goal, best);
}

// Compares the result with all subsets that contain the heuristic's schedule.
TEST(FamilyChoice, NoSmallerSetMeetsTheGoal) {
  constexpr std::uint64_t seed = 5;
  Rng rng(seed);
  for (int i = 0; i < 100; ++i) {
    const std::size_t schedules = 1 + rng.below(8);
    const Losses losses = drawn_losses(rng, 1 + rng.below(9), schedules);
    const FamilyGoal goal{rng.below(2) == 0 ? FamilyGoal::Over::worst : FamilyGoal::Over::mean, rng.uniform(0, 0.1)};
    const std::vector<std::size_t> kept = keep_schedules(losses, goal);
    std::uint64_t bits = 0;
    for (const std::size_t one : kept) bits |= std::uint64_t{1} << one;
    EXPECT_LE(loss_of_set(losses, goal, bits), goal.max_loss) << "case " << i << " of seed " << seed;
    EXPECT_EQ(bits & 1U, 1U);
    for (std::uint64_t set = 1; set < std::uint64_t{1} << schedules; set += 2)
      if (static_cast<std::size_t>(std::popcount(set)) < kept.size()) {
        EXPECT_GT(loss_of_set(losses, goal, set), goal.max_loss) << "case " << i << " of seed " << seed;
      }
  }
}

DispatchRule tree_rule(std::vector<DispatchRule::Node> nodes, std::size_t extents) {
  DispatchRule rule;
  for (std::size_t i = 0; i < extents; ++i) rule.extents.push_back({fmt::format("n{}", i), {i}, 1, 1e6});
  rule.schedules = {"a.x=0", "", "a.x=2", "a.x=3", "a.x=4", "a.x=5", "a.x=6", "a.x=7"};
  rule.nodes = std::move(nodes);
  return rule;
}

// The trees achieve what the set of schedules achieves, whatever is pruned, and wherever the heuristic's schedule is
// preferred. Shapes that were measured between the family's own shapes do not make them worse, and meet the goal, too.
TEST(FamilyChoice, RulesMeetTheGoalOnTheirOwnShapes) {
  constexpr std::uint64_t seed = 9;
  Rng rng(seed);
  for (int i = 0; i < 100; ++i) {
    const std::size_t extents = 1 + rng.below(3), forms = 1 + rng.below(2);
    const Losses own = drawn_losses(rng, 2 + rng.below(12), 1 + rng.below(8));
    std::vector<FamilyShape> shapes;
    for (std::size_t shape = 0; shape < own.size(); ++shape) {
      std::vector<double> sizes{static_cast<double>(2 + 2 * shape)};  // different for each shape
      while (sizes.size() < extents) sizes.push_back(static_cast<double>(1 + rng.below(4)));
      shapes.push_back({shape < forms ? shape : rng.below(forms), std::move(sizes)});
    }
    const FamilyGoal goal{rng.below(2) == 0 ? FamilyGoal::Over::worst : FamilyGoal::Over::mean, rng.uniform(0, 0.1)};
    const std::vector<std::size_t> kept = keep_schedules(own, goal);
    Losses losses = own;
    for (std::size_t shape = 0; shape < own.size(); ++shape) {
      if (rng.below(2) == 0) continue;
      FamilyShape between = shapes[shape];
      between.extents.front() += 1;
      between.between = true;
      std::vector<double>& row = losses.emplace_back(own.front().size(), failed);
      for (const std::size_t one : kept) row[one] = rng.uniform(0, 0.2);
      row[kept[rng.below(kept.size())]] = 0;
      shapes.push_back(std::move(between));
    }
    const auto trees = grow_trees(losses, shapes, kept, goal);
    ASSERT_EQ(trees.size(), forms);
    std::vector<double> found, found_between;
    for (std::size_t shape = 0; shape < shapes.size(); ++shape) {
      const DispatchRule rule = tree_rule(trees[shapes[shape].form], extents);
      EXPECT_EQ(parse_rule(print(rule), "rule"), rule);
      const auto schedule = dispatch(rule, shapes[shape].extents, shapes[shape].extents);
      ASSERT_TRUE(schedule);
      EXPECT_THAT(kept, ::testing::Contains(*schedule));
      (shapes[shape].between ? found_between : found).push_back(losses[shape][*schedule]);
    }
    EXPECT_LE(loss_of(goal, found_between), goal.max_loss) << "case " << i << " of seed " << seed;
    EXPECT_LE(loss_of(goal, found), goal.max_loss) << "case " << i << " of seed " << seed;
  }
}

TEST(FamilyChoice, SplitsLieBetweenSizesAndUselessOnesArePruned) {
  const Losses losses = {{0, 1}, {0.01, 0}, {1, 0}, {1, 0}};
  const std::vector<FamilyShape> shapes = {{0, {2}}, {0, {8}}, {0, {32}}, {0, {64}}};
  const auto exact = grow_trees(losses, shapes, {0, 1}, {FamilyGoal::Over::worst, 0});
  EXPECT_EQ(describe(tree_rule(exact[0], 1)), "n0 < 4: A; otherwise B");
  const std::vector<std::string> when = conditions(tree_rule(exact[0], 1));
  EXPECT_EQ(when[0], "n0 < 4");
  EXPECT_EQ(when[1], "n0 >= 4");
  EXPECT_EQ(when[2], "never");
  EXPECT_EQ(conditions(tree_rule({DispatchRule::Node{}}, 1))[0], "always");
  EXPECT_EQ(grow_trees(losses, shapes, {0, 1}, {FamilyGoal::Over::worst, 2})[0].size(), 1);
}

// One shape in the middle has a schedule of its own: the rule has the two splits around this shape, and no others.
TEST(FamilyChoice, ShapesOfOneScheduleStayTogether) {
  const Losses losses = {{0, 1}, {0, 1}, {0, 1}, {0.06, 0}, {0, 1}};
  const std::vector<FamilyShape> shapes = {{0, {1}}, {0, {2}}, {0, {4}}, {0, {9}}, {0, {16}}};
  EXPECT_EQ(describe(tree_rule(grow_trees(losses, shapes, {0, 1}, {FamilyGoal::Over::worst, 0.05})[0], 1)),
            "n0 < 6: A; otherwise n0 < 12: B; otherwise A");
}

// Schedule B is best for the family's own shapes. Shapes between them, where A is best, add splits to the rule.
TEST(FamilyChoice, ShapesBetweenPlaceTheSplits) {
  const FamilyGoal goal{FamilyGoal::Over::worst, 0.05};
  const auto rule = [&](const Losses& losses, const std::vector<FamilyShape>& shapes) {
    return describe(tree_rule(grow_trees(losses, shapes, {0, 1}, goal)[0], 1));
  };
  const std::vector<FamilyShape> shapes = {{0, {16}}, {0, {32}}, {0, {64}}, {0, {25}, true}, {0, {36}, true}};
  const Losses tiles = {{1, 0}, {1, 0}, {1, 0}};  // the family's own shapes, which a tile of 16 divides
  EXPECT_EQ(rule(tiles, {shapes.begin(), shapes.begin() + 3}), "B");
  Losses measured = tiles;
  measured.insert(measured.end(), {{0, 0.6}, {0, 0.4}});
  EXPECT_EQ(rule(measured, shapes),
            "n0 < 20: B; otherwise n0 < 28.2843: A; otherwise n0 < 33.9411: B; otherwise n0 < 48: A; otherwise B");
}

TEST(FamilyChoice, TheHeuristicIsPreferredWhereItLosesLittle) {
  const Losses losses = {{0.04, 0, 0.5}, {0.04, 0, 0.5}, {1, 0.5, 0}, {1, 0.5, 0}};
  const std::vector<FamilyShape> shapes = {{0, {2}}, {0, {8}}, {0, {32}}, {0, {64}}};
  const auto rule = [&](const FamilyGoal& goal) {
    return describe(tree_rule(grow_trees(losses, shapes, {0, 1, 2}, goal)[0], 1));
  };
  EXPECT_EQ(rule({FamilyGoal::Over::worst, 0.05}), "n0 < 16: A; otherwise C");
  EXPECT_EQ(rule({FamilyGoal::Over::worst, 0.03}), "n0 < 16: B; otherwise C");
  EXPECT_EQ(rule({FamilyGoal::Over::mean, 0.05}), "n0 < 16: A; otherwise C");
}

TEST(DispatchRule, AnswersOnlyWithinItsFamily) {
  DispatchRule rule;
  rule.extents = {{"M", {0, 2}, 4, 64}};
  rule.schedules = {"", "a.x=1"};
  rule.nodes = {{0, 10, 1, 2, 0}, {std::nullopt, 0, 0, 0, 0}, {std::nullopt, 0, 0, 0, 1}};
  const std::vector<double> family = {4, 512, 4};
  EXPECT_EQ(dispatch(rule, {9, 512, 9}, family), 0);
  EXPECT_EQ(dispatch(rule, {10, 512, 10}, family), 1);
  EXPECT_EQ(dispatch(rule, {64, 512, 64}, family), 1);
  EXPECT_EQ(dispatch(rule, {65, 512, 65}, family), std::nullopt);
  EXPECT_EQ(dispatch(rule, {9, 511, 9}, family), std::nullopt) << "this number is the same in the whole family";
  EXPECT_EQ(dispatch(rule, {9, 512, 8}, family), std::nullopt) << "these numbers are equal in the whole family";
  EXPECT_EQ(dispatch(rule, {9, 512}, family), std::nullopt);
}

std::string rule_refusal(const std::string& nodes) {
  try {
    parse_rule(R"({"extents":[{"name":"M","columns":[0],"least":1,"most":8}],"schedules":["heuristic"],"nodes":)" +
                   nodes + "}",
               "r");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(DispatchRule, DamagedTextIsRefused) {
  EXPECT_EQ(rule_refusal(R"([{"schedule":0}])"), "");
  EXPECT_THAT(rule_refusal("[]"), HasSubstr("a tree"));
  EXPECT_THAT(rule_refusal(R"([{"schedule":1}])"), HasSubstr("r:1"));
  EXPECT_THAT(rule_refusal(R"([{"extent":0,"below":2,"yes":0,"no":1},{"schedule":0}])"), HasSubstr("r:1"));
  EXPECT_THAT(rule_refusal(R"([{"extent":0,"below":2,"yes":1,"no":1},{"schedule":0}])"), HasSubstr("a tree"));
  EXPECT_THAT(rule_refusal(R"([{"extent":1,"below":2,"yes":1,"no":2},{"schedule":0},{"schedule":0}])"),
              HasSubstr("r:1"));
  EXPECT_THAT(rule_refusal(R"([{"schedule":0},{"schedule":0}])"), HasSubstr("a tree"));
}

TEST(DispatchRule, AnyBytesAreReadOrRefused) {
  const std::string sound =
      R"({"extents":[{"name":"M","columns":[0,1],"least":1,"most":80}],"schedules":["heuristic","a.x=1"],"nodes":)"
      R"([{"extent":0,"below":9.5,"yes":1,"no":2},{"schedule":0},{"schedule":1}]})";
  constexpr std::uint64_t seed = 3;
  Rng rng(seed);
  int refused = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string text = sound;
    for (std::size_t changes = 1 + rng.below(3); changes > 0; --changes) {
      const std::size_t at = rng.below(text.size());
      if (rng.below(2) == 0)
        text[at] = "0129-[]{},:\"x"[rng.below(13)];
      else
        text.erase(at, rng.below(4));
    }
    try {
      const DispatchRule rule = parse_rule(text, "rule");
      describe(rule);
      EXPECT_EQ(conditions(rule).size(), rule.schedules.size());
      const auto schedule = dispatch(rule, {5, 5}, {6, 6});
      if (schedule) {
        EXPECT_LT(*schedule, rule.schedules.size()) << "case " << i << " of seed " << seed << ": " << text;
      }
    } catch (const Error& error) {
      ++refused;
      EXPECT_EQ(std::ranges::count(std::string(error.what()), '\n'), 0) << error.what();
    }
  }
  EXPECT_GT(refused, 500);
}

TEST(ShapeForm, TellsSizesApartFromWhatIsComputed) {
  const auto form = [](const char* kernel, std::int64_t m, std::int64_t n) {
    return shape_form(load_kernel(kernel, {{"M", m}, {"N", n}}, "test"));
  };
  EXPECT_EQ(form("softmax", 8, 16).key(), form("softmax", 100, 3000).key());
  EXPECT_NE(form("softmax", 8, 16).numbers, form("softmax", 8, 17).numbers);
  EXPECT_NE(form("softmax", 8, 16).key(), form("gelu", 8, 16).key());
  EXPECT_EQ(form("softmax", 1, 16).key(), form("softmax", 2, 16).key());
}

// The kernel's names and the order of its buffers are not those of the family.
TEST(ShapeForm, AKernelGetsTheNamesOfItsFamily) {
  const ir::Program theirs = load_kernel("matmul", {{"M", 7}, {"N", 48}, {"K", 64}}, "test");
  const ir::Program kernel = ir::parse(R"(=== loop: product_2 ===
output out: f32[1, 3]
input w2: f32[5, 3]
input x: f32[1, 5]
for i in 0..1: # free
  for j in 0..3: # free
    for k in 0..5: # reduce
      l = load x[i, k]
      r = load w2[k, j]
      p = multiply(l, r)
      sum <- add(sum, p)
    out[i, j] = sum
)");
  EXPECT_EQ(shape_form(kernel).key(), shape_form(theirs).key());
  const auto named = with_names_of(kernel, theirs);
  ASSERT_TRUE(named);
  EXPECT_EQ(named->loop, load_kernel("matmul", {{"M", 1}, {"N", 3}, {"K", 5}}, "test"));
  EXPECT_THAT(named->arguments, ElementsAre(2, 1, 0));
}

}  // namespace
}  // namespace deplo::engine
