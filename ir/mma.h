// Tensor cores: a reduce loop of Tile IR that is marked with an atom is executed by matrix instructions of whole warps.
// Its text and its meaning stay those of the loop: each element of the sum is a register of the thread that holds it in
// the instruction's own layout (PTX ISA, "Matrix multiply-accumulate operation using mma instruction").
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "ir/stmt.h"

namespace deplo::ir::mma {

/// Rows, columns and depth of the product that one instruction adds to m x n sums; operands of 16 bits, sums of f32.
/// Of a warp, thread 4 g + t (g < 8, t < 4) holds the sums (8 r + g, 2 t + v) for r, v < 2.
struct Atom {
  std::string_view name;
  std::int64_t m, n, k;
};
std::span<const Atom> atoms();
const Atom* find_atom(std::string_view name);  // nullptr: none
inline constexpr std::int64_t row_threads = 8, column_threads = 4, row_registers = 2, column_registers = 2;
inline constexpr std::int64_t warp = row_threads * column_threads;

/// Trips that a loop makes in the sources: an atom takes k of its turns at once.
std::int64_t trips(const Loop&);

/// What a marked loop multiplies: acc <- add(acc, multiply(a, b)), for turn k of the loop and sum (row, column).
struct Product {
  const Atom* atom = nullptr;
  const Load *a = nullptr, *b = nullptr;
  std::string acc;
  std::string rows, row_thread;        // the axes r and g that row 8 r + g of `a` is read by
  std::string columns, column_thread;  // v and t of column 2 t + v of `b`
  bool a_by_rows = true;               // the last dimension of a's buffer runs along k …
  bool b_by_columns = true;            // … and that of b's; else along rows or columns
};
/// "" where the marked loop is one, with what it multiplies in `product`; else why not, in one line.
std::string find_product(const Tile&, const Loop&, Product& product);

}  // namespace deplo::ir::mma
