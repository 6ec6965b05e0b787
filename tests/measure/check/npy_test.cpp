#include "measure/check/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>

#include "core/error.h"
#include "core/rng.h"
#include "measure/store_fixture.h"

namespace deplo::measure {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <class T>
std::string npy(const std::string& descr, const std::string& shape, const std::vector<T>& values,
                const std::string& order = "False") {
  std::string header =
      "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }";  // as NumPy writes it
  header.resize((header.size() + 11 + 63) / 64 * 64 - 11, ' ');
  header += '\n';
  std::string bytes = std::string("\x93NUMPY\x01", 7) + '\0';
  bytes += static_cast<char>(header.size() & 0xff);
  bytes += static_cast<char>(header.size() >> 8);
  bytes += header;
  bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  return bytes;
}

class Npy : public ::testing::Test {
 protected:
  ir::Numbers read(const std::string& bytes, const ir::TensorType& type) {
    const std::string file = folder_.file("x.npy");
    std::ofstream(file, std::ios::binary) << bytes;
    return read_npy(file, type);
  }
  std::string message(const std::string& bytes, const ir::TensorType& type) {
    try {
      read(bytes, type);
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), ::testing::StartsWith(folder_.file("x.npy") + ": expected "));
      return error.what();
    }
    return "read";
  }
  TemporaryFolder folder_;
};

const ir::TensorType floats{ir::DType::f32, {2, 3}}, integers{ir::DType::i32, {3}}, truths{ir::DType::boolean, {2}};

TEST_F(Npy, WritesWhatItReads) {
  const std::vector<float> values{0, -1, 2.5F, 3, 4, 5};
  for (const ir::Shape& shape : {ir::Shape{2, 3}, ir::Shape{6}, ir::Shape{1, 3, 1, 2}}) {
    const std::string bytes = npy_bytes(values, {ir::DType::f32, shape});
    EXPECT_EQ(read(bytes, {ir::DType::f32, shape}), values);
    EXPECT_EQ((bytes.size() - 6 * sizeof(float)) % 64, 0U);
  }
  EXPECT_EQ(read(npy_bytes(std::vector{7.0F}, {ir::DType::f32, {}}), {ir::DType::f32, {}}), std::vector{7.0F})
      << "a scalar";
  EXPECT_EQ(read(npy_bytes({}, {ir::DType::f32, {0, 3}}), {ir::DType::f32, {0, 3}}), std::vector<float>());
}

TEST_F(Npy, ReadsWhatNumpyWrites) {
  const auto numbers = [&](const std::string& bytes, const ir::TensorType& type) {
    return read(bytes, type).doubles();
  };
  const auto six = ElementsAre(0, 1, 2, 3, 4, 5.5);
  EXPECT_THAT(numbers(npy<float>("<f4", "(2, 3)", {0, 1, 2, 3, 4, 5.5F}), floats), six);
  EXPECT_THAT(numbers(npy<double>("<f8", "(2, 3)", {0, 1, 2, 3, 4, 5.5}), floats), six);
  EXPECT_THAT(numbers(npy<std::int64_t>("<i8", "(3,)", {7, -1, 0}), integers), ElementsAre(7, -1, 0));
  EXPECT_THAT(numbers(npy<std::int32_t>("<i4", "(3,)", {7, -1, 0}), integers), ElementsAre(7, -1, 0));
  EXPECT_THAT(numbers(npy<char>("|b1", "(2,)", {1, 0}), truths), ElementsAre(1, 0));
  EXPECT_THAT(numbers(npy<float>("<f4", "()", {3}), {ir::DType::f32, {}}), ElementsAre(3));
  // Complex numbers are real ones with a last dimension of their parts.
  EXPECT_THAT(numbers(npy<float>("<c8", "(3,)", {0, 1, 2, 3, 4, 5.5F}), {ir::DType::f32, {3, 2}}), six);
  EXPECT_THAT(numbers(npy<double>("<c16", "()", {3, 4}), {ir::DType::f32, {2}}), ElementsAre(3, 4));
  EXPECT_THAT(numbers(npy<std::uint16_t>("<f2", "(3,)", {0x3c00, 0xc500, 1}), {ir::DType::f16, {3}}),
              ElementsAre(1, -5, 0x1p-24));
}

