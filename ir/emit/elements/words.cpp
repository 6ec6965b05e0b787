#include "ir/emit/elements/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "ir/emit/float16.h"

namespace deplo::ir::elements {
namespace {

constexpr Words opencl_words = {.language = "OpenCL C",
                                .global = "__global ",
                                .shared = "__local ",
                                .function = "",
                                .table = "__constant ",
                                .long_format = "l",
                                .intrinsics = false};
constexpr Words cuda_words = {.language = "CUDA C++",
                              .global = "",
                              .shared = "",
                              .function = "static __device__ __forceinline__ ",
                              .table = "static __device__ const ",
                              .long_format = "ll",
                              .intrinsics = true};

/// A piece of the vocabulary: the text of each dialect, then the text common to both. FUNCTION stands for
/// Words::function.
struct Piece {
  std::array<std::string_view, 4> words;  // a source that contains one of these words needs the piece
  std::string_view opencl, cuda, common;
};

constexpr Piece types_piece = {
    {{"void"}},

    R"(#pragma OPENCL FP_CONTRACT OFF
typedef uchar u8;
typedef ushort u16;
typedef uint u32;
typedef ulong u64;
typedef char i8;
typedef short i16;
typedef int i32;
typedef long i64;
typedef float f32;
f32 f32_of(u32 bits) { return as_float(bits); }
u32 f32_bits(f32 x) { return as_uint(x); }
u32 high_product_u32(u32 a, u32 b) { return mul_hi(a, b); }
u64 high_product_u64(u64 a, u64 b) { return mul_hi(a, b); }
void fence_block() { mem_fence(CLK_GLOBAL_MEM_FENCE); }
void fence_device() { mem_fence(CLK_GLOBAL_MEM_FENCE); }
void fence_system() { mem_fence(CLK_GLOBAL_MEM_FENCE); }
)",
    R"(typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned u32;
typedef unsigned long long u64;
typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;
typedef float f32;
FUNCTION f32 f32_of(u32 bits) { return __uint_as_float(bits); }
FUNCTION u32 f32_bits(f32 x) { return __float_as_uint(x); }
FUNCTION u32 high_product_u32(u32 a, u32 b) { return __umulhi(a, b); }
FUNCTION u64 high_product_u64(u64 a, u64 b) { return __umul64hi(a, b); }
FUNCTION void fence_block() { __threadfence_block(); }
FUNCTION void fence_device() { __threadfence(); }
FUNCTION void fence_system() { __threadfence_system(); }
)",
    R"(FUNCTION f32 flushed(f32 x) { return (f32_bits(x) & 0x7f800000u) == 0 ? f32_of(f32_bits(x) & 0x80000000u) : x; }
)"};

constexpr Piece f64_piece = {{{"f64"}},

                             R"(#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double f64;
f64 f64_of(u64 bits) { return as_double(bits); }
u64 f64_bits(f64 x) { return as_ulong(x); }
)",
                             R"(typedef double f64;
FUNCTION f64 f64_of(u64 bits) { return __longlong_as_double((i64)bits); }
FUNCTION u64 f64_bits(f64 x) { return (u64)__double_as_longlong(x); }
)",
                             ""};

constexpr Piece half_piece = {{{"f16_"}}, opencl_half_access, "", ""};

// See PTX ISA, "cvt".
constexpr Piece f16_piece = {
    {{"f16_"}},

    R"(f32 f16_value(u16 bits) { return f16_load((const half*)&bits); }
u16 f16_bits(f32 x) {
  u16 bits;
  f16_store(x, (half*)&bits);
  return bits;
}
)",
    R"(FUNCTION f32 f16_value(u16 bits) {
  f32 x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
  return x;
}
FUNCTION u16 f16_bits(f32 x) {
  u16 bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}
)",
    "FUNCTION u32 f16_pair(f32 low, f32 high) { return f16_bits(low) | (u32)f16_bits(high) << 16; }\n"};

