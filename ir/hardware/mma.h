// Tensor cores. Matrix instructions of whole warps execute a reduce loop of Tile IR that is marked with an atom. The
// loop keeps its text and its meaning: each element of the sum is a register of the thread that holds it in the
// instruction's own layout (PTX ISA, "Matrix multiply-accumulate operation using mma instruction").
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/hardware/gpu.h"
#include "ir/program.h"
#include "ir/types/float16.h"

namespace deplo::ir::mma {

/// The types of the operands: float16 is f16 or bf16, the same for both operands; tf32 is f32, rounded to tf32.
enum class Operands : std::uint8_t { float16, tf32 };
/// Whether elements of this type in memory can be operands of this kind.
constexpr bool takes(Operands operands, DType dtype) {
  return operands == Operands::float16 ? is_float16(dtype) : dtype == DType::f32;
}

/// A matrix instruction of one or more warps. It adds a product of m rows, n columns and depth k to m x n sums of f32.
/// It is mma.sync of a warp from sm_80 on, or wgmma of a warpgroup on sm_90a. The sums of a warp form tiles of 16 x 8.
/// In each tile, thread 4 g + t (g < 8, t < 4) holds the sums (8 r + g, 2 t + v) for r, v < 2. Warp w of a warpgroup
/// has the rows from 16 w on.
///
/// Operands of a warp consist of matrices of 8 rows (for b: columns) and 16 bytes along k. A matrix takes one register
/// of each thread: thread 4 g + t has elements t * packed() + e of row g. The matrices are counted along the rows
/// first, then along k.
struct Atom {
  std::string name;
  std::int64_t m, n, k;
  Operands operands;
  std::int64_t warps = 1;

  bool of_warpgroup() const { return warps > 1; }                                // if so, operand b is in shared memory
  std::int64_t packed() const { return operands == Operands::float16 ? 2 : 1; }  // elements per register
  std::int64_t depth() const { return 4 * packed(); }                            // elements of a matrix along k
  std::int64_t a_matrices() const { return m / warps / 8 * (k / depth()); }      // per warp
  std::int64_t b_matrices() const { return n / 8 * (k / depth()); }
  bool takes(DType dtype) const { return mma::takes(operands, dtype); }
};
std::span<const Atom> atoms();
const Atom* find_atom(std::string_view name);  // nullptr: none
std::string_view element_names(const Atom&);   // for messages: "f16 or bf16"
/// Peak dense multiply-adds per cycle of a multiprocessor of an architecture ("sm_90"), from 16-bit factors into f32.
std::int64_t multiply_adds_per_cycle(std::string_view architecture);
/// Cycles that the tensor core of a scheduler (one of four) needs for a warp's part of one product.
double tensor_cycles(const Atom&, std::string_view architecture);
inline constexpr std::int64_t row_threads = 8, column_threads = 4, row_registers = 2, column_registers = 2;
inline constexpr std::int64_t warpgroup = gpu::warps_of_group * gpu::warp;  // threads
static_assert(row_threads * column_threads == gpu::warp);
inline constexpr std::int64_t warp_rows = row_registers * row_threads, warp_columns = column_threads * column_registers;

/// The number of iterations of the emitted loop: an atom executes k iterations of the Tile IR loop at once.
std::int64_t trips(const Loop&);

/// A factor of a loop's product. It is an element of a slab in shared memory, from which instructions fetch it, or a
/// value that each thread computes for the elements of its own registers.
struct Factor {
  std::string value;
  std::vector<const Stmt*> made_by;  // statements of the loop's body: Loads, Indices and Assigns, in order
  const Stage* slab = nullptr;       // nullptr: the threads compute the factor
  bool along_k = true;  // for a slab: whether its buffer's last dimension runs along k, not along rows or columns

  bool in_slab() const { return slab != nullptr; }
  /// The Load, if the factor is nothing but a loaded element; else nullptr.
  const Load* load() const { return made_by.size() == 1 ? made_by.front()->as<Load>() : nullptr; }
  bool depends_on(const std::string& axis) const;
};
/// The type of the factor's elements in memory: the type of the slab or buffer from which they are loaded, or the type
/// to which the factor is rounded; nullopt: the factor is neither loaded nor rounded.
std::optional<DType> element_type(const Program&, const Factor&);

/// The product of a marked loop: acc <- add(acc, multiply(a, b)), for iteration k of the loop and sum (row, column).
struct Product {
  const Atom* atom = nullptr;
  Factor a, b;
  std::string acc;
  std::string rows, row_thread;        // the axes r and g in row 8 r + g of `a`
  std::string columns, column_thread;  // the axes v and t in column 2 t + v of `b`
  std::string warp;                    // for a warpgroup: the axis w in row 16 w + 8 r + g
  std::string next;                    // if the atom has more than 8 columns: the axis j in column 8 j + 2 t + v
};
/// The factors of a sum of products. `a` is the factor that depends on the axis `rows`.
struct Factors {
  Factor a, b;
  std::string acc;
};
/// Returns the factors if the body is one sum of products and nothing else; nullopt otherwise.
std::optional<Factors> find_factors(const Tile&, const Body&, const std::string& rows);
/// Analyses a marked loop. If it is a Product, sets `product` and returns ""; else returns the reason in one line.
std::string find_product(const Tile&, const Loop&, Product& product);

/// Returns the values of a Loop program that matrix instructions with operands of this kind could compute: products
/// that a sum adds up, if both factors are loaded as, or rounded to, a type of this kind. Ignores whether the program
/// allows tf32.
std::vector<std::string> find_products(const Program&, Operands);
/// Whether the program has products that tensor cores may execute.
bool may_multiply(const Program&);

}  // namespace deplo::ir::mma
