// Scalar operations: one table row each, so that a new one is one line here and one in emit/dialect.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace deplo::ir {

// A line per arity.
// clang-format off
enum class Op : std::uint8_t {
  copy, negative, reciprocal, exp, log, sqrt, rsqrt, tanh, sigmoid, relu, erf, absolute,  // one argument
  add, subtract, multiply, divide, maximum, minimum, power,                               // two
  fma,                                                                                    // a * b + c
  lanes_add, lanes_multiply, lanes_maximum, lanes_minimum                                 // vector value → scalar
};
// clang-format on

std::string_view name(Op);  // as in the text: "multiply"
std::optional<Op> parse_op(std::string_view);
int arity(Op);
/// In double; not for the lanes_ operations.
double apply(Op, std::span<const double> args);
/// The neutral element of an operation that may reduce (add 0, multiply 1, maximum -inf, minimum +inf); else nullopt.
std::optional<double> neutral(Op);
/// lanes_add for add, …: the horizontal form of an operation that may reduce.
std::optional<Op> horizontal(Op);

}  // namespace deplo::ir