// Rounds to nearest even: adds almost half of the last kept unit, plus the lowest kept bit, before cutting off. A NaN
// is replaced, because its kept bits could be those of another value.
constexpr Piece bf16_piece = {{{"bf16_"}},
                              "",
                              "",
                              R"(FUNCTION f32 bf16_value(u16 bits) { return f32_of((u32)bits << 16); }
FUNCTION u16 bf16_bits(f32 x) {
  const u32 bits = f32_bits(x);
  return x != x ? (u16)0x7fc0 : (u16)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}
FUNCTION u32 bf16_pair(f32 low, f32 high) { return bf16_bits(low) | (u32)bf16_bits(high) << 16; }
)"};
constexpr Piece tf32_piece = {{{"tf32_"}},
                              "",
                              "",
                              R"(FUNCTION f32 tf32_value(u32 bits) { return f32_of(bits << 13); }
FUNCTION u32 tf32_bits(f32 x) {
  const u32 bits = f32_bits(x);
  return x != x ? 0x3fe00u : (bits + 0xfffu + (bits >> 13 & 1u)) >> 13;
}
)"};

// Formats of 4 and 8 bits: a sign, `e` bits of exponent, `m` bits of mantissa, least normal number 2^low. Values beyond
// the code `largest` become `beyond`.
constexpr Piece small_floats_piece = {{{"f8E", "f4E"}},
                                      "",
                                      "",
                                      R"(FUNCTION f32 small_value(u32 code, i32 e, i32 m, i32 low) {
  const u32 magnitude = code & ((1u << (e + m)) - 1u), exponent = magnitude >> m;
  const f32 x = exponent == 0
                    ? (f32)magnitude * f32_of((u32)(low - m + 127) << 23)
                    : f32_of(((exponent + (u32)(low + 126)) << 23) | ((magnitude & ((1u << m) - 1u)) << (23 - m)));
  return (code >> (e + m) & 1u) != 0 ? -x : x;
}
FUNCTION u8 small_bits(f32 x, i32 e, i32 m, i32 low, u32 largest, u32 beyond, u32 nan) {
  const u32 bits = f32_bits(x), magnitude = bits & 0x7fffffffu, sign = (bits >> 31) << (e + m);
  if (magnitude > 0x7f800000u) return (u8)nan;
  const i32 exponent = (i32)(magnitude >> 23) - 127, below = exponent < low ? low - exponent : 0;
  if (below > m + 1) return (u8)sign;
  const u32 whole = (magnitude & 0x7fffffu) | 0x800000u;
  const i32 shift = 23 - m + below;
  const u32 kept = (whole + (1u << (shift - 1)) - 1u + (whole >> shift & 1u)) >> shift;
  const u32 code = kept + (exponent < low ? 0u : (u32)(exponent - low) << m);
  return (u8)(sign | (code <= largest ? code : beyond));
}
FUNCTION f32 f8E4M3FN_value(u8 code) {
  return (code & 0x7fu) == 0x7fu ? f32_of(0x7fc00000u) : small_value(code, 4, 3, -6);
}
FUNCTION u8 f8E4M3FN_bits(f32 x) { return small_bits(x, 4, 3, -6, 0x7e, 0x7f, 0x7f); }
FUNCTION f32 f8E5M2_value(u8 code) {
  if ((code & 0x7cu) == 0x7cu) return f32_of((code & 3u) != 0 ? 0x7fc00000u : 0x7f800000u | (u32)(code & 0x80u) << 24);
  return small_value(code, 5, 2, -14);
}
FUNCTION u8 f8E5M2_bits(f32 x) { return small_bits(x, 5, 2, -14, 0x7b, 0x7c, 0x7e); }
FUNCTION f32 f4E2M1FN_value(u8 code) { return small_value(code, 2, 1, 0); }
FUNCTION u8 f4E2M1FN_bits(f32 x) { return small_bits(x, 2, 1, 0, 7, 7, 7); }
FUNCTION f32 f8E8M0FNU_value(u8 code) {
  return f32_of(code == 255 ? 0x7fc00000u : code == 0 ? 0x400000u : (u32)code << 23);
}
FUNCTION u8 f8E8M0FNU_power(f32 x, i32 up) {
  const u32 bits = f32_bits(x);
  if (bits >= 0x7f800000u) return 255;
  if (bits <= 0x400000u) return 0;
  return (u8)((bits >> 23) + (up != 0 && (bits & 0x7fffffu) != 0 ? 1u : 0u));
}
FUNCTION u8 f8E8M0FNU_bits(f32 x) { return f8E8M0FNU_power(x, 0); }
)"};

