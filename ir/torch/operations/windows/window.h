// Helpers for operations that read around each place: padding, windows and convolutions, in Tensor IR.
#pragma once
#include <array>

#include "ir/torch/operations/family.h"

namespace deplo::ir::torch {

class Given;

/// Returns the coordinates of element number `flat` of a row-major tensor.
Coordinates unflattened(const Expr& flat, const Shape&);
/// a && b
Expr both(const Expr& a, const Expr& b);
/// 0 <= place < extent
Expr within(const Expr& place, std::int64_t extent);
/// Returns x[coordinates] where `inside` holds, and `otherwise` elsewhere. The coordinates must be in range everywhere.
int guarded(Emitter&, int x, const Shape&, Coordinates, const Expr& inside, double otherwise, std::string_view suffix);
/// Pools the last dimensions to the extents `places`, by the mean of each window or by its maximum.
Id adaptive_pool(const Given&, Id x, const Shape& places, bool mean);
/// Returns the weights of the elements at -1, 0, 1 and 2 for a value at t, from 0 to 1 (Keys, Cubic convolution
/// interpolation for digital image processing, 1981, with a = -0.75).
std::array<Id, 4> cubic_weights(const Given&, Id t);

}  // namespace deplo::ir::torch
