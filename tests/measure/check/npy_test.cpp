#include "measure/check/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>

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
  std::vector<float> read(const std::string& bytes, const ir::TensorType& type) {
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
    const std::string bytes = npy_bytes(values, shape);
    EXPECT_EQ(read(bytes, {ir::DType::f32, shape}), values);
    EXPECT_EQ((bytes.size() - 6 * sizeof(float)) % 64, 0U);
  }
  EXPECT_EQ(read(npy_bytes(std::vector{7.0F}, {}), {ir::DType::f32, {}}), std::vector{7.0F}) << "a scalar";
  EXPECT_EQ(read(npy_bytes({}, {0, 3}), {ir::DType::f32, {0, 3}}), std::vector<float>());
}

TEST_F(Npy, ReadsWhatNumpyWrites) {
  const auto six = ElementsAre(0, 1, 2, 3, 4, 5.5F);
  EXPECT_THAT(read(npy<float>("<f4", "(2, 3)", {0, 1, 2, 3, 4, 5.5F}), floats), six);
  EXPECT_THAT(read(npy<double>("<f8", "(2, 3)", {0, 1, 2, 3, 4, 5.5}), floats), six);
  EXPECT_THAT(read(npy<std::int64_t>("<i8", "(3,)", {7, -1, 0}), integers), ElementsAre(7, -1, 0));
  EXPECT_THAT(read(npy<std::int32_t>("<i4", "(3,)", {7, -1, 0}), integers), ElementsAre(7, -1, 0));
  EXPECT_THAT(read(npy<char>("|b1", "(2,)", {1, 0}), truths), ElementsAre(1, 0));
  EXPECT_THAT(read(npy<float>("<f4", "()", {3}), {ir::DType::f32, {}}), ElementsAre(3));
  EXPECT_THAT(read(npy<std::uint16_t>("<f2", "(3,)", {0x3c00, 0xc500, 1}), {ir::DType::f16, {3}}),
              ElementsAre(1, -5, 0x1p-24F));
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
  EXPECT_THAT(message(npy<float>("<f4", "(2, 3)", {0, 1, 2, NAN, 4, 5}), floats), HasSubstr("finite numbers that f32"));
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
