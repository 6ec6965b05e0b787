// What each operation does: a function each, in the file of its kind. Private to the room.
#pragma once
#include <string_view>
#include <vector>

#include "ir/tile_program/interpret/machine.h"

namespace deplo::ir::tile_program::exec {

using Function = void (*)(Evaluation&);
struct Evaluator {
  std::string_view name;
  Function function = nullptr;
  /// Works element by element: so a body of a reduce runs all its rows at once.
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

/// nullptr of operations that change where a block goes on (machine.cpp): for, if, loop, continue, break, yield, return.
const Evaluator* find_evaluator(const Form&);

/// "(3, 5)" of the element of that number in a tile.
std::string element_index(const Extents& shape, std::size_t element);

}  // namespace deplo::ir::tile_program::exec
