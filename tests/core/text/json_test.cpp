#include "core/text/json.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <vector>

namespace deplo {
namespace {

TEST(Json, Values) {
  EXPECT_EQ(Json().print(), "null");
  EXPECT_EQ(Json(nullptr).print(), "null");
  EXPECT_EQ(Json(true).print(), "true");
  EXPECT_EQ(Json("text").print(), R"("text")");
  EXPECT_EQ(Json(std::string("text")).print(), R"("text")");
  EXPECT_EQ(Json(std::string_view("")).print(), R"("")");
}

TEST(Json, IntegersKeepEveryDigit) {
  EXPECT_EQ(Json(-7).print(), "-7");
  EXPECT_EQ(Json(std::size_t{7}).print(), "7");
  EXPECT_EQ(Json((std::int64_t{1} << 53) + 1).print(), "9007199254740993");
  EXPECT_EQ(Json(std::numeric_limits<std::int64_t>::min()).print(), "-9223372036854775808");
  EXPECT_EQ(Json(std::numeric_limits<std::uint64_t>::max()).print(), "18446744073709551615");
}

TEST(Json, DoublesAreShortAndFinite) {
  EXPECT_EQ(Json(0.1).print(), "0.1");
  EXPECT_EQ(Json(3.0).print(), "3.0");
  EXPECT_EQ(Json(1e300).print(), "1e+300");
  EXPECT_EQ(Json(-0.0).print(), "-0.0");
  EXPECT_EQ(Json(std::numeric_limits<double>::quiet_NaN()).print(), "null");
  EXPECT_EQ(Json(-std::numeric_limits<double>::infinity()).print(), "null");
}

TEST(Json, TextsAreQuoted) {
  EXPECT_EQ(Json("\"a\\b\"\n\x1b µ").print(), R"("\"a\\b\"\n\u001b µ")");
  EXPECT_EQ(Json("a\xff"
                 "b")
                .print(),
            "\"a\uFFFDb\"");
  EXPECT_EQ(Json::object({{"a\xff", 1}}).print(), "{\"a\uFFFD\":1}");
}

TEST(Json, NullIsWhatIsNotKnown) {
  EXPECT_EQ(Json::or_null(0).print(), "null");
  EXPECT_EQ(Json::or_null(-1.5).print(), "null");
  EXPECT_EQ(Json::or_null(1.5).print(), "1.5");
  EXPECT_EQ(Json::or_null(std::int64_t{3}).print(), "3");
  EXPECT_EQ(Json::or_null("").print(), "null");
  EXPECT_EQ(Json::or_null("x").print(), R"("x")");
}

TEST(Json, WhatAVariantHolds) {
  using Cell = std::variant<std::monostate, std::int64_t, double, std::string>;
  EXPECT_EQ(Json::array(std::vector<Cell>{{}, std::int64_t{1}, 1.0, "one"}).print(), R"([null,1,1.0,"one"])");
}

TEST(Json, Arrays) {
  EXPECT_EQ(Json::array().print(), "[]");
  EXPECT_EQ(Json::array({1, "two", Json::array({nullptr})}).print(), R"([1,"two",[null]])");
  EXPECT_EQ(Json::array(std::vector{1.5, 2.0}).print(), "[1.5,2.0]");
  EXPECT_EQ(Json::array(std::vector{1, 2}, [](int i) { return Json::array({i, -i}); }).print(), "[[1,-1],[2,-2]]");
}

TEST(Json, MembersKeepTheirOrder) {
  Json json = Json::object({{"z", 1}, {"a", Json::object({{"deep", false}})}});
  json.set("b", "last");
  json.set("z", 2);
  EXPECT_EQ(json.print(), R"({"z":2,"a":{"deep":false},"b":"last"})");
  EXPECT_EQ(Json::object(std::map<std::string, int>{{"b", 1}, {"a", 2}}).print(), R"({"a":2,"b":1})");
}

TEST(Json, CopiesAreDeep) {
  Json one = Json::array({1});
  const Json copy = one;
  one.push_back(2);
  EXPECT_EQ(one.print(), "[1,2]");
  EXPECT_EQ(copy.print(), "[1]");
}

TEST(Json, Lines) {
  EXPECT_EQ(Json::object({{"a", Json::array({1, 2})}, {"b", Json::object()}}).print_lines(2),
            "{\n  \"a\": [\n    1,\n    2\n  ],\n  \"b\": {}\n}\n");
}

}  // namespace
}  // namespace deplo