// Rounding to odd before a conversion to a narrower type. The conversion then gives the same result as rounding the
// exact number once (Boldo and Melquiond: Emulation of FMA and correctly rounded sums, 2008).
constexpr Piece odd_piece = {{{"odd_of_u64", "odd_of_i64"}},
                             "",
                             "",
                             R"(FUNCTION f32 odd_of_u64(u64 x) {
  f32 scale = 1;
  for (; x >> 24 != 0; scale *= 2) x = x >> 1 | (x & 1u);
  return (f32)x * scale;
}
FUNCTION f32 odd_of_i64(i64 x) { return x < 0 ? -odd_of_u64(0 - (u64)x) : odd_of_u64((u64)x); }
)"};
constexpr Piece odd_f64_piece = {{{"odd_of_f64"}},
                                 "",
                                 "",
                                 R"(FUNCTION f32 odd_of_f64(f64 x) {
  const f32 near = (f32)x;
  if ((f64)near == x || x != x || fabs(x) >= 0x1p128 || (f32_bits(near) & 1u) != 0) return near;
  return f32_of(f32_bits(near) + (fabs((f64)near) > fabs(x) ? 0xffffffffu : 1u));
}
)"};

// IEEE 754-2019 maximum (a NaN propagates) and maximumNumber (a NaN is ignored). +0 is above -0.
constexpr Piece extremes_piece = {{{"larger_f32", "smaller_f32", "larger_or_nan_f32", "smaller_or_nan_f32"}},
                                  "",
                                  "",
                                  R"(FUNCTION f32 larger_f32(f32 a, f32 b) {
  return a == b ? ((f32_bits(a) >> 31) != 0 ? b : a) : a > b || b != b ? a : b;
}
FUNCTION f32 smaller_f32(f32 a, f32 b) { return -larger_f32(-a, -b); }
FUNCTION f32 larger_or_nan_f32(f32 a, f32 b) { return a != a ? a : b != b ? b : larger_f32(a, b); }
FUNCTION f32 smaller_or_nan_f32(f32 a, f32 b) { return -larger_or_nan_f32(-a, -b); }
)"};

constexpr Piece extremes_f64_piece = {{{"larger_f64", "smaller_f64", "larger_or_nan_f64", "smaller_or_nan_f64"}},
                                      "",
                                      "",
                                      R"(FUNCTION f64 larger_f64(f64 a, f64 b) {
  return a == b ? ((f64_bits(a) >> 63) != 0 ? b : a) : a > b || b != b ? a : b;
}
FUNCTION f64 smaller_f64(f64 a, f64 b) { return -larger_f64(-a, -b); }
FUNCTION f64 larger_or_nan_f64(f64 a, f64 b) { return a != a ? a : b != b ? b : larger_f64(a, b); }
FUNCTION f64 smaller_or_nan_f64(f64 a, f64 b) { return -larger_or_nan_f64(-a, -b); }
)"};

constexpr Piece atomics_piece = {
    {{"swap_if_u32"}},

    R"(u32 swap_if_u32(__global volatile u32* at, u32 expected, u32 value) { return atomic_cmpxchg(at, expected, value); }
)",
    R"(FUNCTION u32 swap_if_u32(volatile u32* at, u32 expected, u32 value) { return atomicCAS((u32*)at, expected, value); }
)",
    ""};
