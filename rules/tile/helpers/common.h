// What several tile rules look at.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/walk.h"
#include "rules/rule.h"

namespace deplo::rules {

/// The one Tile statement of a Tile IR program.
const ir::Tile& tile_of(const ir::Program&);
ir::Tile& tile_of(ir::Program&);
/// A loop of the program that was found in it, to edit.
ir::Loop& to_edit(ir::Program&, const ir::Loop& found);

/// Values in the order wanted, duplicates and values outside [low, high] dropped.
std::vector<Value> options(std::initializer_list<std::int64_t> preferred, std::int64_t low, std::int64_t high);
void add_option(std::vector<Value>& options, std::int64_t value);

/// The axis and whatever depends on it in the body: values by their indices or by other values, axes by their start. Not
/// the values of `except`, nor what follows from them.
std::set<std::string, std::less<>> dependent_names(const ir::Body&, const std::string& axis,
                                                   const std::set<std::string, std::less<>>& except = {});
/// Does the statement read one of the names, itself or in what it holds?
bool depends(const ir::Stmt&, const std::set<std::string, std::less<>>& names);
/// Does the index name a value?
inline bool gathers(const ir::Program& program, const std::vector<ir::Expr>& index) {
  return ir::names_value(program.body, index);
}
/// Does an index of a Load or a Write depend on both axes?
bool walk_together(const ir::Tile&, const std::string& a, const std::string& b);
/// What was element ((outer * count) + inner) of a block becomes element `to`, by axes that stand in the program or will:
/// also where an index has the two apart, as (outer / 2) and ((outer % 2) * 8) + inner of an output in groups of 16.
void renumber(ir::Program&, const std::string& outer, const std::string& inner, std::int64_t count, const ir::Expr& to);
/// Is the buffer read in the body?
bool loads(const ir::Body&, const std::string& buffer);
/// A statement that does nothing but define a value.
bool is_scalar(const ir::Stmt&);
/// The names that a new value or buffer must differ from.
std::set<std::string, std::less<>> names_of(const ir::Program&);
/// One that is new to `names`, which it joins: v0, v1, … and, of a slab of x, x_smem, x_smem1, …
std::string fresh_name(std::set<std::string, std::less<>>& names, const std::string& stem, int n = 0);
std::string slab_name(std::set<std::string, std::less<>>& names, const std::string& source);
/// The sum of each axis times its step; "" is no axis.
ir::Expr position(std::initializer_list<std::pair<std::string, std::int64_t>> steps);

/// A reduce loop that sums products of two values, one that walks the tile's last thread axis (n), one the thread axis
/// before it (m).
struct Matmul {
  const ir::Loop* reduce = nullptr;
  std::size_t m = 0, n = 0;  // positions in the tile's axes
};
std::optional<Matmul> find_matmul(const ir::Program&);  // none where matrix instructions multiply
/// Can matrix instructions of the target multiply the operands: inputs of one type that has 16 bits, or f32 as tf32?
bool multiplies_matrices(const ir::Program&, const Matmul&, const Target&);
/// Is an operand that walks n laid out in another order than along n? Vectors of it want a copy in shared memory.
bool is_transposed(const ir::Program&, const Matmul&);
/// Up to so many rows of a block on a CPU share a panel too seldom to pay for its copy or its place in the cache. It
/// lies between what was measured: blocks of 32 rows, where that held, and of 128, where it did not
/// (docs/performance.md, "TinyLlama's matmuls").
inline constexpr std::int64_t few_rows = 64;
/// An axis of a batch of products along which all have the same columns, or numbers choose them (the blocks of a routed
/// MLP, neighbours in one expert): its position in the tile's axes, of several the last.
std::optional<std::size_t> sharing_axis(const ir::Program&, const Matmul&);
/// On CPUs a matmul reads the panel of an operand where it lies, without a copy, where few_rows of a block or less
/// would share the copy and rows of the panel lie less than a page apart (docs/performance.md, "TinyLlama's matmuls"). Of
/// 16 bits at any distance: a copy would be of f32, as large as what it saves ("Matmuls of few rows and 16 bits"). At any
/// distance, too, where the products of a batch share it: the first brings it to the cache for the others ("A routed MLP").
bool reads_in_place(const ir::Program&, const Matmul&, std::int64_t rows);
/// Bytes of an element, in memory, of what a matmul reads along n.
std::int64_t columns_bytes(const ir::Program&, const Matmul&);

/// The loop that matrix instructions execute (ir/hardware/mma.h); nullptr: there is none.
const ir::Loop* products_loop(const ir::Body&);
inline bool has_products(const ir::Body& body) { return products_loop(body) != nullptr; }
/// Are sums scaled on the way, as those of an online softmax? They cannot be parted like others.
bool has_online_softmax(const ir::Body&);
/// Does the tile body have a reduce loop (at any depth)?
bool has_reduce(const ir::Body&);
bool has_bind(const ir::Tile&, ir::Bind);
/// Does the statement make a 64-bit integer? Vectors, matrix instructions and staged slabs have none.
bool is_i64(const ir::Stmt&);

/// Splits an axis of `extent` into blocks of `size` with the last one shifted inwards (docs/ir.md, Tails):
/// origin of block `block`.
ir::Expr shifted_origin(const std::string& block, std::int64_t size, std::int64_t extent);
/// After an axis was split so: a `+=` Write adds only what the block before did not cover, under
///   if ((block * size) - (extent - size)) < (inner + 1)
/// Other Writes may come twice, and where `size` divides nothing does.
void guard_overlap(ir::Program&, const std::string& block, const std::string& inner, std::int64_t size,
                   std::int64_t extent);
/// The thread axis at `position` becomes ceil(extent / size) blocks, and `size` threads in an axis right behind it.
void split_into_blocks(ir::Program&, std::size_t position, std::int64_t size);
/// Splits the thread axis at `position`: the thread keeps extent / f, a REG axis at the end takes f.
void split_into_registers(ir::Program&, std::size_t position, std::int64_t f);
inline std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace deplo::rules
