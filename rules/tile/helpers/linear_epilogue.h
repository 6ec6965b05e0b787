// Distributes the epilogue of a sum over partial sums: f(p0 + p1 + …) = scale(p0) + scale(p1) + … + rest.
#pragma once
#include <optional>
#include <string>

#include "ir/program.h"

namespace deplo::rules {

inline constexpr const char* not_linear = "epilogue is not linear in the accumulator";

/// The epilogue of one partial sum, and the rest, which is added once. Each ends in a `+=` Write to the same element.
///   v0 = multiply(acc0, in0)                v0 = multiply(acc0, in0)      in1 = load r[a0]
///   in1 = load r[a0]                   →    y[a0] += v0                   y[a0] += in1
///   v1 = add(v0, in1)
///   y[a0] = v1
/// `once` is empty if there is no rest.
struct LinearEpilogue {
  ir::Body partial, once;
};

/// Splits the epilogue. It must be a chain of additions, negations, products and quotients with values that do not
/// depend on `acc`, and end in one Write; otherwise the result is nullopt.
std::optional<LinearEpilogue> distribute(const ir::Program&, const ir::Body& epilogue, const std::string& acc);

}  // namespace deplo::rules
