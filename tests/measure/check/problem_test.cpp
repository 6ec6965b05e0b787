#include "measure/protocol/problem.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <set>
#include <span>

#include "core/rng.h"
#include "ir/types/float16.h"
#include "measure/check/elements.h"
#include "measure/check/inputs.h"
#include "measure/check/reference.h"
#include "measure/host_arrays.h"
#include "measure/scripted.h"

namespace deplo::measure {
namespace {

using ::testing::HasSubstr;

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

/// A matmul problem. Its output array on the "device" holds the correct result, computed in f32.
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
              ::testing::MatchesRegex("c\\[2, 1\\]: expected -?[0-9.e-]+, found 12, error [0-9.]+ of the scale [0-9.]+ "
                                      "\\(1 of 16 compared are wrong\\)"));
}

TEST(Problem, NanAndPoisonAreWrong) {
  MatmulProblem matmul(4, 4, 3);
  matmul.at(3, 3) = std::nanf("");
  EXPECT_THAT(matmul.check()->message, HasSubstr("c[3, 3]: expected 0.34"));
  EXPECT_THAT(matmul.check()->message, HasSubstr("found nan, error inf"));
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
  matmul.at(17, 201) = std::nanf("");  // a NaN is found even in an element that is not compared
  EXPECT_TRUE(matmul.check().has_value());
}

TEST(Problem, AMissingTermOfALongSumIsFound) {
  MatmulProblem matmul(3, 5, 18944 * 16);  // longer than any real sum; f32 rounding must stay within the bound
  EXPECT_FALSE(matmul.check().has_value()) << matmul.check()->message;
  for (std::int64_t i = 0; i < 3; ++i)
    for (std::int64_t j = 0; j < 5; ++j) matmul.at(i, j) += 0.33F;  // the mean size of a term
  EXPECT_TRUE(matmul.check().has_value());
}

// This is why inputs are not small integers: rounding to tf32 would not change them, so the fault would not be found.
TEST(Problem, OperandsRoundedToTf32AreFound) {
  const auto tf32 = [](float value) {
    // Rounds to the nearest number with a 10-bit mantissa.
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(value) + 0x1000;
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

// If a kernel allows tf32, operands rounded to tf32 are right, but all other faults are found.
TEST(Problem, FaultsOfTf32KernelsAreFound) {
  for (const std::int64_t k : {1, 16, 256, 4096}) {
    const std::int64_t m = 64, n = 64;
    ir::Program loop = matmul(m, n, k);
    loop.allow_tf32 = true;
    ScriptedDevice device;
    Problem problem(loop, device, 5);
    auto& data = static_cast<ScriptedArrays&>(problem.arrays()).data;
    enum class Fault { none, missing, doubled, row, bf16 };
    const auto check = [&](Fault fault) {
      const auto factor = [&](float value) {
        const double exact = static_cast<double>(value);
        return static_cast<float>(fault == Fault::bf16 ? ir::rounded(exact, ir::DType::bf16) : ir::rounded_tf32(exact));
      };
      for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
          const std::int64_t row = fault == Fault::row ? (i + 1) % m : i;
          float sum = 0;
          for (std::int64_t p = fault == Fault::missing ? 1 : 0; p < k; ++p)
            sum += (p == 0 && fault == Fault::doubled ? 2.0F : 1.0F) * factor(data[0][row * k + p]) *
                   factor(data[1][p * n + j]);
          data[2][i * n + j] = sum;
        }
      return problem.check(Coverage::whole);
    };
    const auto right = check(Fault::none);
    EXPECT_FALSE(right.has_value()) << k << ": " << right->message;
    for (const Fault fault : {Fault::missing, Fault::doubled, Fault::row, Fault::bf16})
      EXPECT_TRUE(check(fault).has_value()) << k << " " << static_cast<int>(fault);
  }
}

// A 16-bit element is compared with all numbers that round to it. This does not make the check less strict.
TEST(Problem, FaultsOfSixteenBitKernelsAreFound) {
  for (const ir::DType dtype : {ir::DType::f16, ir::DType::bf16}) {
    const std::int64_t m = 16, n = 16, k = 512;
    ir::Program loop = matmul(m, n, k);
    for (ir::Buffer& buffer : loop.buffers) buffer.dtype = dtype;
    ScriptedDevice device;
    Problem problem(loop, device, 5);
    auto& data = static_cast<ScriptedArrays&>(problem.arrays()).data;
    const auto store = [&](const std::function<float(std::int64_t, std::int64_t)>& element) {
      for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n; ++j) data[2][static_cast<std::size_t>(i * n + j)] = element(i, j);
    };
    const auto rounded = [&](double value) { return static_cast<float>(ir::rounded(value, dtype)); };
    const auto a = [&](std::int64_t i, std::int64_t p) { return data[0][static_cast<std::size_t>(i * k + p)]; };
    const auto b = [&](std::int64_t p, std::int64_t j) { return data[1][static_cast<std::size_t>(p * n + j)]; };
    const auto sum = [&](std::int64_t i, std::int64_t j, std::int64_t terms) {
      float total = 0;
      for (std::int64_t p = 0; p < terms; ++p) total += a(i, p) * b(p, j);
      return static_cast<double>(total);
    };
    for (const float value : data[0])
      ASSERT_EQ(value, rounded(static_cast<double>(value))) << "the inputs have 16 bits";
    store([&](auto i, auto j) { return rounded(sum(i, j, k)); });
    EXPECT_FALSE(problem.check(Coverage::whole).has_value()) << problem.check(Coverage::whole)->message;
    store([&](auto i, auto j) { return rounded(sum(i, j, k - 1)); });
    EXPECT_TRUE(problem.check(Coverage::whole).has_value()) << "a missing term";
    store([&](auto i, auto j) {  // rounds towards zero
      const std::uint32_t cut = dtype == ir::DType::f16 ? 0xffffe000U : 0xffff0000U;
      return std::bit_cast<float>(std::bit_cast<std::uint32_t>(static_cast<float>(sum(i, j, k))) & cut);
    });
    EXPECT_TRUE(problem.check(Coverage::whole).has_value()) << "cut off in place of rounded";
    store([&](auto i, auto j) {
      float total = 0;
      for (std::int64_t p = 0; p < k; ++p) total = rounded(static_cast<double>(total + a(i, p) * b(p, j)));
      return total;
    });
    EXPECT_TRUE(problem.check(Coverage::whole).has_value()) << "sums of 16 bits";
    store([&](auto i, auto j) { return i == 3 && j == 5 ? INFINITY : rounded(sum(i, j, k)); });
    EXPECT_TRUE(problem.check(Coverage::whole).has_value()) << "an infinity";
    problem.poison_outputs();
    EXPECT_TRUE(problem.check(Coverage::whole).has_value()) << "nothing written";
  }
}

