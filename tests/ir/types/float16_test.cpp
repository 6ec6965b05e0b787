#include "ir/types/float16.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "core/rng.h"
#include "ir/types/special_floats.h"

namespace deplo::ir {
namespace {

constexpr std::array float16s = {DType::f16, DType::bf16};
constexpr double infinity = std::numeric_limits<double>::infinity();

/// Rounds by the definition of the formats, in double: to the nearest multiple of the spacing, ties to even.
double by_definition(double value, DType dtype) {
  if (value == 0 || !std::isfinite(value)) return value;
  const int bits = dtype == DType::f16 ? 11 : 8, least = dtype == DType::f16 ? -14 : -126;
  const double largest = dtype == DType::f16 ? 65504 : 0x1.FEp127;
  const double spacing = std::ldexp(1, std::max(std::ilogb(value), least) - (bits - 1));
  const double nearest = std::nearbyint(value / spacing) * spacing;
  return std::fabs(nearest) > largest ? std::copysign(infinity, value) : nearest;
}

std::uint64_t pattern(double value) { return std::bit_cast<std::uint64_t>(value); }

TEST(Float16, EveryPatternIsANumberThatReadsBack) {
  for (const DType dtype : float16s)
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
      const auto pattern = static_cast<std::uint16_t>(bits);
      const float value = float16_value(pattern, dtype);
      if (std::isnan(value)) {
        EXPECT_TRUE(std::isnan(float16_value(float16_bits(value, dtype), dtype))) << name(dtype) << " " << bits;
        EXPECT_EQ(float16_bits(value, dtype) & 0x8000, pattern & 0x8000);
      } else {
        ASSERT_EQ(float16_bits(value, dtype), pattern) << name(dtype) << " " << value;
      }
    }
  EXPECT_EQ(float16_value(0x0001, DType::f16), 0x1p-24F);
  EXPECT_EQ(float16_value(0x03ff, DType::f16), 0x3ffp-24F);
  EXPECT_EQ(float16_value(0x7bff, DType::f16), 65504.0F);
  EXPECT_EQ(float16_value(0x3c00, DType::f16), 1.0F);
  EXPECT_EQ(float16_value(0x3f80, DType::bf16), 1.0F);
  EXPECT_EQ(float16_value(0x0001, DType::bf16), 0x1p-133F);
}

// Converting many elements gives the same results as converting each one.
TEST(Float16, ManyAreConvertedAsEachIs) {
  for (const DType dtype : float16s) {
    std::vector<std::uint16_t> all(0x10000), back(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint16_t>(i);
    std::vector<float> values(all.size());
    load_float16(std::as_bytes(std::span(all)).data(), dtype, values);
    store_float16(values, dtype, std::as_writable_bytes(std::span(back)).data());
    for (std::size_t i = 0; i < all.size(); ++i) {
      EXPECT_EQ(std::bit_cast<std::uint32_t>(values[i]), std::bit_cast<std::uint32_t>(float16_value(all[i], dtype)));
      EXPECT_EQ(back[i], float16_bits(values[i], dtype));
    }
  }
}

TEST(SpecialFloats, AreCountedWhereverTheyAre) {
  const auto count = [](auto words, DType dtype) {
    const auto bytes = std::as_bytes(std::span(words));
    return count_special_floats({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, dtype);
  };
  const auto expect = [&](auto infinity, DType dtype) {
    using Word = decltype(infinity);
    constexpr Word sign = static_cast<Word>(Word{1} << (8 * sizeof(Word) - 1));
    for (const std::size_t size : {1, 7, 1023, 1024, 1025, 5000})
      for (std::size_t at = 0; at < size; at += 1 + size / 50) {
        std::vector<Word> words(size, infinity);
        words[size / 2] = static_cast<Word>(infinity | sign);
        EXPECT_EQ(count(words, dtype).nans, 0U);
        words[at] = static_cast<Word>(infinity + 1);
        EXPECT_EQ(count(words, dtype).nans, 1U);
        words[at] = static_cast<Word>(words[at] | sign);
        EXPECT_EQ(count(words, dtype).nans, 1U);
        EXPECT_EQ(count(words, dtype).all_ones, 0U);
        words[at] = static_cast<Word>(~Word{0});
        EXPECT_EQ(count(words, dtype).nans, 1U);
        EXPECT_EQ(count(words, dtype).all_ones, 1U);
        words.assign(size, static_cast<Word>(~Word{0}));
        EXPECT_EQ(count(words, dtype).nans, size);
        EXPECT_EQ(count(words, dtype).all_ones, size);
      }
  };
  expect(std::uint16_t{0x7c00}, DType::f16);
  expect(std::uint16_t{0x7f80}, DType::bf16);
  expect(std::uint32_t{0x7f800000}, DType::f32);
  expect(std::uint64_t{0x7ff0000000000000}, DType::f64);
}

// Checks three values between every two neighbours: just below the midpoint, the midpoint, and just above it.
TEST(Float16, RoundsToTheNearestAndTiesToEven) {
  for (const DType dtype : float16s)
    for (std::uint32_t bits = 0; bits < 0x7fff; ++bits) {
      const double low = float16_value(static_cast<std::uint16_t>(bits), dtype),
                   high = float16_value(static_cast<std::uint16_t>(bits + 1), dtype);
      if (!std::isfinite(low) || !std::isfinite(high)) continue;
      const double middle = (low + high) / 2, even = bits % 2 == 0 ? low : high;
      for (const double sign : {1.0, -1.0}) {
        ASSERT_EQ(rounded(sign * std::nextafter(middle, low), dtype), sign * low);
        ASSERT_EQ(pattern(rounded(sign * middle, dtype)), pattern(sign * even)) << name(dtype) << " " << middle;
        ASSERT_EQ(rounded(sign * std::nextafter(middle, high), dtype), sign * high);
      }
    }
  EXPECT_EQ(rounded(65519.999, DType::f16), 65504);
  EXPECT_EQ(rounded(65520, DType::f16), infinity);
  EXPECT_EQ(rounded(-1e300, DType::bf16), -infinity);
  EXPECT_EQ(pattern(rounded(-1e-300, DType::f16)), pattern(-0.0));
  EXPECT_TRUE(std::isnan(rounded(NAN, DType::bf16)));
  EXPECT_EQ(rounded(0.1, DType::f32), static_cast<double>(0.1F));
  EXPECT_EQ(rounded(0.1, DType::i32), 0.1);
}

TEST(Float16, RandomDoublesAreRoundedOnce) {
  Rng rng(1);
  for (int i = 0; i < 200'000; ++i) {
    const double value = std::ldexp(rng.uniform(-2, 2), static_cast<int>(rng.below(300)) - 160);
    for (const DType dtype : float16s)
      ASSERT_EQ(pattern(rounded(value, dtype)), pattern(by_definition(value, dtype))) << name(dtype) << " " << value;
  }
}

TEST(Float16, Tf32IsRoundedAwayFromZeroAtTies) {
  for (const double sign : {1.0, -1.0}) {
    EXPECT_EQ(rounded_tf32(sign * (1 + 0x1p-11)), sign * (1 + 0x1p-10)) << "halfway";
    EXPECT_EQ(rounded_tf32(sign * (1 + 0x1p-11 - 0x1p-40)), sign) << "no f32: rounded once";
    EXPECT_EQ(rounded_tf32(sign * (1 + 0x3p-11)), sign * (1 + 0x1p-9));
    EXPECT_EQ(rounded_tf32(sign * (2 - 0x1p-12)), sign * 2);
    EXPECT_EQ(rounded_tf32(sign * infinity), sign * infinity);
    EXPECT_EQ(rounded_tf32(sign * 0.0), 0);
  }
  EXPECT_TRUE(std::isnan(rounded_tf32(std::nan(""))));
  Rng rng(3);
  for (int i = 0; i < 100'000; ++i) {
    const double value = std::ldexp(rng.uniform(-2, 2), static_cast<int>(rng.below(200)) - 100);
    const double found = rounded_tf32(value), unit = std::ldexp(1, std::ilogb(value) - 10);
    ASSERT_LE(std::abs(found - value), unit / 2) << value;
    ASSERT_LE(std::abs(found - value), tf32_roundoff * std::abs(value)) << value;
    ASSERT_EQ(std::fmod(found, unit), 0) << value;
    ASSERT_EQ(rounded_tf32(found), found);
  }
}

TEST(Float16, AStoredErrorIsTheDistanceToWhatRoundsSo) {
  EXPECT_EQ(stored_error(1.003, 1.0F, DType::bf16), 0);       // the midpoint to the next number is 1 + 2^-8
  EXPECT_EQ(stored_error(1 + 0x1p-8, 1.0F, DType::bf16), 0);  // a tie, 1 is even
  EXPECT_EQ(stored_error(1 + 0x1.8p-8, 1.0F, DType::bf16), 0x1p-9);
  EXPECT_EQ(stored_error(1 - 0x1p-8, 1.0F, DType::bf16), 0x1p-9);  // below a power of 2, numbers are closer together
  EXPECT_EQ(stored_error(65530, 65504.0F, DType::f16), 10);
  EXPECT_EQ(stored_error(65000, std::numeric_limits<float>::infinity(), DType::f16), 520);
  EXPECT_EQ(stored_error(0x1p-24, 0.0F, DType::f16), 0x1p-25);
  EXPECT_EQ(stored_error(0.5, std::nanf(""), DType::f16), infinity);
  EXPECT_EQ(stored_error(0.5, 0.75F, DType::f32), 0.25);
  Rng rng(2);
  for (int i = 0; i < 100'000; ++i)
    for (const DType dtype : float16s) {
      const double value = rng.uniform(-3, 3), off = value + rng.uniform(-0.1, 0.1);
      const auto found = static_cast<float>(rounded(off, dtype));
      const double error = stored_error(value, found, dtype);
      ASSERT_LE(error, std::abs(off - value)) << name(dtype) << " " << value << " " << found;
      ASSERT_EQ(error == 0, rounded(value, dtype) == static_cast<double>(found));
      // The edge of the interval that rounds to `found`. The edge itself may be outside.
      const double least = value + (static_cast<double>(found) < value ? -error : error);
      const double beyond = std::nextafter(least, static_cast<double>(found));
      ASSERT_TRUE(rounded(least, dtype) == static_cast<double>(found) ||
                  rounded(beyond, dtype) == static_cast<double>(found))
          << name(dtype) << " " << value << " " << found;
    }
}

}  // namespace
}  // namespace deplo::ir
