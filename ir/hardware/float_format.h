// The element types of tile programs, as bits and as numbers (Tile IR specification, "Type System", element types).
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace deplo::ir::tile_program {

enum class Element : std::uint8_t {
  i1,
  i4,
  i8,
  i16,
  i32,
  i64,
  f16,
  bf16,
  f32,
  tf32,
  f64,
  f8e4m3fn,
  f8e5m2,
  f8e8m0fnu,
  f4e2m1fn,
};
inline constexpr int element_types = 15;

std::string_view name(Element);  // as the text of a program spells it: "f32", "f8E4M3FN"
std::optional<Element> parse_element(std::string_view);
constexpr bool is_integer(Element e) { return e <= Element::i64; }
/// Bits of a value: 1, 4, 8 … 64; 19 of a tf32.
int width(Element);
/// Bytes of an element in memory, an i1 has one; 0 of the 4-bit types, two of which share a byte.
int bytes(Element);

/// How a result that its type cannot hold is rounded (specification, "rounding mode"), in the order of the bytecode.
enum class Rounding : std::uint8_t {
  nearest_even,
  zero,
  negative_inf,
  positive_inf,
  approx,
  full,
  nearest_int_to_zero,
  nearest_away,
};

/// The number that these bits of a float type are. Bits above the type's width are ignored.
double decode_float(std::uint64_t bits, Element);
/// The bits of a number that the type holds exactly; of another number those of round_to.
std::uint64_t encode_float(double value, Element);

/// The number of the float type that the rounding names; `approx` and `full` are to the nearest: they allow errors and
/// ask for none. Beyond the largest: an infinity, or NaN (f8E4M3FN) or the largest (f4E2M1FN) of a type without one.
/// `beyond` says on which side of `value` the exact number is that it stands for: +1 above, -1 below, 0 on it; so an
/// operation that was calculated in double is rounded once.
double round_to(double value, Element, Rounding = Rounding::nearest_even, int beyond = 0);

/// The lowest `width` bits.
constexpr std::uint64_t wrap(std::uint64_t bits, int width) {
  return width >= 64 ? bits : bits & ((1ULL << width) - 1);
}
/// Bits of that width as a two's complement number.
constexpr std::int64_t as_signed(std::uint64_t bits, int width) {
  const int unused = 64 - width;
  return static_cast<std::int64_t>(bits << unused) >> unused;
}

}  // namespace deplo::ir::tile_program
