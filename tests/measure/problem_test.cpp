#include "measure/problem.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <set>

#include "measure/elements.h"
#include "measure/reference.h"
#include "scripted.h"

namespace deplo::measure {
namespace {

using testing::HasSubstr;

ir::Program matmul(std::int64_t m, std::int64_t n, std::int64_t k, const std::string& strides = "") {
  return ir::parse(
      "=== loop: matmul ===\n"
      "symbols M, N, K\n"
      "input a: f32[M, K]\n"
      "input b: f32[K, N]\n"
      "output c: f32[M, N]" +
          strides +
          "\n"
          "for a0 in 0..M: # free\n"
          "  for a1 in 0..N: # free\n"
          "    for a2 in 0..K: # reduce\n"
          "      in0 = load a[a0, a2]\n"
          "      in1 = load b[a2, a1]\n"
          "      v0 = multiply(in0, in1)\n"
          "      acc0 <- add(acc0, v0)\n"
          "    c[a0, a1] = acc0\n",
      {{"M", m}, {"N", n}, {"K", k}});
}

/// A matmul problem whose right result, in f32, is on the "device".
class MatmulProblem {
 public:
  MatmulProblem(std::int64_t m, std::int64_t n, std::int64_t k, const std::string& strides = "")
      : problem_(matmul(m, n, k, strides), device_, 5) {
    problem_.poison_outputs();
    auto& data = static_cast<ScriptedArrays&>(problem_.arrays()).data;
    const auto& c = problem_.loop().buffers[2];
    std::vector<float> row(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < m; ++i) {
      std::fill(row.begin(), row.end(), 0.0F);
      for (std::int64_t p = 0; p < k; ++p)
        for (std::int64_t j = 0; j < n; ++j) row[j] += data[0][i * k + p] * data[1][p * n + j];
      for (std::int64_t j = 0; j < n; ++j) data[2][i * c.strides[0] + j * c.strides[1]] = row[j];
    }
  }
  float& at(std::int64_t i, std::int64_t j) {
    const auto& c = problem_.loop().buffers[2];
    return static_cast<ScriptedArrays&>(problem_.arrays()).data[2][i * c.strides[0] + j * c.strides[1]];
  }
  std::optional<Failure> check(Coverage coverage = Coverage::whole) { return problem_.check(coverage); }
  Problem& problem() { return problem_; }

 private:
  ScriptedDevice device_;
  Problem problem_;
};

TEST(Problem, SmallOnesAreComparedInFull) {
  MatmulProblem matmul(13, 7, 5);
  EXPECT_EQ(matmul.problem().reference().outputs.at(0).elements.size(), 13U * 7);
  EXPECT_FALSE(matmul.check().has_value());
  for (std::int64_t i = 0; i < 13; ++i)
    for (std::int64_t j = 0; j < 7; ++j) {
      const float right = matmul.at(i, j);
      matmul.at(i, j) += 0.01F;
      EXPECT_TRUE(matmul.check().has_value()) << i << ", " << j;
      matmul.at(i, j) = right;
    }
  EXPECT_FALSE(matmul.check().has_value());
}

TEST(Problem, TheMessageSaysWhatWasExpected) {
  MatmulProblem matmul(4, 4, 3);
  matmul.at(2, 1) = 12;
  const Failure failure = matmul.check().value();
  EXPECT_EQ(failure.status, Status::wrong_result);
  EXPECT_THAT(failure.message,
              testing::MatchesRegex("c\\[2, 1\\]: expected -?[0-9.e-]+, found 12, error [0-9.]+ of the scale [0-9.]+ "
                                    "\\(1 of 16 compared are wrong\\)"));
}

TEST(Problem, NanAndPoisonAreWrong) {
  MatmulProblem matmul(4, 4, 3);
  matmul.at(3, 3) = std::nanf("");
  EXPECT_EQ(matmul.check()->message, "c[3, 3]: is NaN (1 of 16 elements)");
  EXPECT_TRUE(matmul.check(Coverage::prefix).has_value());
  matmul.problem().poison_outputs();
  EXPECT_EQ(matmul.check()->message, "c[0, 0]: not written (16 of 16 elements)");
  EXPECT_THAT(matmul.check(Coverage::prefix)->message, HasSubstr("none of the compared elements was written"));
}

TEST(Problem, APrefixIsComparedWhereItWrote) {
  MatmulProblem matmul(4, 4, 3);
  const float first = matmul.at(0, 0), second = matmul.at(0, 1);
  matmul.problem().poison_outputs();
  matmul.at(0, 0) = first;
  matmul.at(0, 1) = second;
  EXPECT_FALSE(matmul.check(Coverage::prefix).has_value());
  EXPECT_TRUE(matmul.check(Coverage::whole).has_value());
  matmul.at(0, 1) = second + 1;
  EXPECT_THAT(matmul.check(Coverage::prefix)->message, HasSubstr("(1 of 2 compared are wrong)"));
}

TEST(Problem, LargeOnesAreSampledCornersIncluded) {
  MatmulProblem matmul(33, 509, 777);
  const auto& elements = matmul.problem().reference().outputs.at(0).elements;
  EXPECT_GE(elements.size(), 64U);
  EXPECT_LT(elements.size(), 200U);
  EXPECT_FALSE(matmul.check().has_value());
  for (const auto& [i, j] : {std::pair{0, 0}, {32, 508}, {0, 508}, {32, 0}}) {
    const float right = matmul.at(i, j);
    matmul.at(i, j) *= 1.01F;
    EXPECT_TRUE(matmul.check().has_value()) << i << ", " << j;
    matmul.at(i, j) = right;
  }
  matmul.at(17, 201) = std::nanf("");  // a NaN is found also where nothing is compared
  EXPECT_TRUE(matmul.check().has_value());
}

TEST(Problem, AMissingTermOfALongSumIsFound) {
  MatmulProblem matmul(3, 5, 18944 * 16);  // far longer than any real one: rounding in f32 is still within the bound
  EXPECT_FALSE(matmul.check().has_value()) << matmul.check()->message;
  for (std::int64_t i = 0; i < 3; ++i)
    for (std::int64_t j = 0; j < 5; ++j) matmul.at(i, j) += 0.33F;  // the mean size of a term
  EXPECT_TRUE(matmul.check().has_value());
}

// Why the inputs are not small integers: those survive the rounding, and this would pass.
TEST(Problem, OperandsRoundedToTf32AreFound) {
  const auto tf32 = [](float value) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(value) + 0x1000;  // to 10 bits of mantissa, to the nearest
    return std::bit_cast<float>(bits & 0xffffe000U);
  };
  for (const std::int64_t k : {1, 16, 256, 4096}) {
    MatmulProblem matmul(8, 8, k);
    EXPECT_FALSE(matmul.check().has_value());
    const auto& data = static_cast<ScriptedArrays&>(matmul.problem().arrays()).data;
    for (std::int64_t i = 0; i < 8; ++i)
      for (std::int64_t j = 0; j < 8; ++j) {
        matmul.at(i, j) = 0;
        for (std::int64_t p = 0; p < k; ++p) matmul.at(i, j) += tf32(data[0][i * k + p]) * tf32(data[1][p * 8 + j]);
      }
    EXPECT_TRUE(matmul.check().has_value()) << k;
  }
}

TEST(Problem, StridedOutputsWithGaps) {
  MatmulProblem matmul(4, 3, 5, " strides=(1, 6)");  // two elements between columns belong to nobody and stay poison
  EXPECT_FALSE(matmul.check().has_value()) << matmul.check()->message;
  matmul.at(3, 2) += 1;
  EXPECT_THAT(matmul.check()->message, HasSubstr("c[3, 2]: expected"));
}

TEST(Problem, AKernelWithoutFiniteResultsIsAUsersMistake) {
  const ir::Program program = ir::parse(
      "=== loop: bad ===\n"
      "input a: f32[64]\n"
      "output b: f32[64]\n"
      "for a0 in 0..64: # free\n"
      "  in0 = load a[a0]\n"
      "  v0 = log(in0)\n"
      "  b[a0] = v0\n");
  ScriptedDevice device;
  Problem problem(program, device, 1);
  try {
    problem.check(Coverage::whole);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::StartsWith("kernel bad: expected finite results"));
    EXPECT_EQ(error.exit(), Exit::user);
  }
}