TEST(Problem, StridedOutputsWithGaps) {
  MatmulProblem matmul(4, 3, 5, " strides=(1, 6)");  // two elements between columns are gaps and stay poisoned
  EXPECT_FALSE(matmul.check().has_value()) << matmul.check()->message;
  matmul.at(3, 2) += 1;
  EXPECT_THAT(matmul.check()->message, HasSubstr("c[3, 2]: expected"));
}

/// A device whose arrays hold bytes, for elements of any type.
class BytesDevice final : public Device {
 public:
  const DeviceInfo& info() const override { return info_; }
  Dialect dialect() const override { return Dialect::opencl; }
  std::unique_ptr<Arrays> allocate(const std::vector<ir::Buffer>& buffers) override {
    return std::make_unique<HostArrays>(buffers);
  }
  Result<std::unique_ptr<Executable>> build(const KernelCode&) override {
    return Failure{Status::build_error, "bytes"};
  }

 private:
  DeviceInfo info_;
};

/// A matmul with 3 x 700 outputs of a given type. Its output array holds the expected values of the elements that are
/// compared, and 1 in all others.
class BytesProblem {
 public:
  BytesProblem(ir::DType dtype, const std::string& strides, std::int64_t k)
      : dtype_(dtype), problem_(with_type(matmul(3, 700, k, strides), dtype), device_, 5) {
    problem_.poison_outputs();
    for_each_element(output(), [&](std::int64_t offset) { set(offset, 1); });
    for (const Reference::Element& element : problem_.reference().outputs.at(0).elements)
      set(element.offset, element.value), compared.insert(element.offset);
  }
  const ir::Buffer& output() const { return problem_.loop().buffers[2]; }
  Problem& problem() { return problem_; }
  /// Returns the bytes of the element at `offset`.
  std::span<std::byte> at(std::int64_t offset) {
    const auto size = static_cast<std::size_t>(ir::bytes(dtype_));
    return static_cast<HostArrays&>(problem_.arrays()).bytes(2).subspan(static_cast<std::size_t>(offset) * size, size);
  }
  void set(std::int64_t offset, double value) {
    ir::Numbers number(dtype_, 1);
    number.set(0, value);
    encode(number, dtype_, at(offset).data());
  }
  std::string message(Coverage coverage = Coverage::whole) {
    const auto failure = problem_.check(coverage);
    return failure ? failure->message : "";
  }

