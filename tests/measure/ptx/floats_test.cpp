// Elements of an exact arithmetic, encoded as bits of floats.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "ir/interpret/arithmetic/ring.h"
#include "ir/program.h"
#include "measure/ptx/floats.h"

namespace deplo::measure::ptx {
namespace {

std::uint32_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }

class PtxFloats : public ::testing::Test {
 protected:
  double negative(double x) const {
    double result = 0;
    ring_.apply(ir::Op::negative, 1, &result, &x, nullptr, nullptr);
    return result;
  }

  ir::Ring ring_{ir::Program{}};
};

TEST_F(PtxFloats, HaveOnePatternForEachElement) {
  Floats floats(ring_, {});
  for (const std::uint64_t seed : {1, 2, 3, 100'000}) {
    const double element = ir::Ring::element(seed);
    const std::uint32_t bits = floats.encode(element);
    EXPECT_TRUE(std::isnan(std::bit_cast<float>(bits)));
    EXPECT_EQ(floats.encode(element), bits);
    EXPECT_EQ(floats.decode(bits), element);
    EXPECT_EQ(floats.decode(bits ^ 0x80000000), negative(element));
    EXPECT_EQ(floats.encode(negative(element)), bits ^ 0x80000000);
    EXPECT_EQ(bits >> 31 != 0, std::signbit(element));
    EXPECT_NE(bits & 0xffff, 0U);  // patterns whose lower half is 0 are for elements of bf16
  }
  for (std::uint64_t seed = 0; seed < 200'000; ++seed) floats.encode(ir::Ring::element(seed));
  for (std::uint64_t seed = 0; seed < 200'000; ++seed)
    ASSERT_EQ(floats.decode(floats.encode(ir::Ring::element(seed))), ir::Ring::element(seed));
}

TEST_F(PtxFloats, KeepNumbersOfTheText) {
  Floats floats(ring_, std::array{0.1, 1e-6});
  EXPECT_EQ(floats.decode(bits_of(3)), ring_.constant(3));
  EXPECT_EQ(floats.decode(bits_of(-0.0F)), 0);
  EXPECT_EQ(floats.decode(bits_of(0.1F)), ring_.constant(0.1));
  EXPECT_EQ(floats.decode(bits_of(-1e-6F)), ring_.constant(-1e-6));
  EXPECT_EQ(floats.decode(bits_of(1.0F / 3)), ring_.constant(1.0 / 3));
  EXPECT_NE(floats.decode(bits_of(std::nextafter(0.1F, 1.0F))), ring_.constant(0.1));
  EXPECT_EQ(floats.encode(std::numeric_limits<double>::infinity()), bits_of(std::numeric_limits<float>::infinity()));
  EXPECT_TRUE(std::isnan(floats.decode(floats.encode(std::numeric_limits<double>::quiet_NaN()))));
  EXPECT_EQ(floats.encode(0), 0U);
}

TEST_F(PtxFloats, RefuseTwoConstantsOfOneF32) {
  EXPECT_THROW(Floats(ring_, std::array{1e-6, 1e-6 * (1 + 1e-12)}), Unproved);
}

TEST_F(PtxFloats, OfABf16StandInTheUpperHalfOfAnF32) {
  Floats floats(ring_, {});
  Function text;
  Operand one;
  one.kind = Operand::Kind::number;
  one.bits = 1;
  text.statements.emplace_back().operands = {one};
  floats.reserve(text);
  const double element = ir::Ring::element(7);
  const std::uint16_t bits = floats.encode(element, ir::DType::bf16);
  EXPECT_EQ(bits, 2);  // 1 is taken, because the text contains it
  EXPECT_EQ(floats.encode(element, ir::DType::bf16), bits);
  EXPECT_EQ(floats.decode(bits, ir::DType::bf16), element);
  EXPECT_EQ(floats.decode(std::uint32_t{bits} << 16), element);
  // A pattern that was decoded as a number never becomes an element.
  EXPECT_EQ(floats.decode(std::uint32_t{3} << 16), floats.decode(std::uint16_t{3}, ir::DType::bf16));
  EXPECT_EQ(floats.encode(ir::Ring::element(8), ir::DType::bf16), 4);
}

TEST_F(PtxFloats, SayThatPatternsRunOut) {
  Floats floats(ring_, {});
  const auto fill = [&] {
    for (std::uint64_t seed = 0; seed < 70'000; ++seed) floats.encode(ir::Ring::element(seed), ir::DType::f16);
  };
  EXPECT_THROW(fill(), Unproved);
}

}  // namespace
}  // namespace deplo::measure::ptx
