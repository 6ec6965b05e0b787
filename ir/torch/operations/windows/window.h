// Reads around each place, in Tensor IR: of padded tensors, windows and convolutions.
#pragma once
#include "ir/torch/operations/family.h"

namespace deplo::ir::torch {

class Given;

/// The coordinates of the element of a row-major tensor with the number `flat`.
Coordinates unflattened(const Expr& flat, const Shape&);
/// a && b
Expr both(const Expr& a, const Expr& b);
/// 0 <= place < extent
Expr within(const Expr& place, std::int64_t extent);
/// x[coordinates] where the condition holds, and a number elsewhere. The coordinates are in range everywhere.
int guarded(Emitter&, int x, const Shape&, Coordinates, const Expr& inside, double otherwise, std::string_view suffix);
/// The last dimensions with these extents: means of windows, or their greatest elements.
Id adaptive_pool(const Given&, Id x, const Shape& places, bool mean);

}  // namespace deplo::ir::torch
