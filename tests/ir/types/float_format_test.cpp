// Floating-point formats: numbers and their bits.
#include "ir/types/float_format.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "core/rng.h"
#include "ir/types/float16.h"

namespace deplo::ir::tile_program {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(Elements, EveryBitPatternReadsBack) {
  for (const DType e :
       {DType::f16, DType::bf16, DType::f8e4m3fn, DType::f8e5m2, DType::f8e8m0fnu, DType::f4e2m1fn, DType::tf32})
    for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << width(e)); ++bits) {
      const double value = decode_float(bits, e);
      if (std::isnan(value)) continue;
      ASSERT_EQ(encode_float(value, e), bits) << name(e) << " " << bits;
      ASSERT_EQ(round_to(value, e), value) << name(e) << " " << bits;
    }
}

TEST(Elements, RoundsAsTheOtherRooms16Bits) {
  Rng rng(1);
  for (int i = 0; i < 20000; ++i) {
    const double value = static_cast<float>(std::ldexp(rng.uniform(-1, 1), static_cast<int>(rng.below(60)) - 30));
    ASSERT_EQ(round_to(value, DType::f16), rounded(value, DType::f16)) << value;
    ASSERT_EQ(round_to(value, DType::bf16), rounded(value, DType::bf16)) << value;
    ASSERT_EQ(encode_float(value, DType::f16), float16_bits(static_cast<float>(value), DType::f16)) << value;
  }
}

TEST(Elements, RoundsInEveryMode) {
  const double third = 1.0 / 3, ulp = 0x1p-25;  // spacing of f32 near 1/3
  EXPECT_EQ(round_to(third, DType::f32, Rounding::nearest_even), static_cast<double>(1.0F / 3));
  EXPECT_EQ(round_to(third, DType::f32, Rounding::positive_inf) - round_to(third, DType::f32, Rounding::zero), ulp);
  EXPECT_EQ(round_to(-third, DType::f32, Rounding::negative_inf), -round_to(third, DType::f32, Rounding::positive_inf));
  EXPECT_EQ(round_to(1.0, DType::f32, Rounding::zero, -1), 1.0 - 0x1p-24);  // the exact number is a little less
  EXPECT_EQ(round_to(1.0, DType::f64, Rounding::positive_inf, 1), std::nextafter(1.0, 2.0));
  EXPECT_EQ(round_to(1.0 + 0x1p-24, DType::f32, Rounding::nearest_even, 1), 1.0 + 0x1p-23);  // no longer a tie
  EXPECT_EQ(round_to(1.0 + 0x1p-24, DType::f32, Rounding::nearest_even), 1.0);
}

TEST(Elements, BeyondTheLargest) {
  EXPECT_EQ(round_to(1e30, DType::f16), infinity);
  EXPECT_EQ(round_to(1e30, DType::f16, Rounding::zero), 65504);
  EXPECT_EQ(round_to(-1e30, DType::f16, Rounding::positive_inf), -65504);
  EXPECT_TRUE(std::isnan(round_to(1e30, DType::f8e4m3fn)));
  EXPECT_EQ(round_to(1e30, DType::f8e5m2), infinity);
  EXPECT_EQ(round_to(-1e30, DType::f4e2m1fn), -6);
  EXPECT_EQ(round_to(3e38, DType::f32), static_cast<double>(3e38F));
  EXPECT_EQ(round_to(4e38, DType::f32), infinity);
  EXPECT_EQ(round_to(65519.99, DType::f16), 65504);
  EXPECT_EQ(round_to(65520, DType::f16), infinity);
}

TEST(Elements, Subnormals) {
  EXPECT_EQ(round_to(0x1p-149, DType::f32), 0x1p-149);
  EXPECT_EQ(round_to(0x1p-151, DType::f32), 0);
  EXPECT_EQ(round_to(0x1.8p-24, DType::f16), 0x1p-23);  // a tie between 1 and 2 times the least number: to even
  EXPECT_TRUE(std::signbit(round_to(-0x1p-200, DType::f32)));
}

TEST(Elements, Integers) {
  EXPECT_EQ(wrap(0x1FF, 8), 0xFFU);
  EXPECT_EQ(as_signed(0xFF, 8), -1);
  EXPECT_EQ(as_signed(1, 1), -1);
  EXPECT_EQ(as_signed(~0ULL, 64), -1);
  EXPECT_EQ(wrap(~0ULL, 64), ~0ULL);
}

}  // namespace
}  // namespace deplo::ir::tile_program