TEST_F(Npy, IntegersAreExact) {
  constexpr std::int32_t least = std::numeric_limits<std::int32_t>::min(),
                         most = std::numeric_limits<std::int32_t>::max();
  constexpr std::int64_t far = std::numeric_limits<std::int64_t>::min(), near = (std::int64_t{1} << 53) + 1;
  const std::vector<std::int32_t> narrow{least, 16777217, most};
  const std::vector<std::int64_t> wide{far, near, std::numeric_limits<std::int64_t>::max()};
  const ir::TensorType longs{ir::DType::i64, {3}};
  EXPECT_EQ(read(npy<std::int32_t>("<i4", "(3,)", narrow), integers), narrow);
  EXPECT_EQ(read(npy<std::int64_t>("<i8", "(3,)", {least, 16777217, most}), integers), narrow);
  EXPECT_EQ(read(npy<std::int64_t>("<i8", "(3,)", wide), longs), wide);
  EXPECT_EQ(read(npy<std::int32_t>("<i4", "(3,)", narrow), longs), narrow);
  EXPECT_EQ(read(npy_bytes(narrow, integers), integers), narrow);
  EXPECT_EQ(read(npy_bytes(wide, longs), longs), wide);
  EXPECT_EQ(read_npy_header(folder_.file("x.npy")).type, "<i8");
  EXPECT_EQ(read(npy_bytes(std::vector<float>{1, 0}, truths), truths), (std::vector<float>{1, 0}));
  EXPECT_EQ(read_npy_header(folder_.file("x.npy")).type, "|b1");
  EXPECT_THAT(message(npy<double>("<f8", "(3,)", {0, 0x1p63, 1}), longs), HasSubstr("that i64 holds"));
  EXPECT_THAT(message(npy<double>("<f8", "(3,)", {0, 0x1p31, 1}), integers), HasSubstr("that i32 holds"));
  EXPECT_THAT(message(npy<float>("<f4", "(3,)", {0, NAN, 1}), integers), HasSubstr("found nan"));
}

TEST_F(Npy, UnsignedIntegersAndDoublesAreExact) {
  const auto exact = [&]<class T>(const char* type, ir::DType dtype, const std::vector<T>& values) {
    const ir::Numbers found = read(npy<T>(type, "(2,)", values), {dtype, {2}});
    const bool same = found.visit([&](const auto& all) {
      return std::equal(all.begin(), all.end(), values.begin(), [](auto a, T b) { return static_cast<T>(a) == b; });
    });
    EXPECT_TRUE(same) << type;
    EXPECT_EQ(read(npy_bytes(found, {dtype, {2}}), {dtype, {2}}), found) << type;
  };
  exact.operator()<std::uint8_t>("|u1", ir::DType::u8, {0, 255});
  exact.operator()<std::uint16_t>("<u2", ir::DType::u16, {1, 65535});
  exact.operator()<std::uint32_t>("<u4", ir::DType::u32, {1, 4294967295U});
  exact.operator()<std::uint64_t>("<u8", ir::DType::u64, {1, std::numeric_limits<std::uint64_t>::max()});
  exact.operator()<std::int8_t>("|i1", ir::DType::i8, {-128, 127});
  exact.operator()<std::int16_t>("<i2", ir::DType::i16, {-32768, 32767});
  exact.operator()<double>("<f8", ir::DType::f64, {1e300, 1 + 0x1p-52});
  EXPECT_THAT(message(npy<std::int16_t>("<i2", "(2,)", {0, 256}), {ir::DType::u8, {2}}), HasSubstr("that u8 holds"));
  EXPECT_THAT(message(npy<std::int8_t>("|i1", "(2,)", {0, -1}), {ir::DType::u64, {2}}), HasSubstr("that u64 holds"));
  EXPECT_THAT(message(npy<double>("<f8", "(2,)", {0, 0x1p64}), {ir::DType::u64, {2}}), HasSubstr("that u64 holds"));
  EXPECT_THAT(message(npy<std::uint64_t>("<u8", "(3,)", {0, 1, 1ULL << 31}), integers), HasSubstr("that i32 holds"));
}

