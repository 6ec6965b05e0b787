// The evaluators: one function for the meaning of each operation, grouped in a file per family. Private to this folder.
#pragma once
#include <string_view>
#include <vector>

#include "ir/tile_program/interpret/machine.h"

namespace deplo::ir::tile_program::exec {

using Function = void (*)(Evaluation&);
struct Evaluator {
  std::string_view name;
  Function function = nullptr;
  /// The operation works element by element. A reduce or scan body of such operations runs for all rows at once.
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

/// Returns nullptr for control flow (for, if, loop, continue, break, yield, return), which machine.cpp executes.
const Evaluator* find_evaluator(const Form&);

/// Returns the index of element number `element` of a tile: "(3, 5)".
std::string element_index(const Extents& shape, std::size_t element);

}  // namespace deplo::ir::tile_program::exec