  std::set<std::int64_t> compared;

 private:
  static ir::Program with_type(ir::Program loop, ir::DType dtype) {
    for (ir::Buffer& buffer : loop.buffers) buffer.dtype = dtype;
    return loop;
  }
  BytesDevice device_;
  ir::DType dtype_;
  Problem problem_;
};

// Finds faults in outputs that are compared in full (after a short sum) and in part, both dense and with gaps.
TEST(Problem, AFaultIsFoundInAnyElement) {
  Rng rng(3);
  for (const ir::DType dtype : {ir::DType::f32, ir::DType::f16, ir::DType::bf16})
    for (const char* const strides : {"", " strides=(1, 3)", " strides=(710, 1)", " strides=(2, 7)"})
      for (const std::int64_t k : {2, 2000}) {
        BytesProblem bytes(dtype, strides, k);
        std::vector<std::int64_t> offsets;
        for_each_element(bytes.output(), [&](std::int64_t offset) { offsets.push_back(offset); });
        EXPECT_EQ(bytes.compared.size() == offsets.size(), k == 2);
        ASSERT_EQ(bytes.message(), "") << name(dtype) << strides;
        const std::uint64_t bits = bytes.problem().checked_bits();
        std::vector<std::int64_t> tried = {offsets.front(), offsets[1023], offsets[1024], offsets.back()};
        for (int i = 0; i < 12; ++i) tried.push_back(offsets[rng.below(offsets.size())]);
        for (const std::int64_t offset : tried) {
          const std::string place = element_name(bytes.output(), offset);
          const std::vector<std::byte> right(bytes.at(offset).begin(), bytes.at(offset).end());
          std::ranges::fill(bytes.at(offset), std::byte{0xff});
          EXPECT_EQ(bytes.message(), place + ": not written (1 of 2100 elements)");
          EXPECT_EQ(bytes.message(Coverage::prefix), "");
          bytes.set(offset, std::nan(""));
          const std::string nan = k == 2 ? ": expected " : ": is NaN (1 of 2100 elements)";
          EXPECT_THAT(bytes.message(), ::testing::StartsWith(place + nan));
          bytes.set(offset, 77);
          const std::string message = bytes.message();
          if (bytes.compared.contains(offset))
            EXPECT_THAT(message, ::testing::StartsWith(place + ": expected "));
          else
            EXPECT_NE(bytes.problem().checked_bits(), bits);
          std::ranges::copy(right, bytes.at(offset).begin());
          EXPECT_EQ(bytes.message(), "");
          EXPECT_EQ(bytes.problem().checked_bits(), bits);
        }
      }
}

TEST(Problem, ATruthValueIs0Or1) {
  for (const char* const strides : {"", " strides=(64, 2)"}) {
    BytesDevice device;
    Problem problem(ir::parse(std::string("=== loop: positive ===\n"
                                          "input a: f32[40, 30]\n"
                                          "output b: bool[40, 30]") +
                              strides +
                              "\nfor a0 in 0..40: # free\n"
                              "  for a1 in 0..30: # free\n"
                              "    in0 = load a[a0, a1]\n"
                              "    v0 = less(0, in0)\n"
                              "    b[a0, a1] = v0\n"),
                    device, 5);
    problem.poison_outputs();
    const std::span<std::byte> bytes = static_cast<HostArrays&>(problem.arrays()).bytes(1);
    for (const Reference::Element& element : problem.reference().outputs.at(0).elements)
      bytes[static_cast<std::size_t>(element.offset)] = std::byte{element.value != 0};
    const auto right = problem.check(Coverage::whole);
    EXPECT_FALSE(right.has_value()) << right->message;
    std::byte& last = bytes[static_cast<std::size_t>(ir::span(problem.loop().buffers[1]) - 1)];
    last = std::byte{2};
    EXPECT_EQ(problem.check(Coverage::whole)->message, "b[39, 29]: is 2, not a truth value (1 of 1200 elements)");
    last = std::byte{0xff};
    EXPECT_EQ(problem.check(Coverage::whole)->message, "b[39, 29]: not written (1 of 1200 elements)");
    EXPECT_FALSE(problem.check(Coverage::prefix).has_value());
  }
}

TEST(Problem, AKernelWithoutFiniteResultsIsAUsersMistake) {
  const ir::Program program = ir::parse(
      "=== loop: bad ===\n"
      "input a: f32[64]\n"
      "output b: f32[64]\n"
      "for a0 in 0..64: # free\n"
      "  in0 = load a[a0]\n"
      "  v0 = subtract(in0, 2)\n"
      "  v1 = log(v0)\n"
      "  b[a0] = v1\n");
  ScriptedDevice device;
  Problem problem(program, device, 1);
  try {
    problem.check(Coverage::whole);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), ::testing::StartsWith("kernel bad: expected finite results"));
    EXPECT_EQ(error.exit(), Exit::user);
  }
}

