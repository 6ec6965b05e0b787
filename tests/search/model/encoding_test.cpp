// Coordinates, computed by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "search/model/encoding.h"

namespace deplo::search::model {
namespace {

using ::testing::FloatNear;
using ::testing::Pointwise;

std::vector<float> point(Encoding& encoding, const char* trail) {
  const Codes codes = encoding.codes(parse_trail(trail));
  std::vector<float> out(encoding.dimensions().size());
  encoding.point(codes, out.data());
  return out;
}

TEST(Encoding, NumbersAreHalfLogHalfRank) {
  Encoding encoding;
  for (const char* trail : {"a=4", "a=1", "a=2", "a=16"}) encoding.codes(parse_trail(trail));
  EXPECT_THAT(point(encoding, "a=1"), Pointwise(FloatNear(1e-6F), {0.0F}));
  EXPECT_THAT(point(encoding, "a=4"), Pointwise(FloatNear(1e-6F), {0.5F * 0.5F + 0.5F * 2 / 3}));
  EXPECT_THAT(point(encoding, "a=16"), Pointwise(FloatNear(1e-6F), {1.0F}));
}

TEST(Encoding, FactorsOfTwoWhereNotAllArePowers) {
  Encoding encoding;
  for (const char* trail : {"a=16", "a=24", "a=32"}) encoding.codes(parse_trail(trail));
  const float log = std::log(24.0F / 16) / std::log(2.0F);
  EXPECT_THAT(point(encoding, "a=24"), Pointwise(FloatNear(1e-6F), {0.5F * log + 0.25F, 0.7F * 3 / 5}));
}

TEST(Encoding, SwitchesZerosTextsAndConstants) {
  Encoding encoding;
  for (const char* trail : {"a=0 b=0 c=x d=7", "a=1 b=5 c=y d=7", "a=1 b=2 c=z d=7"})
    encoding.codes(parse_trail(trail));
  const float half = std::sqrt(0.5F);
  EXPECT_THAT(point(encoding, "a=1 b=2 c=y d=7"), Pointwise(FloatNear(1e-6F), {1.0F, 0.5F, 0.7F, 0.0F, half, 0.0F}));
  EXPECT_THAT(encoding.dimensions(), ::testing::ElementsAre(0, 1, 1, 2, 2, 2));
}

// Recorded spaces have up to 65,536 values per knob.
TEST(Encoding, ManyTextsShareDimensions) {
  Encoding encoding;
  for (int i = 0; i < 40000; ++i) encoding.codes(parse_trail("kernel=name" + std::to_string(i)));
  ASSERT_EQ(encoding.dimensions().size(), 256U);
  for (const char* other : {"kernel=name1", "kernel=name1234", "kernel=name39999"}) {
    const std::vector<float> a = point(encoding, "kernel=name0"), b = point(encoding, other);
    double squares = 0;
    for (std::size_t d = 0; d < a.size(); ++d) squares += std::pow(a[d] - b[d], 2);
    EXPECT_NEAR(squares, 1, 0.3) << other;  // 5 standard deviations
  }
}

TEST(Encoding, AbsentIsAValueOfItsOwn) {
  Encoding encoding;
  const Codes first = encoding.codes(parse_trail("a=0 b=1"));
  const Codes second = encoding.codes(parse_trail("a=1"));
  EXPECT_THAT(point(encoding, "a=0 b=3"), Pointwise(FloatNear(1e-6F), {0.0F, 1.0F, 1.0F}));
  EXPECT_THAT(point(encoding, "a=1"), Pointwise(FloatNear(1e-6F), {1.0F, 0.5F, 0.0F}));
  EXPECT_EQ(encoding.codes(parse_trail("a=1")), second) << "codes stay as knobs are met";
  EXPECT_EQ(encoding.codes(parse_trail("a=0 b=1")), first);
}

TEST(Encoding, VersionRisesWithEveryNews) {
  Encoding encoding;
  std::size_t version = encoding.version();
  for (const char* trail : {"a=0 b=0", "a=1 b=0", "a=0 b=0 c=1", "a=0"}) {
    encoding.codes(parse_trail(trail));
    EXPECT_GT(encoding.version(), version) << trail;
    version = encoding.version();
    encoding.codes(parse_trail(trail));
    EXPECT_EQ(encoding.version(), version) << trail;
  }
}

}  // namespace
}  // namespace deplo::search::model
