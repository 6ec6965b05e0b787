// Decides which integers of a graph fit in 32 bits.
#pragma once
#include "ir/torch/graph.h"

namespace deplo::ir::torch {

/// Sets the type of every integer that has 64 bits in PyTorch (Node::wide). It becomes i32 if all its possible values
/// fit and all values that it is computed from are i32 as well; otherwise it becomes i64. The possible values of an
/// input are those of its file, or those of its fill if there is no file. If the fill is a guess, they are all values
/// of i32. May be called again after inputs were given values. Throws Error if a number or an int32 tensor cannot be
/// exact.
void fit_integers(Graph&);

}  // namespace deplo::ir::torch
