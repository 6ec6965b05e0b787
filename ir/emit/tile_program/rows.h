// How each operation is emitted: a row for each, in the file of its kind. Private to the room.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "ir/emit/tile_program/plan.h"

namespace deplo::ir::tile_program::blocks {

class Emitter;
struct At;

struct Row {
  std::string_view name;
  /// Returns an expression of an element of the result. It asks the emitter for the elements of the operands. nullptr:
  /// the operation is executed at its place, by `statement`.
  std::string (*element)(Emitter&, const Operation&, const At&) = nullptr;
  Reads reads = Reads::own;  // how `element` reads the operands that are tiles
  /// Hardly costs more than reading a kept element, so it is computed again for each use.
  bool cheap = false;
  void (*statement)(Emitter&, const Operation&) = nullptr;
};

std::vector<Row> float_rows();
std::vector<Row> integer_rows();
std::vector<Row> conversion_rows();
std::vector<Row> shape_rows();
std::vector<Row> matrix_rows();
std::vector<Row> reduction_rows();
std::vector<Row> memory_rows();
std::vector<Row> view_rows();
std::vector<Row> print_rows();
std::vector<Row> block_rows();
std::vector<Row> control_rows();

const Row& row(const Form&);
/// How an operation reads an operand.
Reads reads(const Operation&, std::size_t operand, const Entry&);

}  // namespace deplo::ir::tile_program::blocks
