// Tests every option of every rule on every golden. The resulting program must compute the same results in floating
// point and in exact arithmetic, pass the verifier, print the same text each time, and parse back to the same program.
#include <gtest/gtest.h>

#include <functional>
#include <optional>

#include "ir/interpret/proof.h"
#include "ir/walk.h"
#include "rules/golden.h"
#include "rules/programs.h"

namespace deplo::rules {
namespace {

constexpr double max_steps = 60e3;        // programs that take more lane-steps than this are not interpreted
constexpr double steps_per_golden = 3e6;  // after this many lane-steps, further options of a golden are only verified

/// Calls f(pins) for every path through the rule's forks.
void for_each_choice(const Rule& rule, const ir::Program& before, const Target& target, Trail& pins,
                     const std::function<void(const Trail&)>& f) {
  const Verdict verdict = rule.decide(before, target, Pins(pins));
  if (std::get_if<Apply>(&verdict) != nullptr) return f(pins);
  const auto* fork = std::get_if<Fork>(&verdict);
  if (fork == nullptr) return;
  ASSERT_TRUE(declares(rule, *fork)) << fork->knob;
  for (const Value& option : fork->options) {
    pins.push_back({fork->knob, option});
    for_each_choice(rule, before, target, pins, f);
    pins.pop_back();
  }
}

ir::Program apply(const Rule& rule, const ir::Program& before, const Target& target, const Trail& pins) {
  ir::Program after = rule.apply(before, target, Pins(pins));
  ir::renumber_axes(after);
  return after;
}

void check_form(const Rule& rule, const ir::Program& before, const ir::Program& after, const Target& target,
                const Trail& pins) {
  ASSERT_EQ(ir::verify(after), "") << ir::print(after);
  const std::string text = ir::print(after);
  ASSERT_EQ(ir::print(apply(rule, before, target, pins)), text);
  ASSERT_EQ(ir::parse(text), after) << text;
}

/// Checks every path through the rule's forks for the golden. Returns how many resulting programs were interpreted.
int check_golden(const Rule& rule, const Golden& golden) {
  const Target target = load_target(golden.target);
  const ir::Program before = ir::parse(golden.before, {}, golden.path);
  const bool small = ir::verify(before).empty() && lane_steps(before) <= max_steps;
  const ir::Memory memory = small ? random_memory(before, 1) : ir::Memory{};
  const ir::Memory expected = small ? result(before, memory) : ir::Memory{};
  const std::optional<ir::Proof> proof = small ? std::optional(ir::Proof(before, memory, 1)) : std::nullopt;
  int interpreted = 0;
  double steps = 0;
  Trail none;
  for_each_choice(rule, before, target, none, [&](const Trail& pins) {
    if (::testing::Test::HasFatalFailure()) return;
    SCOPED_TRACE(golden.path + ": " + print(pins));
    const ir::Program after = apply(rule, before, target, pins);
    check_form(rule, before, after, target, pins);
    if (!small || lane_steps(after) > max_steps || steps > steps_per_golden) return;
    steps += lane_steps(after);
    ++interpreted;
    ASSERT_EQ(difference(before, expected, result(after, memory)), "") << ir::print(after);
    ASSERT_EQ(proof->difference(after), "") << ir::print(after);
  });
  return interpreted;
}

class Battery : public ::testing::TestWithParam<const Rule*> {};

TEST_P(Battery, EveryChoiceKeepsTheMeaning) {
  int small = 0;
  for (const std::string& file : golden_files(GetParam()->name)) {
    small += check_golden(*GetParam(), read_golden(file)) > 0 ? 1 : 0;
    if (HasFatalFailure()) return;
  }
  EXPECT_GE(small, 3) << "goldens small enough to be interpreted";
}

std::string rule_name(const ::testing::TestParamInfo<const Rule*>& info) { return std::string(info.param->name); }

INSTANTIATE_TEST_SUITE_P(Rules, Battery, ::testing::ValuesIn(pipeline().begin(), pipeline().end()), rule_name);

}  // namespace
}  // namespace deplo::rules