TEST_F(Npy, InfinitiesAndNaNAreNumbersOfFloats) {
  const ir::TensorType type{ir::DType::f32, {4}};
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> values{-infinity, infinity, NAN, 1};
  for (const auto& bytes :
       {npy<float>("<f4", "(4,)", values), npy<double>("<f8", "(4,)", {-infinity, infinity, NAN, 1}),
        npy<std::uint16_t>("<f2", "(4,)", {0xfc00, 0x7c00, 0x7e00, 0x3c00}), npy_bytes(values, type)}) {
    const std::vector<float> found = read(bytes, type);
    EXPECT_EQ(found[0], -infinity);
    EXPECT_EQ(found[1], infinity);
    EXPECT_TRUE(std::isnan(found[2]));
    EXPECT_EQ(found[3], 1);
  }
  EXPECT_THAT(message(npy<double>("<f8", "(4,)", {0, 1e39, 1, 2}), type), HasSubstr("numbers that f32 holds"));
}

TEST_F(Npy, SaysWhatItHas) {
  read(npy<std::int64_t>("<i8", "(3,)", {7, -1, 1LL << 60}), {ir::DType::f32, {3}});
  const NpyHeader header = read_npy_header(folder_.file("x.npy"));
  EXPECT_EQ(header.type, "<i8");
  EXPECT_EQ(header.shape, (ir::Shape{3}));
  const std::vector<std::uint8_t> bytes = read_npy_elements(folder_.file("x.npy"), 24);
  EXPECT_EQ(bytes[23], 0x10) << "exact, as no float is";
  EXPECT_THROW(read_npy_elements(folder_.file("x.npy"), 16), Error);
  EXPECT_THROW(read_npy_elements(folder_.file("x.npy"), 32), Error);
}

TEST_F(Npy, SaysWhatIsWrong) {
  const std::vector<float> six = {0, 1, 2, 3, 4, 5};
  EXPECT_THAT(message("", floats), HasSubstr("found the end"));
  EXPECT_THAT(message("PK\3\4 a zip archive", floats), HasSubstr("a .npy file of version 1 to 3"));
  EXPECT_THAT(message(npy("<f4", "(3, 2)", six), floats), HasSubstr("expected the shape (2, 3), found (3, 2)"));
  EXPECT_THAT(message(npy("<f4", "(6,)", six), floats), HasSubstr("found (6,)"));
  EXPECT_THAT(message(npy("<f4", "(2, 3)", six, "True"), floats), HasSubstr("expected elements in C order"));
  EXPECT_THAT(message(npy(">f4", "(2, 3)", six), floats), HasSubstr("found '>f4'"));
  EXPECT_THAT(message(npy<float>("<f4", "(2, 3)", {0, 1}), floats), HasSubstr("found the end"));
  EXPECT_THAT(message(npy<float>("<f4", "(2, 3)", {0, 1, 2, 3, 4, 5, 6}), floats), HasSubstr("found more"));
  EXPECT_THAT(message(npy<double>("<f8", "(3,)", {0, 0.5, 1}), integers), HasSubstr("found 0.5"));
  EXPECT_THAT(message(npy<std::int64_t>("<i8", "(3,)", {0, 1LL << 40, 1}), integers), HasSubstr("that i32 holds"));
  EXPECT_THAT(message(npy<std::int64_t>("<i8", "(3,)", {0, 1LL << 31, 1}), integers), HasSubstr("that i32 holds"));
  EXPECT_THROW(read_npy("/nonexistent.npy", floats), Error);
  EXPECT_THROW(read_npy(folder_.path().string(), floats), Error);
}

TEST_F(Npy, AnyBytesAreReadOrRefused) {
  const std::string good = npy<float>("<f4", "(2, 3)", {0, 1, 2, 3, 4, 5});
  Rng rng(1);
  for (int i = 0; i < 300; ++i) {
    std::string bytes = good;
    for (int changes = 1 + static_cast<int>(rng.below(4)); changes > 0; --changes)
      bytes[rng.below(bytes.size())] = static_cast<char>(rng.below(256));
    if (rng.below(4) == 0) bytes.resize(rng.below(bytes.size()));
    message(bytes, floats);
  }
}

}  // namespace
}  // namespace deplo::measure
