#include "ir/types/dtype.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

namespace deplo::ir {
namespace {

constexpr FloatFormat::Special ieee = FloatFormat::Special::ieee, ones = FloatFormat::Special::nan_is_all_ones,
                               only_finite = FloatFormat::Special::finite;
constexpr double largest_f64 = std::numeric_limits<double>::max();

// One row per type, in the order of the enum. Columns: dtype, name, torch, tile, numpy, tile_tag, tma, bits, bytes,
// kernel, format.
constexpr std::array<DTypeRow, dtype_count> rows = {{
    {DType::f32, "f32", "float32", "f32", "<f4", 7, 7, 32, 4, true, {8, 23, -126, ieee, 0x1.FFFFFEp127}},
    {DType::f16, "f16", "float16", "f16", "<f2", 5, 6, 16, 2, true, {5, 10, -14, ieee, 65504}},
    {DType::bf16, "bf16", "bfloat16", "bf16", "", 6, 9, 16, 2, true, {8, 7, -126, ieee, 0x1.FEp127}},
    {DType::i32, "i32", "int32", "i32", "<i4", 3, 3, 32, 4, true},
    {DType::boolean, "bool", "bool", "i1", "|b1", 0, -1, 1, 1, true},
    {DType::i64, "i64", "int64", "i64", "<i8", 4, -1, 64, 8, true},
    {DType::i8, "i8", "int8", "i8", "|i1", 1, -1, 8, 1, true},
    {DType::u8, "u8", "uint8", "", "|u1", 0, -1, 8, 1, true},
    {DType::i16, "i16", "int16", "i16", "<i2", 2, -1, 16, 2, true},
    {DType::i4, "i4", "", "i4", "", 0x16, -1, 4, 0, false},
    {DType::tf32, "tf32", "", "tf32", "", 8, -1, 19, 4, false, {8, 10, -126, ieee, 0x1.FFCp127}},
    {DType::f64, "f64", "float64", "f64", "<f8", 9, -1, 64, 8, false, {11, 52, -1022, ieee, largest_f64}},
    {DType::f8e4m3fn, "f8E4M3FN", "float8_e4m3fn", "f8E4M3FN", "", 10, -1, 8, 1, false, {4, 3, -6, ones, 448}},
    {DType::f8e5m2, "f8E5M2", "float8_e5m2", "f8E5M2", "", 11, -1, 8, 1, false, {5, 2, -14, ieee, 57344}},
    {DType::f8e8m0fnu,
     "f8E8M0FNU",
     "float8_e8m0fnu",
     "f8E8M0FNU",
     "",
     18,
     -1,
     8,
     1,
     false,
     {8, 0, -127, ones, 0x1p127}},
    {DType::f4e2m1fn, "f4E2M1FN", "", "f4E2M1FN", "", 19, -1, 4, 0, false, {2, 1, 0, only_finite, 6}},
    {DType::u16, "u16", "uint16", "", "<u2", 0, -1, 16, 2, false},
    {DType::u32, "u32", "uint32", "", "<u4", 0, -1, 32, 4, false},
    {DType::u64, "u64", "uint64", "", "<u8", 0, -1, 64, 8, false},
}};

static_assert([] {
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i].dtype != static_cast<DType>(i)) return false;
  return true;
}());

template <class Is>
std::optional<DType> find(const Is& is) {
  const auto* const found = std::ranges::find_if(rows, is);
  return found == rows.end() ? std::nullopt : std::optional(found->dtype);
}

}  // namespace

const DTypeRow& row(DType d) { return rows[static_cast<std::size_t>(d)]; }

std::optional<DType> parse_dtype(std::string_view word) {
  return find([&](const DTypeRow& r) { return r.kernel && (r.name == word || r.torch == word); });
}

std::optional<DType> parse_tile_dtype(std::string_view word) {
  return find([&](const DTypeRow& r) { return !r.tile.empty() && r.tile == word; });
}

std::optional<DType> numpy_dtype(std::string_view descriptor) {
  std::string is_signed(descriptor);
  std::ranges::replace(is_signed, 'u', 'i');
  return find([&](const DTypeRow& r) { return !r.numpy.empty() && r.numpy == is_signed; });
}

std::optional<DType> dtype_of_tile_tag(std::uint64_t tag) {
  return find([&](const DTypeRow& r) { return !r.tile.empty() && r.tile_tag == tag; });
}

}  // namespace deplo::ir