/// Checks a kernel with one output. `compute` writes the kernel's result from the inputs to the output array. It
/// calculates in f32, possibly in another order than the reference.
std::optional<Failure> check_result(const std::string& loop, double tolerance,
                                    const std::function<void(std::vector<std::vector<float>>&)>& compute) {
  ScriptedDevice device;
  Problem problem(ir::parse(loop), device, 3, nullptr, tolerance);
  problem.poison_outputs();
  compute(static_cast<ScriptedArrays&>(problem.arrays()).data);
  return problem.check(Coverage::whole);
}

/// Returns a kernel that computes b = log(a) for n numbers, about half of which are negative.
std::string logarithm(std::int64_t n) {
  return fmt::format(
      "=== loop: logarithm ===\ninput a: f32[{0}]\noutput b: f32[{0}]\nfor a0 in 0..{0}: # free\n"
      "  in0 = load a[a0]\n  v0 = log(in0)\n  b[a0] = v0\n",
      n);
}

// Expected NaNs are right and other NaNs are wrong, also in elements that are not in the sample of a large output.
TEST(Problem, ExpectedNaNsAreRightAndOthersWrong) {
  for (const std::int64_t n : {64, 5000000}) {
    const auto check = [&](const std::function<void(std::vector<float>&)>& fault) {
      return check_result(logarithm(n), default_tolerance, [&](auto& data) {
        for (std::size_t i = 0; i < data[0].size(); ++i) data[1][i] = std::log(data[0][i]);
        fault(data[1]);
      });
    };
    const auto right = check([](auto&) {});
    EXPECT_FALSE(right.has_value()) << right->message;
    const auto some = [&](const std::vector<float>& b, bool number) {
      std::size_t i = b.size() / 2;
      while (std::isnan(b[i]) == number) ++i;
      return i;
    };
    if (n == 64) {
      EXPECT_TRUE(check([&](auto& b) { b[some(b, true)] = NAN; }).has_value()) << "NaN in place of a number";
      EXPECT_TRUE(check([&](auto& b) { b[some(b, false)] = 1; }).has_value()) << "a number in place of NaN";
    }
    const auto unwritten = check([](auto& b) { b[7] = std::bit_cast<float>(0xffffffffU); });
    EXPECT_THAT(unwritten.value().message, HasSubstr("b[7]: not written"));
  }
}

TEST(Problem, NaNOutsideOfTheSampleIsFound) {
  const auto check = [](std::size_t bad) {
    std::string loop = logarithm(5000000);
    loop.replace(loop.find("log(in0)"), 8, "exp(in0)");
    return check_result(loop, default_tolerance, [&](auto& data) {
      for (std::size_t i = 0; i < data[0].size(); ++i) data[1][i] = i == bad ? NAN : std::exp(data[0][i]);
    });
  };
  EXPECT_FALSE(check(5000000).has_value());
  EXPECT_THAT(check(1234567).value().message, HasSubstr("b[1234567]: is NaN (1 of 5000000 elements)"));
}

/// Returns a kernel that computes v0 = a * factor and b = op for 64 numbers. `op` is an expression of v0.
std::string scaled(const std::string& op, const std::string& factor) {
  return "=== loop: scaled ===\ninput a: f32[64]\noutput b: f32[64]\nfor a0 in 0..64: # free\n"
         "  in0 = load a[a0]\n  v0 = multiply(in0, " +
         factor + ")\n  v1 = " + op + "\n  b[a0] = v1\n";
}

TEST(Problem, TheReferenceOverflowsAndUnderflowsAsF32) {
  const auto check = [](const std::string& loop, float (*apply)(float)) {
    const auto failure = check_result(loop, default_tolerance, [&](auto& data) {
      for (std::size_t i = 0; i < 64; ++i) data[1][i] = apply(data[0][i]);
    });
    return failure ? failure->message : "";
  };
  EXPECT_EQ(check(scaled("multiply(v0, 1e-20)", "3e38"), [](float a) { return a * 3e38F * 1e-20F; }), "");
  EXPECT_EQ(check(scaled("multiply(v0, 2)", "3e38"), [](float a) { return a * 3e38F * 2; }), "");
  EXPECT_NE(check(scaled("multiply(v0, 2)", "3e38"), [](float) { return 3e38F; }), "") << "an infinity is expected";
  EXPECT_EQ(check(scaled("divide(v0, 2)", "1e-44"), [](float a) { return a * 1e-44F / 2; }), "") << "subnormal";
  EXPECT_EQ(check(scaled("multiply(v0, 1e38)", "1e-41"), [](float a) { return a * 1e-41F * 1e38F; }), "")
      << "a subnormal number has few digits";
  EXPECT_NE(check(scaled("multiply(v0, 1e38)", "1e-41"), [](float a) { return a * 0; }), "") << "flushed";
  EXPECT_EQ(check(scaled("sigmoid(v0)", "200"), [](float a) { return 1 / (1 + std::exp(-(a * 200))); }), "");
}

