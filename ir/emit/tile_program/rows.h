// What each operation becomes: a row each, in the file of its kind. Private to the room.
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
  /// An expression of the result's element at a place; the operands' are asked for. nullptr of an operation that is
  /// done where it stands.
  std::string (*element)(Emitter&, const Operation&, const At&) = nullptr;
  Reads reads = Reads::own;  // of all operands that are tiles, by `element`
  /// Costs hardly more than reading an element that is kept: worked out as often as it is used.
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
/// Of an operation that is done where it stands: how it reads an operand.
Reads reads(const Operation&, std::size_t operand, const Entry&);

}  // namespace deplo::ir::tile_program::blocks
