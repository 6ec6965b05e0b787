// The element types. One table has a row for each type: its name, its size, and its names in other formats.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace deplo::ir {

enum class DType : std::uint8_t {
  f32,
  f16,
  bf16,
  i32,
  boolean,
  i64,
  i8,
  u8,
  i16,
  // Types that only tile programs have (is_kernel_type is false).
  i4,
  tf32,
  f64,
  f8e4m3fn,
  f8e5m2,
  f8e8m0fnu,
  f4e2m1fn,
  // Types that only the arrays of users' own kernels have (docs/kernel_files.md).
  u16,
  u32,
  u64,
};
inline constexpr int dtype_count = 19;

/// The meaning of the bits of a floating-point type: sign, exponent and mantissa as in IEEE 754, or as in the OCP
/// formats of 8 and 4 bits ("OCP Microscaling Formats (MX) Specification", 2023).
struct FloatFormat {
  enum class Special : std::uint8_t {
    ieee,             // infinities and NaN
    nan_is_all_ones,  // NaN only
    finite,           // neither
  };
  int exponent = 0, mantissa = 0;  // widths in bits
  int lowest = 0;                  // exponent of the smallest normal number
  Special special = Special::ieee;
  double largest = 0;
};

/// A row of the table of types. An empty name means that the other format lacks the type.
struct DTypeRow {
  DType dtype = DType::f32;
  std::string_view name;       // name in the text of Loop, Tile and Kernel IR, and in messages
  std::string_view torch;      // torch.NAME
  std::string_view tile;       // name in the text of a tile program
  std::string_view numpy;      // the descriptor in a .npy file
  std::uint64_t tile_tag = 0;  // tag in the bytecode of a tile program (NVIDIA/cuda-tile: BytecodeTypeOpcodes.td)
  int tma = -1;                // CUtensorMapDataType; -1: TMA does not copy it
  int bits = 0;                // width of a value
  int bytes = 0;               // size of an element in memory; 0 for 4-bit types, because two elements share a byte
  bool kernel = false;         // whether Torch, Tensor, Loop, Tile and Kernel IR have the type
  FloatFormat format = {};
};
const DTypeRow& row(DType);

/// The types of Torch, Tensor, Loop, Tile and Kernel IR.
inline constexpr DType kernel_dtypes[] = {DType::f32, DType::f16, DType::bf16, DType::i32, DType::boolean,
                                          DType::i64, DType::i8,  DType::u8,   DType::i16};
inline bool is_kernel_type(DType d) { return row(d).kernel; }

inline std::string_view name(DType d) { return row(d).name; }
inline std::string_view torch_name(DType d) { return row(d).torch; }
inline std::string_view tile_name(DType d) { return row(d).tile; }
inline int width(DType d) { return row(d).bits; }
inline std::int64_t bytes(DType d) { return row(d).bytes; }
constexpr bool is_unsigned(DType d) { return d == DType::u8 || d == DType::u16 || d == DType::u32 || d == DType::u64; }
constexpr bool is_integer(DType d) {
  return d == DType::i32 || d == DType::i64 || d == DType::i4 || d == DType::i8 || d == DType::i16 || is_unsigned(d);
}
/// The integers of 8 and 16 bits that kernels have. Only elements in memory have these types; the values loaded from
/// them are i32. A store keeps the low bits of an i32.
constexpr bool is_narrow_integer(DType d) { return d == DType::i8 || d == DType::u8 || d == DType::i16; }
/// An integer type or bool. In a tile program a bool is an integer of one bit.
constexpr bool is_integral(DType d) { return is_integer(d) || d == DType::boolean; }
constexpr bool is_float(DType d) { return !is_integral(d); }
/// Finds a kernel type by deplo's name or by PyTorch's: "f16" or "float16". Returns nullopt for any other word.
std::optional<DType> parse_dtype(std::string_view);
/// Finds a type by its name in a tile program: "i1", "f8E4M3FN".
std::optional<DType> parse_tile_dtype(std::string_view);
/// Finds a type by the descriptor in a .npy file. Unsigned integers become the signed ones of the same width.
std::optional<DType> numpy_dtype(std::string_view descriptor);
inline bool has_numpy(DType d) { return !row(d).numpy.empty(); }
/// Finds a type by its tag in the bytecode of a tile program.
std::optional<DType> dtype_of_tile_tag(std::uint64_t);

}  // namespace deplo::ir
