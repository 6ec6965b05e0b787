// The meaning of a Torch IR graph, in double, one function per operation, written without the decompositions: the
// reference that everything below is compared with.
#pragma once
#include <cstdint>
#include <vector>

#include "ir/torch/graph.h"

namespace deplo::ir::torch {

/// A tensor in row-major order; truth values as 0 and 1; f16, bf16 and f32 results are not rounded, `to` rounds. Each
/// has the range of f32, in which PyTorch computes: it overflows to an infinity, and below the least normal number it
/// is a multiple of the least subnormal one.
using Values = std::vector<double>;

/// `sources`: one per node of the graph, used for inputs and parameters only (in node order, others empty). Returns the
/// outputs in order. Values are freed after their last use. Throws Error on an index out of range (embedding, gather).
std::vector<Values> evaluate(const Graph&, const std::vector<Values>& sources);

/// The same with the result of each operation rounded to its type, as PyTorch stores it, and with each sum's positive
/// and negative terms added apart (Operands::sum). Where this is not finite and evaluate() is, or the other way around,
/// it depends on an order of additions, or on which results are stored, whether something overflows.
std::vector<Values> evaluate_rounded(const Graph&, const std::vector<Values>& sources);

/// The same as evaluate() where each element of a source and of a result that is of floats is off by up to `relative`
/// of it, at random, and a result of 16 bits by up to four roundings besides, where the graph allows tf32 also each f32
/// that an operation reads: what that does to the outputs says how well they are determined (Parker, Monte Carlo
/// Arithmetic, UCLA CSD-970002, 1997).
std::vector<Values> evaluate_disturbed(const Graph&, std::vector<Values> sources, double relative, std::uint64_t seed);

}  // namespace deplo::ir::torch
