// Arguments of `deplo check --cuda`: their texts, and their values as parameters of a kernel.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "core/error.h"
#include "measure/ptx/cuda_file.h"
#include "measure/ptx/text/parser.h"

namespace deplo::measure::ptx {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// Returns the parameters of a kernel `k` for these arguments.
std::vector<Parameter> bound(const std::string& parameters, const std::vector<std::string>& arguments) {
  const Module module =
      parse(".version 9.0 .target sm_80 .address_size 64 .visible .entry k(" + parameters + ") { ret; }");
  return bind_arguments(parse_arguments(arguments), decode(module, "k"));
}

/// Returns the value of one parameter of this type.
template <class T>
T passed(const std::string& type, const std::string& number) {
  const std::vector<Parameter> all = bound(".param ." + type + " k_param_0", {"n=" + number});
  T value{};
  EXPECT_EQ(all.at(0).bytes.size(), sizeof value);
  std::memcpy(&value, all.at(0).bytes.data(), std::min(sizeof value, all.at(0).bytes.size()));
  return value;
}

std::string bind_refusal(const std::string& parameters, const std::vector<std::string>& arguments) {
  try {
    bound(parameters, arguments);
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), Not(HasSubstr("\n")));
    return error.what();
  }
  return "";
}

TEST(PtxArguments, NumbersHaveTheTypeOfTheParameter) {
  EXPECT_EQ(passed<float>("f32", "2"), 2.0F);
  EXPECT_EQ(passed<float>("f32", "0.1"), 0.1F);
  EXPECT_EQ(passed<float>("f32", "16777217"), 16777216.0F) << "the nearest";
  EXPECT_EQ(passed<float>("f32", "1e-60"), 0.0F);
  EXPECT_EQ(passed<double>("f64", "2"), 2.0);
  EXPECT_EQ(passed<double>("f64", "-0.1"), -0.1);
  EXPECT_TRUE(std::signbit(passed<double>("f64", "-0")));
  EXPECT_TRUE(std::isinf(passed<float>("f32", "-inf")));
  EXPECT_TRUE(std::isnan(passed<float>("f32", "nan")));
  EXPECT_EQ(passed<std::int32_t>("u32", "-2147483648"), std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(passed<std::uint32_t>("u32", "4294967295"), std::numeric_limits<std::uint32_t>::max());
  EXPECT_EQ(passed<std::uint64_t>("u64", "18446744073709551615"), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(passed<std::int64_t>("s64", "-9223372036854775808"), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(passed<std::int64_t>("u64", "9007199254740993"), 9007199254740993) << "no double has this value";
  EXPECT_EQ(passed<std::int8_t>("u8", "-1"), -1);
  EXPECT_EQ(passed<std::uint16_t>("u16", "65535"), 65535);
  EXPECT_EQ(passed<std::int32_t>("u32", "1e3"), 1000);
  EXPECT_EQ(passed<std::int32_t>("b32", "7"), 7);
  EXPECT_EQ(passed<float>("b32", "0.5"), 0.5F);
}

TEST(PtxArguments, RefusesValuesThatTheParameterCannotHave) {
  EXPECT_EQ(bind_refusal(".param .u32 k_param_0", {"n=1.5"}),
            "argument n=1.5: parameter 1 of 'k' is an integer of 32 bits: expected an integer from -2147483648 to "
            "4294967295");
  EXPECT_THAT(bind_refusal(".param .u32 k_param_0", {"n=9999999999"}), HasSubstr("to 4294967295"));
  EXPECT_THAT(bind_refusal(".param .u32 k_param_0", {"n=-2147483649"}), HasSubstr("from -2147483648"));
  EXPECT_THAT(bind_refusal(".param .u8 k_param_0", {"n=256"}), HasSubstr("an integer from -128 to 255"));
  EXPECT_THAT(bind_refusal(".param .u64 k_param_0", {"n=1e20"}), HasSubstr("to 18446744073709551615"));
  EXPECT_THAT(bind_refusal(".param .u32 k_param_0", {"n=nan"}), HasSubstr("expected an integer"));
  EXPECT_EQ(bind_refusal(".param .f32 k_param_0", {"a=1e39"}),
            "argument a=1e39: parameter 1 of 'k' is a float of 32 bits: expected a number from -3.40282e+38 to "
            "3.40282e+38");
  EXPECT_THAT(bind_refusal(".param .align 2 .b8 k_param_0[2]", {"h=1"}),
              HasSubstr("is a struct of 2 bytes: expected a tensor map; structs, also half types such as __half"));
  EXPECT_EQ(bind_refusal(".param .u64 k_param_0, .param .f64 k_param_1", {"x=f32[4]", "y=f32[4]"}),
            "argument y=f32[4]: parameter 2 of 'k' is a float of 64 bits: expected a number");
  EXPECT_THAT(bind_refusal(".param .u32 k_param_0", {"n=f32[4]"}), HasSubstr("expected a number"));
  EXPECT_EQ(bind_refusal(".param .u32 k_param_0", {}), "--arg: expected 1 argument of 'k', found 0");
}

TEST(PtxArguments, SaysWhatIsWrong) {
  const auto expect = [](const std::string& argument, const char* message) {
    EXPECT_THAT(bind_refusal(".param .u64 k_param_0", {"z=f32[4]", argument}),
                HasSubstr("argument " + argument + ": expected " + message));
  };
  expect("x", "NAME=VALUE, such as x=f32[64,32]");
  expect("=4", "NAME=VALUE");
  expect("x=f64[128]", "an array of f32, f16, bf16, i32, bool, i64, i8, u8 or i16, found 'f64'");
  expect("x=f32[99999999999]", "extents of at least 1, and at most 1073741824 elements, found '99999999999'");
  expect("x=f32[0]", "extents of at least 1");
  expect("x=f32[65536,65536]", "extents of at least 1, and at most 1073741824 elements, found '65536,65536'");
  expect("n=true", "a number (a double, or 1 or 0 for a bool)");
  expect("n=1e400", "a number (a double,");
  expect("n=0x10", "a number (a double,");
  expect("x=]", "an array such as f32[64,32], found ']'");
  expect("z=3", "a different name for each argument");
  expect("m=map(q, 4)", "the name of an earlier array, or an array, found 'q'");
  expect("m=map(z)", "an array, a box and perhaps a swizzle, found 'z'");
  expect("m=map(z, 4x4)", "a box of 1 extents, such as 8x64, found '4x4'");
  expect("m=map(z, 0)", "a box of 1 extents");
  expect("m=map(z, 4, 16)", "a swizzle of 0, 32, 64 or 128 bytes, found '16'");
  expect("m=map(f32[4] 4, 4)", "a comma after the array, found '4'");
  expect("m=map(f32[1,1,1,1,1,1], 4)", "an array of at most 5 dimensions for a tensor map, found '6'");
}

}  // namespace
}  // namespace deplo::measure::ptx
