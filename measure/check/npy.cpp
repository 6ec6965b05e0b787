#include "measure/check/npy.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <string_view>
#include <type_traits>

#include "core/error.h"
#include "ir/types/float16.h"
#include "measure/check/elements.h"

namespace deplo::measure {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::size_t max_header = 1 << 16;

class NpyFile {
 public:
  explicit NpyFile(const std::string& file) : name_(file) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(file, error)) fail("a .npy file", "none");
    stream_.open(file, std::ios::binary);
    if (!stream_) fail("a readable file", "one that cannot be read");
    read_header();
  }

  NpyHeader header() const {
    if (field("fortran_order") != "False") fail("elements in C order", field("fortran_order") + " as fortran_order");
    const auto shape = read_shape();
    if (!shape) fail("a shape", field("shape"));
    const std::string type = field("descr");
    if (type.size() < 2 || type.front() != '\'' || type.back() != '\'') fail("elements of one type", type);
    return {type.substr(1, type.size() - 2), *shape};
  }

  std::vector<std::uint8_t> elements(std::size_t count) {
    std::vector<std::uint8_t> bytes(count);
    get(reinterpret_cast<char*>(bytes.data()), count);
    check_end();
    return bytes;
  }

  ir::Numbers values(const ir::TensorType& type) {
    const NpyHeader found = with_parts(header());
    if (found.shape != type.shape) fail("the shape " + ir::print(type.shape), ir::print(found.shape));
    const auto count = static_cast<std::size_t>(ir::element_count(type.shape));
    const auto is = [](auto number) { return number; };
    const auto half = [](std::uint16_t bits) { return ir::float16_value(bits, ir::DType::f16); };
    if (found.type == "<f2") return read<std::uint16_t>(count, type.dtype, half);
    if (found.type == "<f4") return read<float>(count, type.dtype, is);
    if (found.type == "<f8") return read<double>(count, type.dtype, is);
    if (found.type == "<i4") return read<std::int32_t>(count, type.dtype, is);
    if (found.type == "<i8") return read<std::int64_t>(count, type.dtype, is);
    if (found.type == "<i2") return read<std::int16_t>(count, type.dtype, is);
    if (found.type == "|i1") return read<std::int8_t>(count, type.dtype, is);
    if (found.type == "|u1" || found.type == "|b1") return read<std::uint8_t>(count, type.dtype, is);
    if (found.type == "<u2") return read<std::uint16_t>(count, type.dtype, is);
    if (found.type == "<u4") return read<std::uint32_t>(count, type.dtype, is);
    if (found.type == "<u8") return read<std::uint64_t>(count, type.dtype, is);
    fail("elements of bool, integers of 8 to 64 bits, float16, float32 or float64 ('<f4', …)", "'" + found.type + "'");
  }

 private:
  // Returns complex numbers as real ones with a last dimension of the two parts, as a graph has them.
  static NpyHeader with_parts(NpyHeader h) {
    if (h.type != "<c8" && h.type != "<c16") return h;
    h.type = h.type == "<c8" ? "<f4" : "<f8";
    h.shape.push_back(2);
    return h;
  }

  [[noreturn]] void fail(const std::string& expected, const std::string& found) const {
    throw Error(fmt::format("{}: expected {}, found {}", name_, expected, found));
  }

  void get(char* to, std::size_t count) {
    stream_.read(to, static_cast<std::streamsize>(count));
    if (static_cast<std::size_t>(stream_.gcount()) != count) fail(fmt::format("{} more bytes", count), "the end");
  }

  // Reads "\x93NUMPY", the version, the length of the header, and the header, which is a Python dictionary as text.
  void read_header() {
    std::array<char, 8> magic = {};
    get(magic.data(), magic.size());
    if (std::string_view(magic.data(), 6) != "\x93NUMPY" || magic[6] < 1 || magic[6] > 3)
      fail("a .npy file of version 1 to 3", "other bytes at its start");
    std::uint32_t length = 0;
    get(reinterpret_cast<char*>(&length), magic[6] == 1 ? 2 : 4);
    if (length > max_header) fail(fmt::format("a header of at most {} bytes", max_header), std::to_string(length));
    header_.resize(length);
    get(header_.data(), length);
  }

  /// Returns the text after `'key':` up to the comma or brace that ends it. A tuple in parentheses is returned whole.
  std::string field(std::string_view key) const {
    std::size_t at = header_.find(fmt::format("'{}':", key));
    if (at == std::string::npos) fail(fmt::format("'{}' in the header", key), "none");
    at = header_.find_first_not_of(' ', at + key.size() + 3);
    if (at == std::string::npos) fail(fmt::format("'{}' in the header", key), "none");
    const bool list = header_[at] == '(';
    const std::size_t end = header_.find_first_of(list ? ")" : ",}", at);
    if (end == std::string::npos) fail(fmt::format("'{}' in the header", key), "one without an end");
    std::string text = header_.substr(at, end - at + (list ? 1 : 0));
    text.resize(text.find_last_not_of(' ') + 1);
    for (char& c : text)  // keep messages printable
      if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) c = '?';
    return text;
  }

  std::optional<ir::Shape> read_shape() const {
    const std::string text = field("shape");
    if (text.empty() || text.front() != '(') return std::nullopt;
    ir::Shape shape;
    const char* at = text.data() + 1;
    for (const char* const end = text.data() + text.size() - 1; at < end;) {
      if (*at == ' ' || *at == ',') {
        ++at;
        continue;
      }
      std::int64_t extent = 0;
      const auto [next, error] = std::from_chars(at, end, extent);
      if (error != std::errc() || extent < 0) return std::nullopt;
      shape.push_back(extent);
      at = next;
    }
    return shape;
  }

  template <class T, class Number>
  ir::Numbers read(std::size_t count, ir::DType dtype, Number number) {
    ir::Numbers result(dtype, count);
    std::vector<T> piece(std::min<std::size_t>(count, 4096));
    result.visit([&](auto& values) {
      for (std::size_t start = 0; start < count; start += piece.size()) {
        const std::size_t piece_size = std::min(piece.size(), count - start);
        get(reinterpret_cast<char*>(piece.data()), piece_size * sizeof(T));
        for (std::size_t i = 0; i < piece_size; ++i)
          values[start + i] = element<std::decay_t<decltype(values[0])>>(number(piece[i]), dtype);
      }
    });
    check_end();
    return result;
  }

  void check_end() {
    if (stream_.peek() != std::ifstream::traits_type::eof()) fail("the end of the file after the elements", "more");
  }

  /// Converts a `value` of the file to a tensor's element. Throws Error if the type cannot hold the value. The
  /// comparison is exact for every type that fits in a double; 64-bit integers are compared as integers.
  template <class To, class From>
  To element(From value, ir::DType dtype) const {
    bool holds = true;
    if constexpr (std::is_integral_v<To> && std::is_integral_v<From>)
      holds = std::in_range<To>(value);
    else if constexpr (std::is_integral_v<To>)
      holds = static_cast<double>(value) >= static_cast<double>(std::numeric_limits<To>::min()) &&
              static_cast<double>(value) < std::ldexp(1.0, std::numeric_limits<To>::digits) &&
              value == std::trunc(value);
    else if (dtype == ir::DType::boolean)
      holds = value == From{0} || value == From{1};
    else if constexpr (sizeof(From) == 8 &&
                       sizeof(To) < 8)  // infinities and NaN stay as they are; a finite number must stay finite
      holds = !std::isfinite(static_cast<double>(value)) ||
              std::abs(static_cast<double>(value)) <= double{std::numeric_limits<float>::max()};
    if (!holds) {
      const std::string_view numbers = ir::is_float(dtype) ? "numbers" : "whole numbers";
      fail(fmt::format("{} that {} holds", numbers, ir::name(dtype)), fmt::format("{}", value));
    }
    return static_cast<To>(value);
  }

  std::string name_, header_;
  std::ifstream stream_;
};

}  // namespace

