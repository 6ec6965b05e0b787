#include "core/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/error.h"

namespace deplo {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

template <class F>
std::string message(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    EXPECT_EQ(e.exit(), Exit::user);
    EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos) << "one line";
    return e.what();
  }
  return "no error";
}

Config parse(std::string_view text) { return Config::parse(text, "x.yaml"); }

TEST(Config, ReadsTypedValuesAndDefaults) {
  const Config c = parse("name: \"5\"\ncount: 12\nratio: 1e-3\non: true\nlist: [1, 2]\nmap: {b: 2, a: 1}\n");
  EXPECT_EQ(c.at("name").text(), "5");
  EXPECT_EQ(c.at("count").integer(), 12);
  EXPECT_DOUBLE_EQ(c.at("ratio").number(), 1e-3);
  EXPECT_DOUBLE_EQ(c.at("count").number(), 12);
  EXPECT_TRUE(c.at("on").boolean());
  EXPECT_EQ(c.at("list").items().at(1).integer(), 2);
  EXPECT_EQ(c.at("map").entries().at(0).first, "b");
  EXPECT_EQ(c.integer_or("absent", 7), 7);
  EXPECT_EQ(c.text_or("absent", "x"), "x");
  EXPECT_EQ(c.at("list").place(), "x.yaml:5");
}

TEST(Config, UnknownKeyNamesItsLineAndTheNearestKey) {
  const Config c = parse("time: 5\n\ntrails: 3\n");
  EXPECT_EQ(message([&] {
              c.only({"time", "trials"});
            }),
            "x.yaml:3: expected one of time, trials, found the key 'trails'; did you mean 'trials'?");
  const Config nested = parse("a: 1\nbudgte:\n  time: 1\n");
  EXPECT_THAT(message([&] { nested.only({"a", "budget"}); }), StartsWith("x.yaml:2: "));
}

TEST(Config, WrongTypesSayWhatWasFound) {
  const Config c = parse("a: many\nb: [1]\nc: \"5\"\nd:\ne: 99999999999999999999\nf: nan\ng: 5 # five\n");
  EXPECT_EQ(message([&] { c.at("a").integer(); }), "x.yaml:1: expected an integer, found 'many'");
  EXPECT_EQ(message([&] { c.at("b").text(); }), "x.yaml:2: expected text, found a list");
  EXPECT_EQ(message([&] { c.at("c").integer(); }), "x.yaml:3: expected an integer, found text \"5\"");
  EXPECT_EQ(message([&] { c.at("d").text(); }), "x.yaml:4: expected text, found nothing");
  EXPECT_EQ(message([&] { c.at("e").integer(1); }),
            "x.yaml:5: expected an integer of at least 1, found '99999999999999999999'");
  EXPECT_EQ(message([&] { c.at("f").number(0, 1); }), "x.yaml:6: expected a number between 0 and 1, found 'nan'");
  EXPECT_EQ(message([&] { c.at("g").integer(6); }), "x.yaml:7: expected an integer of at least 6, found '5'");
  EXPECT_EQ(message([&] { c.at("g").boolean(); }), "x.yaml:7: expected true or false, found '5'");
  EXPECT_EQ(message([&] { c.at("a").one_of({"x", "y"}); }), "x.yaml:1: expected one of x, y, found 'many'");
  EXPECT_EQ(message([&] { c.at("a").items(); }), "x.yaml:1: expected a list, found 'many'");
  EXPECT_EQ(message([&] { c.at("z"); }), "x.yaml:1: expected the key 'z', found a map without it");
}

TEST(Config, RefusesWhatIsNoMapOrNoYaml) {
  EXPECT_EQ(message([] { parse(""); }), "x.yaml:1: expected a map (key: value), found nothing");
  EXPECT_EQ(message([] { parse("# only a comment\n"); }), "x.yaml:1: expected a map (key: value), found nothing");
  EXPECT_EQ(message([] { parse("- 1\n"); }), "x.yaml:1: expected a map (key: value), found a list");
  EXPECT_EQ(message([] { parse("a: 1\nb: 2\na: 3\n"); }), "x.yaml:3: expected each key once, found 'a' twice");
  EXPECT_THAT(message([] { parse("a: 1\nb: [1, 2\n"); }), StartsWith("x.yaml:3: expected YAML"));
  EXPECT_THAT(
      message([] { parse("a: 1\nb: {x: size[0] / 2}\n"); }),
      AllOf(StartsWith("x.yaml:2: expected YAML"), EndsWith("a text that contains brackets or commas needs quotes")));
  EXPECT_THAT(message([] { parse("a: 1\n---\nb: 2\n"); }), HasSubstr("one YAML document"));
  EXPECT_THAT(message([] { parse("[a]: 1\n"); }), StartsWith("x.yaml:1: "));
}

TEST(Config, RefusesReferencesAndDepth) {
  EXPECT_EQ(message([] { parse("a: &a [1]\nb: *a\n"); }), "x.yaml:2: expected a value, found a reference (*…)");
  std::string nested = "a:\n";
  for (int i = 0; i < 100; ++i) nested += " - ";
  EXPECT_EQ(message([&] { parse(nested + "1\n"); }), "x.yaml:2: expected a depth of at most 32");
  EXPECT_NE(message([] { parse("a: " + std::string(5000, '[')); }), "no error");
}

TEST(Config, FilesThatCannotBeRead) {
  EXPECT_EQ(message([] { Config::load("/nowhere/x.yaml"); }),
            "/nowhere/x.yaml: expected a readable file: No such file or directory");
  EXPECT_EQ(message([] { Config::load("/"); }), "/: expected a file, found a folder");
}

TEST(Config, NeverCrashesOnRandomBytes) {
  const std::string alphabet = "a:-[]{},&*!|>'\"%@` \n\t#?0\x01\xff";
  std::uint32_t state = 1;
  for (int i = 0; i < 3000; ++i) {
    std::string text;
    for (int j = 0; j < 24; ++j) text += alphabet[(state = state * 1664525u + 1013904223u) % 65536 % alphabet.size()];
    message([&] { parse(text).only({"a"}); });
  }
}

}  // namespace
}  // namespace deplo
