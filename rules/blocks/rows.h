// How each operation is lowered. Each kind of operation has its rows in a file of its own. Private to the room.
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
  /// Computes an element of the result from elements of the operands, and returns its name. nullptr if the operation is
  /// executed where it stands, by `statement`.
  std::string (*element)(Lowering&, const tp::Operation&, const At&) = nullptr;
  Reads reads = Reads::own;  // how `element` reads the operands that are tiles
  /// Costs hardly more than reading a kept element, so each use computes it again.
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
/// Which elements of an operand an operation reads.
Reads reads(const tp::Operation&, std::size_t operand, const tp::Entry&);

}  // namespace deplo::rules::blocks