NpyHeader read_npy_header(const std::string& file) { return NpyFile(file).header(); }

std::vector<std::uint8_t> read_npy_elements(const std::string& file, std::size_t bytes) {
  return NpyFile(file).elements(bytes);
}

ir::Numbers read_npy(const std::string& file, const ir::TensorType& type) { return NpyFile(file).values(type); }

std::string npy_start(const NpyHeader& of) {
  std::string extents;
  for (const std::int64_t extent : of.shape) extents += fmt::format("{}, ", extent);
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", of.type, extents);
  // The elements begin at a multiple of 64 bytes, after the magic, the version, the length, the header and a newline.
  constexpr std::size_t before = 10, alignment = 64;
  header.resize((before + header.size() + 1 + alignment - 1) / alignment * alignment - before - 1, ' ');
  header += '\n';
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size() & 0xff);
  bytes += static_cast<char>(header.size() >> 8);
  return bytes + header;
}

std::string npy_bytes(const ir::Numbers& values, const ir::TensorType& type) {
  const bool own = ir::is_held_as_stored(type.dtype) || type.dtype == ir::DType::boolean;
  const ir::DType stored = own ? type.dtype : ir::DType::f32;
  std::string bytes = npy_start({std::string(ir::row(stored).numpy), type.shape});
  const std::size_t start = bytes.size();
  bytes.resize(start + values.size() * static_cast<std::size_t>(ir::bytes(stored)));
  encode(values, stored, reinterpret_cast<std::byte*>(bytes.data() + start));
  return bytes;
}

}  // namespace deplo::measure
