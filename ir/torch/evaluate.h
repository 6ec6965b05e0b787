// Evaluates a Torch IR graph in double, with a function per operation that does not use the decompositions. It is the
// reference for all lower levels.
#pragma once
#include <cstdint>
#include <vector>

#include "ir/torch/graph.h"

namespace deplo::ir::torch {

/// A tensor in row-major order. Truth values are 0 and 1. Results of type f16, bf16 and f32 are not rounded, except by
/// `to`. But each has the range of f32, in which PyTorch computes: it overflows to an infinity, and below the least
/// normal number it is a multiple of the least subnormal one.
using Values = std::vector<double>;

/// `sources`: one per node of the graph, in order; empty for nodes other than inputs and parameters. Returns the
/// outputs in order. Frees values after their last use. Throws Error on an index out of range (embedding, gather), and
/// on a 64-bit integer beyond the exact range of double.
std::vector<Values> evaluate(const Graph&, const std::vector<Values>& sources);

/// The same, but the result of each operation is rounded to its type, as PyTorch stores it, and each sum adds its
/// positive and its negative terms separately (Operands::sum). If only one of this and evaluate() is finite, an
/// overflow depends on the order of additions, or on which results are stored.
std::vector<Values> evaluate_rounded(const Graph&, const std::vector<Values>& sources);

/// The same as evaluate() with random errors. Each float element of a source or result is off by a relative error of up
/// to `relative`. A 16-bit result is off by up to four of its roundings more; if the graph allows tf32, each f32 that
/// an operation reads is off by up to four roundings to tf32 more. The effect on the outputs shows how well-determined
/// they are (Parker, Monte Carlo Arithmetic, UCLA CSD-970002, 1997).
std::vector<Values> evaluate_disturbed(const Graph&, std::vector<Values> sources, double relative, std::uint64_t seed);

}  // namespace deplo::ir::torch
