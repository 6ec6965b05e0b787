// The meaning of each operation: a function for each, in the file of its kind. Private to the room.
#pragma once
#include <string_view>
#include <vector>

#include "ir/tile_program/interpret/machine.h"

namespace deplo::ir::tile_program::exec {

using Function = void (*)(Evaluation&);
struct Evaluator {
  std::string_view name;
  Function function = nullptr;
  /// Works element by element. A body of such operations in a reduce or scan runs for all rows at once.
  bool elementwise = false;
  bool touches_memory = false;
};

std::vector<Evaluator> float_evaluators();
std::vector<Evaluator> integer_evaluators();
std::vector<Evaluator> conversion_evaluators();
std::vector<Evaluator> shape_evaluators();
std::vector<Evaluator> matrix_evaluators();
std::vector<Evaluator> reduce_evaluators();
std::vector<Evaluator> memory_evaluators();
std::vector<Evaluator> view_evaluators();
std::vector<Evaluator> other_evaluators();

/// nullptr for control flow (machine.cpp): for, if, loop, continue, break, yield, return.
const Evaluator* find_evaluator(const Form&);

/// The index of element number `element` of a tile: "(3, 5)".
std::string element_index(const Extents& shape, std::size_t element);

}  // namespace deplo::ir::tile_program::exec
