// Scalar operations. Each is one table row, so a new operation takes one line here and one in emit/dialect.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace deplo::ir {

// Structural keys in stores contain the numeric values (canonical/colours.cpp), so new operations come last.
// clang-format off
enum class Op : std::uint8_t {
  // one argument
  copy, negative, reciprocal, exp, log, sqrt, rsqrt, tanh, sigmoid, relu, erf, absolute, sin, cos, logical_not,
  add, subtract, multiply, divide, maximum, minimum, power, logical_and, logical_or,  // two arguments
  less, less_equal, equal, not_equal,                                                 // two of the same type → bool
  fma, select,                                             // a * b + c; a truth value ? b : c
  lanes_add, lanes_multiply, lanes_maximum, lanes_minimum, // vector value → scalar
  round_f16, round_bf16,                                   // an f32 to the nearest f16 or bf16
  round_tf32,                                              // an f32 to the nearest tf32, ties away from zero
  exp2,                                                    // 2^a; a result below the normal f32 may be 0
  bit_and, bit_or, bit_xor, shift_left, shift_right        // on integers; a shift is by 0 to bits - 1
};
// clang-format on

std::string_view name(Op);  // the name in the text: "multiply"
std::optional<Op> parse_op(std::string_view);
int arity(Op);
/// Computes in double, limited to the range of f32 (in_f32_range). Truth values are 0 and 1. Does not accept the lanes_
/// operations.
double apply(Op, std::span<const double> args);
/// The neutral element of a reduction operation (add 0, multiply 1, maximum -inf, minimum +inf); nullopt for other
/// operations.
std::optional<double> neutral(Op);
/// Whether the result is a truth value: the comparisons and the logical operations.
bool gives_truth(Op);
/// Whether the operation combines the bits of two integers.
bool is_bitwise(Op);
/// Whether op(a, b) == op(b, a) for all numbers.
bool is_commutative(Op);
/// Whether the operation is one of the lanes_ operations.
constexpr bool is_horizontal(Op op) { return op >= Op::lanes_add && op <= Op::lanes_minimum; }
/// The horizontal form of a reduction operation: lanes_add for add, and so on.
std::optional<Op> horizontal(Op);

}  // namespace deplo::ir