TEST(Verdict, InfinitiesAndNaN) {
  constexpr double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const auto error = [](double found, Expected expected, ir::DType dtype = ir::DType::f32) {
    return error_of(found, expected, 1, dtype);
  };
  EXPECT_EQ(error(infinity, {infinity}), 0);
  EXPECT_EQ(error(nan, {nan}), 0);
  EXPECT_EQ(error(-infinity, {infinity}), infinity);
  EXPECT_EQ(error(nan, {1}), infinity);
  EXPECT_EQ(error(1, {nan}), infinity);
  EXPECT_EQ(error(3e38, {infinity}), infinity);
  for (const double found : {1.0, infinity, -infinity}) EXPECT_EQ(error(found, {infinity, infinity}), 0);
  EXPECT_EQ(error(nan, {infinity, infinity}), infinity) << "rounding makes no NaN";
  EXPECT_EQ(error(nan, {1, nan}), 0) << "an order of additions does";
  EXPECT_EQ(error(infinity, {65519.5}, ir::DType::f16), 0.5) << "65520 rounds to an infinity";
  EXPECT_EQ(error(65504, {65521}, ir::DType::f16), 1) << "65520 does not";
  EXPECT_EQ(error(infinity, {70000}, ir::DType::f16), 0);
  EXPECT_EQ(error(3, {2}, ir::DType::i32), infinity);
  EXPECT_EQ(error(3, {2, 1}, ir::DType::i32), 0);
}

/// A kernel that computes y[0] = sum(softmax(x)) - 1 for 1000 elements of x.
const char* const softmax_sum =
    "=== loop: cancels ===\ninput x: f32[1000]\noutput y: f32[1]\n"
    "for a0 in 0..1: # free\n"
    "  for a1 in 0..1000: # reduce\n    in0 = load x[a1]\n    acc0 <- maximum(acc0, in0)\n"
    "  for a2 in 0..1000: # reduce\n    in1 = load x[a2]\n    v0 = subtract(in1, acc0)\n    v1 = exp(v0)\n"
    "    acc1 <- add(acc1, v1)\n"
    "  for a3 in 0..1000: # reduce\n    in2 = load x[a3]\n    v2 = subtract(in2, acc0)\n    v3 = exp(v2)\n"
    "    v4 = divide(v3, acc1)\n    acc2 <- add(acc2, v4)\n"
    "  v5 = subtract(acc2, 1)\n  y[a0] = v5\n";

/// Computes the result of softmax_sum in reverse order, with the fast formula for exponentials. Leaves out the term
/// with the index `without`.
float sum_of_softmax(const std::vector<float>& x, int without = -1) {
  const float most = *std::max_element(x.begin(), x.end());
  float total = 0, sum = 0;
  for (std::size_t i = x.size(); i-- > 0;) total += std::exp2((x[i] - most) * 1.442695041F);
  for (std::size_t i = x.size(); i-- > 0;)
    if (static_cast<int>(i) != without) sum += std::exp2((x[i] - most) * 1.442695041F) / total;
  return sum - 1;
}

TEST(Problem, RoundingNoiseWhereTermsCancelIsRight) {
  const auto check = [](int without) {
    return check_result(softmax_sum, default_tolerance,
                        [&](auto& data) { data[1][0] = sum_of_softmax(data[0], without); });
  };
  EXPECT_FALSE(check(-1).has_value()) << check(-1)->message;
  for (const int term : {0, 17, 999}) EXPECT_TRUE(check(term).has_value()) << "a missing term of 1/1000";
}

