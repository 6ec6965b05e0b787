#include "core/trail.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "core/error.h"
#include "core/outcome.h"
#include "core/rng.h"

namespace deplo {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

Choice integer(std::string knob, std::int64_t value) { return {std::move(knob), value}; }
Choice word(std::string knob, std::string value) { return {std::move(knob), std::move(value)}; }

TEST(Trail, PrintsChoicesInOrder) {
  EXPECT_EQ(print(Trail{}), "");
  EXPECT_EQ(print(Trail{integer("chunk_matmul_k.bk", 32), word("permute_reg_tile.order", "km")}),
            "chunk_matmul_k.bk=32 permute_reg_tile.order=km");
}

TEST(Trail, DigitsWithAnOptionalMinusAreIntegers) {
  EXPECT_EQ(parse_trail("a=32 b=-7 c=0"), (Trail{integer("a", 32), integer("b", -7), integer("c", 0)}));
  EXPECT_EQ(parse_trail("a=- b=1.5 c=3x d=+1 e=x=y"),
            (Trail{word("a", "-"), word("b", "1.5"), word("c", "3x"), word("d", "+1"), word("e", "x=y")}));
}

TEST(Trail, DigitsBeyond64BitsAreText) {
  EXPECT_EQ(parse_value("9223372036854775807"), Value(std::numeric_limits<std::int64_t>::max()));
  EXPECT_EQ(parse_value("-9223372036854775808"), Value(std::numeric_limits<std::int64_t>::min()));
  for (const char* text : {"9223372036854775808", "-9223372036854775809", "99999999999999999999", "", "-", "4 "}) {
    EXPECT_EQ(parse_value(text), Value(text)) << text;
    EXPECT_EQ(print(parse_value(text)), text);
  }
  EXPECT_EQ(parse_trail("a=9223372036854775808"), Trail{word("a", "9223372036854775808")});
}

TEST(Trail, AnyBlanksSeparate) {
  EXPECT_EQ(parse_trail(" \t"), Trail{});
  EXPECT_EQ(parse_trail("\n a=1\t\tb=2 \r\n"), (Trail{integer("a", 1), integer("b", 2)}));
}

TEST(Trail, BadWordsAreNamed) {
  for (const char* bad : {"bm", "=64", "bm=", "="})
    EXPECT_THAT([&] { parse_trail("a=1 " + std::string(bad) + " c=3"); },
                ThrowsMessage<Error>(HasSubstr("'" + std::string(bad) + "'")));
}

TEST(Trail, RoundTrip) {
  Rng rng(1);
  const std::string letters = "abcz_.09-=";
  for (int round = 0; round < 2000; ++round) {
    Trail trail;
    for (std::uint64_t n = rng.below(6); n > 0; --n) {
      std::string text = "v";  // begins with a letter, because digits alone are integers
      for (std::uint64_t k = rng.below(8); k > 0; --k) text += letters[rng.below(letters.size())];
      const std::string knob = "rule_" + std::to_string(rng.below(9)) + ".knob";
      trail.push_back(rng.below(2) == 0 ? word(knob, text) : integer(knob, static_cast<std::int64_t>(rng.next())));
    }
    EXPECT_EQ(parse_trail(print(trail)), trail) << print(trail);
  }
  const Trail extremes{integer("low", std::numeric_limits<std::int64_t>::min()),
                       integer("high", std::numeric_limits<std::int64_t>::max())};
  EXPECT_EQ(parse_trail(print(extremes)), extremes);
}

TEST(Outcome, StatusNamesRoundTrip) {
  for (int i = 0; i <= static_cast<int>(Status::timeout); ++i) {
    const auto status = static_cast<Status>(i);
    EXPECT_EQ(parse_status(status_name(status)), status);
  }
  EXPECT_EQ(status_name(Status::wrong_result), "wrong_result");
  EXPECT_THAT([] { parse_status("fine"); }, ThrowsMessage<Error>(HasSubstr("'fine'")));
  EXPECT_THAT([] { parse_status("fine"); }, ThrowsMessage<Error>(HasSubstr("build_error")));
}

}  // namespace
}  // namespace deplo
