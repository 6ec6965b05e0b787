// How each operation is lowered: a row for each, in the file of its kind. Private to the room.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "rules/blocks/plan.h"

namespace deplo::rules::blocks {

class Lowering;
struct At;

struct Row {
  std::string_view name;
  /// Returns the name of an element of the result. It asks for the elements of the operands. nullptr: the operation is
  /// executed at its place, by `statement`.
  std::string (*element)(Lowering&, const tp::Operation&, const At&) = nullptr;
  Reads reads = Reads::own;  // how `element` reads the operands that are tiles
  /// Hardly costs more than reading a kept element, so it is computed again for each use.
  bool cheap = false;
  void (*statement)(Lowering&, const tp::Operation&) = nullptr;
};

std::vector<Row> elementwise_rows();
std::vector<Row> shape_rows();
std::vector<Row> matrix_rows();
std::vector<Row> reduction_rows();
std::vector<Row> memory_rows();
std::vector<Row> view_rows();
std::vector<Row> print_rows();
std::vector<Row> block_rows();
std::vector<Row> control_rows();

const Row& row(const tp::Form&);
/// How an operation reads an operand.
Reads reads(const tp::Operation&, std::size_t operand, const tp::Entry&);

}  // namespace deplo::rules::blocks