/// A kernel that normalizes rows of 256 numbers near 1000: (x - mean) * rsqrt(var + 1e-5).
const char* const norm_of_1000 =
    "=== loop: norm ===\ninput x: f32[8, 256] in (999, 1001)\noutput y: f32[8, 256]\n"
    "for a0 in 0..8: # free\n"
    "  for a1 in 0..256: # reduce\n    in0 = load x[a0, a1]\n    acc0 <- add(acc0, in0)\n"
    "  v0 = multiply(acc0, 0.00390625)\n"
    "  for a2 in 0..256: # reduce\n    in1 = load x[a0, a2]\n    v1 = subtract(in1, v0)\n    v2 = multiply(v1, v1)\n"
    "    acc1 <- add(acc1, v2)\n"
    "  v3 = multiply(acc1, 0.00390625)\n  v4 = add(v3, 0.00001)\n  v5 = rsqrt(v4)\n"
    "  for a3 in 0..256: # free\n    in2 = load x[a0, a3]\n    v6 = subtract(in2, v0)\n    v7 = multiply(v6, v5)\n"
    "    y[a0, a3] = v7\n";

enum class NormFault { none, wrong_row, missing_term, doubled_term, wrong_element };

void norm_rows(std::vector<std::vector<float>>& data, NormFault fault) {
  const std::vector<float>& x = data[0];
  for (std::size_t row = 0; row < 8; ++row) {
    const float* const from = x.data() + 256 * (fault == NormFault::wrong_row ? (row + 1) % 8 : row);
    float sum = 0, squares = 0;
    for (int i = 255; i >= 0; --i) sum += from[i];
    if (fault == NormFault::missing_term) sum -= from[100];
    if (fault == NormFault::doubled_term) sum += from[100];
    const float mean = sum / 256;
    for (int i = 255; i >= 0; --i) squares += (from[i] - mean) * (from[i] - mean);
    const float scale = 1 / std::sqrt(squares / 256 + 1e-5F);
    for (std::size_t i = 0; i < 256; ++i) data[1][256 * row + i] = (x[256 * row + i] - mean) * scale;
  }
  if (fault == NormFault::wrong_element) std::swap(data[1][300], data[1][301]);
}

TEST(Problem, ANormOfLargeNumbersIsRightAndItsFaultsAreFound) {
  const auto check = [](NormFault fault) {
    return check_result(norm_of_1000, default_tolerance, [&](auto& data) { norm_rows(data, fault); });
  };
  EXPECT_FALSE(check(NormFault::none).has_value()) << check(NormFault::none)->message;
  for (const NormFault fault :
       {NormFault::wrong_row, NormFault::missing_term, NormFault::doubled_term, NormFault::wrong_element})
    EXPECT_TRUE(check(fault).has_value()) << static_cast<int>(fault);
}

/// Kernels that compute the sum of 40,000,000 ones, and the variance of 1,000,000 numbers in (0, 1).
const char* const sum_of_ones =
    "=== loop: ones ===\noutput y: f32[1]\n"
    "v0 = copy(1)\nfor a0 in 0..40000000: # reduce\n  acc0 <- add(acc0, v0)\ny[0] = acc0\n";
const char* const long_variance =
    "=== loop: variance ===\ninput x: f32[1000000] in (0, 1)\noutput y: f32[1]\n"
    "for a0 in 0..1000000: # reduce\n  in0 = load x[a0]\n  acc0 <- add(acc0, in0)\n"
    "v0 = divide(acc0, 1000000)\n"
    "for a1 in 0..1000000: # reduce\n  in1 = load x[a1]\n  v1 = subtract(in1, v0)\n  v2 = multiply(v1, v1)\n"
    "  acc1 <- add(acc1, v2)\nv3 = divide(acc1, 1000000)\ny[0] = v3\n";

/// Adds `count` terms in partial sums of `part` terms.
template <class Term>
float sum_in_parts(std::size_t count, std::size_t part, Term term) {
  float total = 0;
  for (std::size_t i = 0; i < count;) {
    float sum = 0;
    for (const std::size_t end = std::min(count, i + part); i < end; ++i) sum += term(i);
    total += sum;
  }
  return total;
}

// Kernels use partial sums (rules/materialize/long_sums.h), so the check does not tolerate the error of a single
// accumulator.
TEST(Problem, ALongSumInOneAccumulatorIsFound) {
  const auto ones = [](std::size_t part) {
    return check_result(sum_of_ones, default_tolerance, [&](auto& data) {
      data[0][0] = sum_in_parts(40000000, part, [](std::size_t) { return 1.0F; });
    });
  };
  EXPECT_FALSE(ones(10000).has_value()) << ones(10000)->message;
  EXPECT_TRUE(ones(40000000).has_value());
  const auto variance = [](std::size_t part) {
    return check_result(long_variance, default_tolerance, [&](auto& data) {
      const std::vector<float>& x = data[0];
      const float mean = sum_in_parts(x.size(), part, [&](std::size_t i) { return x[i]; }) / 1000000;
      data[1][0] = sum_in_parts(x.size(), part, [&](std::size_t i) { return (x[i] - mean) * (x[i] - mean); }) / 1000000;
    });
  };
  EXPECT_FALSE(variance(1000).has_value()) << variance(1000)->message;
  EXPECT_TRUE(variance(1000000).has_value());
}

