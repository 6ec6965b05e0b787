// Tensor cores: a reduce loop of Tile IR that is marked with an atom is executed by matrix instructions of whole warps.
// Its text and its meaning stay those of the loop: each element of the sum is a register of the thread that holds it in
// the instruction's own layout (PTX ISA, "Matrix multiply-accumulate operation using mma instruction").
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/hardware/float16.h"
#include "ir/hardware/gpu.h"
#include "ir/program.h"

namespace deplo::ir::mma {

/// f16 or bf16, both operands of the one type; or f32, rounded to tf32.
enum class Operands : std::uint8_t { float16, tf32 };
/// Elements of what type in memory they are.
constexpr bool takes(Operands operands, DType dtype) {
  return operands == Operands::float16 ? is_float16(dtype) : dtype == DType::f32;
}

/// Rows, columns and depth of the product that one instruction of so many warps adds to m x n sums of f32: mma.sync of a
/// warp from sm_80 on, wgmma of a warpgroup on sm_90a. Of each 16 x 8 sums of a warp, thread 4 g + t (g < 8, t < 4) holds
/// (8 r + g, 2 t + v) for r, v < 2; of a warpgroup, warp w has rows 16 w and on.
///
/// Operands of a warp come in matrices of 8 rows (of a; of b columns) and 16 bytes along k, a register of each thread: thread
/// 4 g + t has the elements t packed() + e of row g. They are counted rows first, then along k.
struct Atom {
  std::string name;
  std::int64_t m, n, k;
  Operands operands;
  std::int64_t warps = 1;

  bool of_warpgroup() const { return warps > 1; }                                // reads operand b from shared memory
  std::int64_t packed() const { return operands == Operands::float16 ? 2 : 1; }  // elements of a register
  std::int64_t depth() const { return 4 * packed(); }                            // of a matrix, along k
  std::int64_t a_matrices() const { return m / warps / 8 * (k / depth()); }      // of a warp
  std::int64_t b_matrices() const { return n / 8 * (k / depth()); }
  bool takes(DType dtype) const { return mma::takes(operands, dtype); }
};
std::span<const Atom> atoms();
const Atom* find_atom(std::string_view name);  // nullptr: none
std::string_view element_names(const Atom&);   // for messages: "f16 or bf16"
/// Multiply-adds of 16 bits into f32, dense, that a multiprocessor of an architecture ("sm_90") does in a cycle at best.
std::int64_t multiply_adds_per_cycle(std::string_view architecture);
/// Cycles that the tensor core of a scheduler, one of four, works at a warp's part of one product.
double tensor_cycles(const Atom&, std::string_view architecture);
inline constexpr std::int64_t row_threads = 8, column_threads = 4, row_registers = 2, column_registers = 2;
inline constexpr std::int64_t warpgroup = gpu::warps_of_group * gpu::warp;  // threads
static_assert(row_threads * column_threads == gpu::warp);
inline constexpr std::int64_t warp_rows = row_registers * row_threads, warp_columns = column_threads * column_registers;

/// Trips that a loop makes in the sources: an atom takes k of its turns at once.
std::int64_t trips(const Loop&);

/// What a loop multiplies by in each turn: an element of a slab in shared memory, from which instructions fetch it; or a
/// value that each thread makes for itself, for the elements of its registers.
struct Factor {
  std::string value;
  std::vector<const Stmt*> made_by;  // of the loop's body: Loads, Indices and Assigns, in order
  const Stage* slab = nullptr;       // nullptr: threads make it
  bool along_k = true;  // of a slab: the last dimension of its buffer runs along k; else along rows or columns

  bool in_slab() const { return slab != nullptr; }
  const Load* load() const { return made_by.size() == 1 ? made_by.front()->as<Load>() : nullptr; }  // that is all of it
  bool depends_on(const std::string& axis) const;
};
/// The elements in memory that it has the values of: those of a buffer, or what rounding makes of other values; nullopt:
/// it is not rounded.
std::optional<DType> element_type(const Program&, const Factor&);

/// What a marked loop multiplies: acc <- add(acc, multiply(a, b)), for turn k of the loop and sum (row, column).
struct Product {
  const Atom* atom = nullptr;
  Factor a, b;
  std::string acc;
  std::string rows, row_thread;        // the axes r and g that row 8 r + g of `a` is read by
  std::string columns, column_thread;  // v and t of column 2 t + v of `b`
  std::string warp;                    // of a warpgroup: w of row 16 w
  std::string next;                    // the axis j of column 8 j + 2 t + v, where the atom has more than 8
};
/// The factors of the body's one sum of products; `a` is the one that depends on the axis `rows`. nullopt: there are none.
struct Factors {
  Factor a, b;
  std::string acc;
};
std::optional<Factors> find_factors(const Tile&, const Body&, const std::string& rows);
/// "" where the marked loop is one, with what it multiplies in `product`; else why not, in one line.
std::string find_product(const Tile&, const Loop&, Product& product);

/// Of a Loop program the values that are products of two such operands, loads or values that are rounded to them, and that
/// a sum adds up: what the instructions are for, if the program allows tf32 or not.
std::vector<std::string> find_products(const Program&, Operands);
/// Whether tensor cores may execute such products of the program.
bool may_multiply(const Program&);

}  // namespace deplo::ir::mma
