#include "ir/types/integers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>

#include "core/error.h"
#include "ir/types/numbers.h"

namespace deplo::ir {
namespace {

constexpr double low = -0x1p31, high = 0x1p31 - 1;

double i32(Op op, double a, double b) { return apply_integer(op, std::array{a, b}, DType::i32); }
double i64(Op op, double a, double b) { return apply_integer(op, std::array{a, b}, DType::i64); }

TEST(Integers, OfThirtyTwoBitsWrap) {
  EXPECT_EQ(i32(Op::add, high, 1), low);
  EXPECT_EQ(i32(Op::subtract, low, 1), high);
  EXPECT_EQ(i32(Op::multiply, 65536, 65536), 0);
  EXPECT_EQ(i32(Op::multiply, high, high), 1) << "a product that no double holds";
  EXPECT_EQ(apply_integer(Op::negative, std::array{low}, DType::i32), low);
  EXPECT_EQ(apply_integer(Op::absolute, std::array{low}, DType::i32), low);
  EXPECT_EQ(i32(Op::maximum, low, -std::numeric_limits<double>::infinity()), low);
}

TEST(Integers, OfSixtyFourBitsAreExactOrRefused) {
  EXPECT_EQ(i64(Op::add, high, 1), 0x1p31);
  EXPECT_EQ(i64(Op::multiply, 3e9, 3e6), 9e15);
  EXPECT_EQ(i64(Op::subtract, 0x1p53, 1), 0x1p53 - 1);
  EXPECT_THROW(i64(Op::add, 0x1p53, 2), Error);
  EXPECT_THROW(i64(Op::multiply, 0x1p32, 0x1p32), Error);
  EXPECT_EQ(i64(Op::add, -0x1p63, 8), -0x1p63) << "of a real number that is no integer, as in evaluate()";
  EXPECT_THROW(i64(Op::subtract, 0, -0x1p63), Error);
  EXPECT_EQ(i64(Op::maximum, -0x1p63, 5), 5) << "nothing is calculated";
  EXPECT_EQ(i64(Op::less, -0x1p63, 5), 1);
}

TEST(Integers, Conversions) {
  EXPECT_EQ(to_integer(-2.9, DType::f32, DType::i32), -2);
  for (const double beyond : {3e9, -3e9, 1e30, -1e30, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_EQ(to_integer(beyond, DType::f32, DType::i32), low) << beyond;
  EXPECT_EQ(to_integer(3e9, DType::f32, DType::i64), 3e9);
  EXPECT_EQ(to_integer(300.7, DType::f32, DType::u8), 44);
  EXPECT_EQ(to_integer(-1.5, DType::f32, DType::u8), 255);
  EXPECT_EQ(to_integer(3e9, DType::f32, DType::i16), 0);  // the low bits of -2^31
  EXPECT_EQ(to_integer(200, DType::i64, DType::i8), -56);
  EXPECT_EQ(to_integer(0x1p32 + 40000, DType::i64, DType::i16), 40000 - 65536);
  EXPECT_EQ(to_integer(1e30, DType::f32, DType::i64), -0x1p63);
  EXPECT_EQ(to_integer(0x1p32 + 7, DType::i64, DType::i32), 7);
  EXPECT_EQ(to_integer(0x1p31, DType::i64, DType::i32), low);
}

TEST(Numbers, KeepWhatTheirTypeHolds) {
  constexpr std::int64_t odd = (std::int64_t{1} << 53) + 1;
  Numbers wide(DType::i64, 2), narrow(DType::i32, 3);
  wide.set(0, Numbers(std::vector<std::int64_t>{odd}), 0);
  EXPECT_EQ(wide.integers()[0], odd);
  narrow.set(0, low);
  narrow.set(1, 1e30);
  narrow.set(2, std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(narrow, (std::vector<std::int32_t>{static_cast<std::int32_t>(low), static_cast<std::int32_t>(high), 0}));
  EXPECT_EQ(narrow.as(DType::i64).integers()[0], static_cast<std::int64_t>(low));
  EXPECT_NE(Numbers(std::vector<std::int64_t>{odd}), Numbers(std::vector<std::int64_t>{odd - 1}));
}

TEST(Numbers, OfEachWidthAreTheNearestThatTheTypeHolds) {
  struct Case {
    DType dtype;
    double least, most;
  };
  for (const auto& [dtype, least, most] :
       {Case{DType::i8, -128, 127}, Case{DType::u8, 0, 255}, Case{DType::i16, -32768, 32767},
        Case{DType::u16, 0, 65535}, Case{DType::u32, 0, 0x1p32 - 1}, Case{DType::u64, 0, 0x1p64}}) {
    Numbers numbers(dtype, 3);
    numbers.set(0, least - 0.75);
    numbers.set(1, most + 0.75);
    numbers.set(2, 2.6);
    EXPECT_EQ(numbers.doubles(), (std::vector<double>{least, most, 3})) << name(dtype);
    // Integers of other types are converted directly, without a double in between.
    const Numbers wide(std::vector<std::int64_t>{-1, 7, std::numeric_limits<std::int64_t>::max()});
    const Numbers narrow = wide.as(dtype);
    EXPECT_EQ(narrow[0], std::max(least, -1.0)) << name(dtype);
    EXPECT_EQ(narrow[1], 7) << name(dtype);
    EXPECT_EQ(narrow[2], dtype == DType::u64 ? 0x1p63 : most) << name(dtype);
    EXPECT_NE(narrow, wide) << name(dtype);
  }
  Numbers real(DType::f64, 1);
  real.set(0, 0.1);
  EXPECT_EQ(real[0], 0.1) << "which no float is";
}

}  // namespace
}  // namespace deplo::ir
