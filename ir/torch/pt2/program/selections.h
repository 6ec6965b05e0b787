// Elements that a computed mask selects and that return to their places: y[mask] = f(x[mask]).
#pragma once
#include "ir/torch/pt2/program/program.h"

namespace deplo::ir::torch::pt2 {

/// Replaces selected elements by all elements. Their number is then known: f is computed for each element of x, and a
/// `where` chooses the results that the mask selects. This requires that f computes element by element, and that only
/// stores through the same mask read its results. Other selections stay as they are.
void keep_shapes_of_selections(ProgramGraph&);

}  // namespace deplo::ir::torch::pt2