TEST(Problem, InputsDependOnTheSeedAndTheBufferOnly) {
  const ir::Program program = matmul(4, 4, 4);
  const auto a = random_input(program.buffers[0], 0, 1);
  EXPECT_EQ(a, random_input(program.buffers[0], 0, 1));
  EXPECT_NE(a, random_input(program.buffers[0], 0, 2));
  EXPECT_NE(a, random_input(program.buffers[0], 1, 1));
  EXPECT_NE(random_input(program.buffers[0], 1, 1), random_input(program.buffers[0], 0, 2));
  for (const float value : a) EXPECT_LE(std::abs(value), 1);
}

TEST(SamplePoints, DistinctInRangeWithAllCorners) {
  for (const std::vector<std::int64_t>& extents :
       {std::vector<std::int64_t>{512, 3584}, {1, 1}, {3}, {2, 3, 5, 7, 11, 13}, {}, {1000000}}) {
    const auto points = sample_points(extents, 9);
    EXPECT_EQ(points, sample_points(extents, 9));
    double elements = 1;
    for (const auto extent : extents) elements *= static_cast<double>(extent);
    EXPECT_GE(static_cast<double>(points.size()), std::min(elements, 64.0) * 0.9);
    EXPECT_EQ(std::set(points.begin(), points.end()).size(), points.size());
    for (const auto& point : points)
      for (std::size_t axis = 0; axis < extents.size(); ++axis) {
        EXPECT_GE(point[axis], 0);
        EXPECT_LT(point[axis], extents[axis]);
      }
    EXPECT_THAT(points, testing::Contains(std::vector<std::int64_t>(extents.size(), 0)));
  }
}

TEST(Elements, WalksStridesInOrder) {
  ir::Buffer buffer{"x", ir::DType::f32, ir::Role::output, {2, 3}, {1, 4}};
  std::vector<std::int64_t> offsets;
  for_each_element(buffer, [&](std::int64_t offset) { offsets.push_back(offset); });
  EXPECT_THAT(offsets, testing::ElementsAre(0, 4, 8, 1, 5, 9));
  EXPECT_EQ(element_name(buffer, 9), "x[1, 2]");
  buffer.shape = buffer.strides = {};
  offsets.clear();
  for_each_element(buffer, [&](std::int64_t offset) { offsets.push_back(offset); });
  EXPECT_THAT(offsets, testing::ElementsAre(0));
}

}  // namespace
}  // namespace deplo::measure
