// Scalar operations: one table row each, so that a new one is one line here and one in emit/dialect.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace deplo::ir {

// A line per arity. The numbers are in the structural keys of stores (canonical/colours.cpp): new ones come last.
// clang-format off
enum class Op : std::uint8_t {
  copy, negative, reciprocal, exp, log, sqrt, rsqrt, tanh, sigmoid, relu, erf, absolute, sin, cos, logical_not,  // one
  add, subtract, multiply, divide, maximum, minimum, power, logical_and, logical_or,  // two arguments
  less, less_equal, equal, not_equal,                                                 // two of one type → bool
  fma, select,                                             // a * b + c; a truth value ? b : c
  lanes_add, lanes_multiply, lanes_maximum, lanes_minimum, // vector value → scalar
  round_f16, round_bf16,                                   // an f32 to the nearest that has 16 bits
  round_tf32,                                              // … that tensor cores multiply, ties away from zero
  exp2                                                     // 2^a; a result below the normal f32 may be 0
};
// clang-format on

std::string_view name(Op);  // as in the text: "multiply"
std::optional<Op> parse_op(std::string_view);
int arity(Op);
/// In double with the range of f32 (in_f32_range), truth values as 0 and 1; not for the lanes_ operations.
double apply(Op, std::span<const double> args);
/// The neutral element of an operation that may reduce (add 0, multiply 1, maximum -inf, minimum +inf); else nullopt.
std::optional<double> neutral(Op);
/// Whether the result is a truth value: the comparisons and the logical operations.
bool gives_truth(Op);
/// Whether op(a, b) is op(b, a) for all numbers.
bool is_commutative(Op);
/// Whether it is one of the lanes_ operations.
constexpr bool is_horizontal(Op op) { return op >= Op::lanes_add && op <= Op::lanes_minimum; }
/// lanes_add for add, …: the horizontal form of an operation that may reduce.
std::optional<Op> horizontal(Op);

}  // namespace deplo::ir
