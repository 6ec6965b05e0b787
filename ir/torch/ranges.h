// Which integers of a graph fit in 32 bits.
#pragma once
#include "ir/torch/graph.h"

namespace deplo::ir::torch {

/// Gives every integer that has 64 bits in PyTorch (Node::wide) the type i32 if all values that it can have fit, and
/// all values that it is calculated of are i32 as well; else i64. The values of an input are those of its file, else
/// those that it is drawn from, else those of an i32: a file with others makes it an i64. May be called again after
/// inputs were given values. Throws Error where a number or an int32 tensor cannot be exact.
void fit_integers(Graph&);

}  // namespace deplo::ir::torch
