// Evaluates a Torch IR graph in double. Each operation has a function of its own that does not use the decompositions.
// The result is the reference for all lower levels.
#pragma once
#include <cstdint>
#include <vector>

#include "ir/torch/graph.h"

namespace deplo::ir::torch {

/// A tensor in row-major order. Truth values are 0 and 1. Results of type f16, bf16 and f32 are not rounded, except by
/// `to`. But each result has the range of f32, in which PyTorch computes: it overflows to an infinity, and below the
/// least normal number it is a multiple of the least subnormal number.
using Values = std::vector<double>;

/// Evaluates a graph and returns its outputs in order. `sources`: one entry per node of the graph, in order; empty for
/// nodes other than inputs and parameters. Frees values after their last use. Throws Error on an index out of range
/// (embedding, gather), and on a 64-bit integer beyond the exact range of double.
std::vector<Values> evaluate(const Graph&, const std::vector<Values>& sources);

/// Does the same as evaluate(), but rounds the result of each operation to its type, as PyTorch stores it, and adds the
/// positive and the negative terms of each sum separately (Operands::sum). If only one of the two functions returns a
/// finite number, an overflow depends on the order of additions, or on which results are stored.
std::vector<Values> evaluate_rounded(const Graph&, const std::vector<Values>& sources);

/// Does the same as evaluate(), but with random errors. Each float element of a source or result has a relative error
/// of up to `relative`. A 16-bit result has an additional error of up to four of its roundings. If the graph allows
/// tf32, each f32 that an operation reads has an additional error of up to four roundings to tf32. The effect on the
/// outputs shows how well-determined they are (Parker, Monte Carlo Arithmetic, UCLA CSD-970002, 1997).
std::vector<Values> evaluate_disturbed(const Graph&, std::vector<Values> sources, double relative, std::uint64_t seed);

}  // namespace deplo::ir::torch