constexpr Piece atomics_64_piece = {
    {{"swap_if_u64"}},

    R"(#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
u64 swap_if_u64(__global volatile u64* at, u64 expected, u64 value) { return atom_cmpxchg(at, expected, value); }
)",
    R"(FUNCTION u64 swap_if_u64(volatile u64* at, u64 expected, u64 value) { return atomicCAS((u64*)at, expected, value); }
)",
    ""};

constexpr std::array vocabulary_pieces = {
    types_piece, f64_piece,     half_piece,     f16_piece,          bf16_piece,    tf32_piece,      small_floats_piece,
    odd_piece,   odd_f64_piece, extremes_piece, extremes_f64_piece, atomics_piece, atomics_64_piece};

/// Returns the prefix of the functions that convert a float type to and from bits: "f16" for f16_bits and f16_value.
/// Returns "" for types that are stored as they are.
std::string_view bit_functions(DType e) {
  return is_integral(e) || e == DType::f32 || e == DType::f64 ? "" : tile_name(e);
}

}  // namespace

const Words& words(Dialect d) { return d == Dialect::opencl ? opencl_words : cuda_words; }

std::string vocabulary(std::string_view source, Dialect dialect) {
  std::string text;
  for (const Piece& piece : vocabulary_pieces) {
    const auto is_used = [&](std::string_view word) {
      return !word.empty() && source.find(word) != std::string_view::npos;
    };
    if (std::none_of(piece.words.begin(), piece.words.end(), is_used)) continue;
    text += dialect == Dialect::opencl ? piece.opencl : piece.cuda;
    text += piece.common;
  }
  constexpr std::string_view mark = "FUNCTION ";
  for (std::size_t at = 0; (at = text.find(mark, at)) != std::string::npos;)
    text.replace(at, mark.size(), words(dialect).function);
  return text;
}

std::string integer_type(int width, bool with_sign) {
  const int bits = width <= 8 ? 8 : width <= 16 ? 16 : width <= 32 ? 32 : 64;
  return fmt::format("{}{}", with_sign ? 'i' : 'u', bits);
}

std::string c_type(DType e) { return is_integral(e) ? integer_type(width(e), false) : e == DType::f64 ? "f64" : "f32"; }

std::string memory_type(DType e) {
  return is_integral(e) || !bit_functions(e).empty() ? integer_type(width(e), false) : c_type(e);
}

std::string bits_of(const std::string& value, DType e) {
  return is_integral(e) ? value : fmt::format("{}_bits({})", tile_name(e), value);
}

std::string of_bits(const std::string& bits, DType e) {
  if (is_integral(e)) return bits;
  return e == DType::f32 || e == DType::f64 ? fmt::format("{}_of({})", tile_name(e), bits)
                                            : fmt::format("{}_value({})", tile_name(e), bits);
}

std::string to_memory(const std::string& value, DType e) {
  return bit_functions(e).empty() ? value : bits_of(value, e);
}

std::string from_memory(const std::string& element, DType e) {
  if (e == DType::boolean) return "(u8)(" + element + " != 0)";
  return bit_functions(e).empty() ? element : of_bits(element, e);
}

std::string rounded(const std::string& value, DType e) {
  return bit_functions(e).empty() ? value : of_bits(bits_of(value, e), e);
}

std::string literal(std::uint64_t bits, DType e) {
  if (is_integral(e)) {
    const std::uint64_t kept = wrap(bits, width(e));
    return width(e) == 64 ? fmt::format("{}ul", kept) : fmt::format("{}u", kept);
  }
  const double number = decode_float(bits, e);
  if (std::isfinite(number)) return e == DType::f64 ? fmt::format("{:a}", number) : fmt::format("{:a}f", number);
  return e == DType::f64 ? fmt::format("f64_of({}ul)", encode_float(number, e))
                         : fmt::format("f32_of({}u)", encode_float(number, DType::f32));
}

}  // namespace deplo::ir::elements