TEST(Problem, TheToleranceIsTheUsers) {
  const auto check = [](double tolerance) {
    return check_result(
        "=== loop: copy ===\ninput a: f32[64]\noutput b: f32[64]\nfor a0 in 0..64: # free\n"
        "  in0 = load a[a0]\n  b[a0] = in0\n",
        tolerance, [](auto& data) {
          data[1] = data[0];
          for (float& value : data[1]) value *= 1.001F;
        });
  };
  EXPECT_TRUE(check(default_tolerance).has_value());
  EXPECT_FALSE(check(0.01).has_value());
}

TEST(Problem, InputsAreDrawnFromWhatTheKernelNames) {
  const auto drawn = [](const std::string& type) {
    const ir::Program program = ir::parse("=== loop: f ===\ninput x: " + type + "\noutput y: f32[4]\n");
    const std::vector<double> values = random_input(program.buffers[0], 0, 1).doubles();
    const auto [low, high] = std::ranges::minmax(values);
    return std::pair(low, high);
  };
  const auto [low, high] = drawn("f32[4000] in (0.1, 1)");
  EXPECT_GE(low, 0.1F);
  EXPECT_LT(low, 0.11);
  EXPECT_LE(high, 1);
  EXPECT_EQ(drawn("i32[4000] in (-3, 2)"), std::pair(-3.0, 1.0));
  EXPECT_EQ(drawn("f32[4] in constant(2.5)"), std::pair(2.5, 2.5));
  EXPECT_GT(drawn("f32[4000] in normal(100, 1)").first, 90);
}

TEST(Problem, IndicesPointAllOverTheirTable) {
  const ir::Program embedding = with_index_ranges(ir::parse(
      "=== loop: embedding ===\ninput i: i32[50]\ninput n: i32[50]\ninput t: f32[1000, 4]\noutput y: f32[50, 4]\n"
      "for a0 in 0..50: # free\n  for a1 in 0..4: # free\n    in0:i32 = load i[a0]\n    in1:i32 = load n[a0]\n"
      "    in2 = load t[min(max(in0, 0), 999), a1]\n    y[a0, a1] = in2\n"));
  EXPECT_EQ(embedding.buffers[0].fill, (ir::Fill{ir::Fill::Draw::integers, 0, 1000}));
  EXPECT_FALSE(embedding.buffers[1].fill.has_value()) << "no index";
  EXPECT_EQ(describe_inputs(embedding), "i: randint(0, 1000)");
}

// If there are more indices than rows, the drawn indices extend beyond the rows, so that all can be distinct.
TEST(Problem, NoNumberSaysTwiceWhereToWrite) {
  const auto scatter = [](std::int64_t rows) {
    return with_index_ranges(ir::parse(
        "=== loop: scatter ===\nsymbols M\ninput i: i32[50]\ninput x: f32[50]\noutput y: f32[M]\n"
        "for a0 in 0..50: # free\n  in0:i32 = load i[a0]\n  in1 = load x[a0]\n  if ((-1 < in0) && (in0 < M)):\n"
        "    y[in0] = in1\n",
        {{"M", rows}}));
  };
  EXPECT_EQ(scatter(30).buffers[0].fill, (ir::Fill{ir::Fill::Draw::distinct, 0, 50}));
  EXPECT_EQ(scatter(80).buffers[0].fill, (ir::Fill{ir::Fill::Draw::distinct, 0, 80}));
  std::vector<double> drawn = random_input(scatter(80).buffers[0], 0, 1).doubles();
  EXPECT_FALSE(std::ranges::is_sorted(drawn));
  std::ranges::sort(drawn);
  EXPECT_EQ(std::ranges::adjacent_find(drawn), drawn.end());
  EXPECT_GE(drawn.front(), 0);
  EXPECT_LT(drawn.back(), 80);
}

TEST(Problem, RealsAboutZeroAreOneProtocol) {
  const auto described = [](const std::string& fill) {
    return describe_inputs(ir::parse("=== loop: f ===\ninput x: f32[4]" + fill + "\noutput y: f32[4]\n"));
  };
  for (const char* usual : {"", " in (-1, 1)", " in normal(0, 1)", " in (-0.02, 0.02)"})
    EXPECT_EQ(described(usual), "");
  EXPECT_EQ(described(" in (0, 1)"), "x: uniform(0, 1)");
  EXPECT_EQ(described(" in normal(0, 100)"), "x: normal(0, 100)");
  EXPECT_EQ(described(" in constant(0)"), "x: constant(0)");
}

