// Tests what a rule declares (its name, its summary, its knobs and their types), and the version of all rules together.
#include <gtest/gtest.h>

#include <set>

#include "rules/newer_rule.h"
#include "rules/rule.h"

namespace deplo::rules {
namespace {

TEST(Rules, HaveNamesAndWordsOfTheirOwn) {
  std::set<std::string_view> names, words;
  for (const Rule* rule : pipeline()) {
    EXPECT_TRUE(names.insert(rule->name).second) << rule->name;
    EXPECT_TRUE(words.insert(rule->summary).second) << rule->name;
    EXPECT_NE(rule->summary, "") << rule->name;
    EXPECT_EQ(find_rule(rule->name), rule);
  }
  EXPECT_EQ(find_rule("newer"), nullptr);
}

TEST(Rules, FindTheirKnobs) {
  Rule rule = newer_rule;
  rule.knobs = {{"width", KnobType::integer}, {"copy_*", KnobType::on_off}};
  EXPECT_EQ(find_knob(rule, "width"), &rule.knobs[0]);
  EXPECT_EQ(find_knob(rule, "copy_a"), &rule.knobs[1]);
  for (const char* name : {"", "widths", "wid", "copy", "a"}) EXPECT_EQ(find_knob(rule, name), nullptr) << name;
}

TEST(Rules, DeclareTheirForks) {
  Rule rule = newer_rule;
  rule.knobs = {{"n", KnobType::integer}, {"order", KnobType::text}, {"on", KnobType::on_off}};
  EXPECT_TRUE(declares(rule, {"n", {Value(7), Value(-1)}}));
  EXPECT_FALSE(declares(rule, {"n", {Value(7), Value("mk")}}));
  EXPECT_TRUE(declares(rule, {"order", {Value("mk")}}));
  EXPECT_FALSE(declares(rule, {"order", {Value(0)}}));
  EXPECT_TRUE(declares(rule, on_off_fork("on", true)));
  EXPECT_FALSE(declares(rule, {"on", {Value(2)}}));
  EXPECT_FALSE(declares(rule, {"other", {Value(0)}}));
}

TEST(Pins, AreReadByTheirType) {
  const Trail trail{{"n", Value(7)}, {"order", Value("mk")}, {"on", Value(1)}, {"off", Value(0)}};
  const Pins pins(trail);
  EXPECT_EQ(pins.size(), 4U);
  EXPECT_EQ(pins.integer("n"), 7);
  EXPECT_EQ(pins.text("order"), "mk");
  EXPECT_EQ(pins.on_off("on"), true);
  EXPECT_EQ(pins.on_off("off"), false);
  EXPECT_EQ(pins.integer("other"), std::nullopt);
  EXPECT_EQ(pins.text("other"), std::nullopt);
  EXPECT_EQ(pins.on_off("other"), std::nullopt);
  EXPECT_TRUE(Pins().empty());
}

TEST(PinsDeathTest, AskedForAnotherTypeAreABug) {
  const Trail trail{{"n", Value(7)}, {"order", Value("mk")}};
  EXPECT_DEATH((void)Pins(trail).text("n"), "internal error");
  EXPECT_DEATH((void)Pins(trail).integer("order"), "internal error");
}

TEST(Version, TellsRulesOrderAndKnobsApart) {
  std::vector<const Rule*> swapped = with_newer_rule(3);
  std::swap(swapped[3], swapped[4]);
  std::vector<std::string> versions{version_of(pipeline()), version_of(with_newer_rule(3)), version_of(swapped)};
  Rule changed = newer_rule;
  const auto add = [&] { versions.push_back(version_of(with_newer_rule(3, changed))); };
  changed.name = "newest";
  add();
  changed.knobs[0].name = "off";
  add();
  changed.knobs[0].type = KnobType::integer;
  add();
  changed.knobs[0].as_before.reset();
  add();
  changed.knobs.clear();
  add();
  EXPECT_EQ(std::set<std::string>(versions.begin(), versions.end()).size(), versions.size());
  EXPECT_EQ(version_of(pipeline()), versions[0]);
  Rule other_words = newer_rule;
  other_words.summary = "other words";
  EXPECT_EQ(version_of(with_newer_rule(3, other_words)), versions[1]);
}

}  // namespace
}  // namespace deplo::rules