TEST(Problem, InputsDependOnTheSeedAndTheBufferOnly) {
  const ir::Program program = matmul(4, 4, 4);
  const auto a = random_input(program.buffers[0], 0, 1);
  EXPECT_EQ(a, random_input(program.buffers[0], 0, 1));
  EXPECT_NE(a, random_input(program.buffers[0], 0, 2));
  EXPECT_NE(a, random_input(program.buffers[0], 1, 1));
  EXPECT_NE(random_input(program.buffers[0], 1, 1), random_input(program.buffers[0], 0, 2));
  for (const float value : a.floats()) EXPECT_LE(std::abs(value), 1);
}

// Several threads draw parts of a large input concurrently. The values must not depend on the number of threads.
TEST(RandomInput, DoesNotDependOnTheThreads) {
  constexpr std::int64_t elements = 3'000'017;
  using Draw = ir::Fill::Draw;
  for (const std::optional<ir::Fill>& fill :
       {std::optional<ir::Fill>(), std::optional(ir::Fill{Draw::normal, 1, 2}),
        std::optional(ir::Fill{Draw::uniform, 0, 5}), std::optional(ir::Fill{Draw::constant, 3, 0})}) {
    ir::Program program = ir::parse(fmt::format(
        "=== loop: copy ===\ninput x: f32[{0}]\noutput y: f32[{0}]\nfor i in 0..{0}:  # free\n  in0 = load x[i]\n"
        "  y[i] = in0\n",
        elements));
    program.buffers[0].fill = fill;
    const std::vector<double> found = random_input(program.buffers[0], 0, 5).doubles();
    Rng rng(Rng(5).next());
    for (std::size_t i = 0; i < found.size(); ++i) {
      const double one = ir::draw(fill.value_or(ir::Fill{Draw::uniform, -1, 1}), ir::DType::f32, rng);
      ASSERT_EQ(found[i], static_cast<double>(static_cast<float>(one))) << i;
    }
  }
}

// input_elements() draws parts of an input in any order. The parts are equal to those of the whole input.
TEST(InputElements, AreThoseOfTheWholeInput) {
  using Draw = ir::Fill::Draw;
  for (const ir::DType dtype : {ir::DType::f32, ir::DType::bf16, ir::DType::f64, ir::DType::i32, ir::DType::boolean})
    for (const std::optional<ir::Fill>& fill :
         {std::optional<ir::Fill>(), std::optional(ir::Fill{Draw::normal, 1, 2}),
          std::optional(ir::Fill{Draw::uniform, 0, 5}), std::optional(ir::Fill{Draw::integers, 0, 100}),
          std::optional(ir::Fill{Draw::distinct, 0, 1000}), std::optional(ir::Fill{Draw::constant, 3, 0})}) {
      ir::Program loop = ir::parse(
          "=== loop: copy ===\ninput x: f32[1000]\noutput y: f32[1000]\nfor i in 0..1000:  # free\n"
          "  in0 = load x[i]\n  y[i] = in0\n");
      loop.buffers[0].dtype = dtype;
      loop.buffers[0].fill = fill;
      const std::vector<double> all = input_values(loop, 0, 5, {}).doubles();
      const auto elements = input_elements(loop, 0, 5, {});
      for (const std::size_t first : {900, 0, 64, 63, 999}) {
        std::vector<double> part(std::min<std::size_t>(65, all.size() - first));
        elements(first, part);
        EXPECT_TRUE(std::equal(part.begin(), part.end(), all.begin() + static_cast<std::ptrdiff_t>(first)))
            << name(dtype) << " from " << first;
      }
    }
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
    EXPECT_THAT(points, ::testing::Contains(std::vector<std::int64_t>(extents.size(), 0)));
  }
}

TEST(Elements, WalksStridesInOrder) {
  ir::Buffer buffer{"x", ir::DType::f32, ir::Role::output, {2, 3}, {1, 4}};
  std::vector<std::int64_t> offsets;
  for_each_element(buffer, [&](std::int64_t offset) { offsets.push_back(offset); });
  EXPECT_THAT(offsets, ::testing::ElementsAre(0, 4, 8, 1, 5, 9));
  EXPECT_EQ(element_name(buffer, 9), "x[1, 2]");
  buffer.shape = buffer.strides = {};
  offsets.clear();
  for_each_element(buffer, [&](std::int64_t offset) { offsets.push_back(offset); });
  EXPECT_THAT(offsets, ::testing::ElementsAre(0));
}

}  // namespace
}  // namespace deplo::measure
