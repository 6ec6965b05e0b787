// The nodes of an Expression, for code that evaluates expressions in another way than Expression::evaluate().
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/foreign/expression.h"

namespace deplo::engine::foreign {

/// The operation of a call. range_of() (engine/foreign/range.h) can compute bounds for all but the last four.
enum class Operation : std::uint8_t {
  none,
  add,
  subtract,
  multiply,
  divide,
  floor_divide,
  remainder,
  power,
  negate,
  keep,
  invert,
  complement,
  bit_and,
  bit_or,
  bit_xor,
  shift_left,
  shift_right,
  equal,
  differ,
  less,
  less_equal,
  greater,
  greater_equal,
  in,
  not_in,
  min,
  max,
  abs,
  to_float,
  truncate,
  round,
  ceil,
  floor,
  sqrt,
  log2,
  at,
  length,
  range,
  list,
};

// A node computes its value from the values of its parts. Errors are thrown without the place; Expression::evaluate()
// adds it.
struct Expression::Node {
  enum class Kind {
    constant,
    name,
    list,
    call,
    choice,  // of three parts: the second if the first is true, otherwise the third
    both,    // of two parts: the second if the first is true, otherwise the first
    either,  // of two parts: the first if it is true, otherwise the second
  };
  using Function = Operand (*)(std::span<const Operand>);
  Kind kind = Kind::constant;
  Operand value = Scalar(std::int64_t{0});  // only for a constant
  std::size_t name = 0;                     // only for a name: its index in Expression::names()
  Operation operation = Operation::none;    // only for a call
  Function function = nullptr;              // only for a call: computes the operation
  std::vector<std::shared_ptr<const Node>> parts = {};

  Operand evaluate(std::span<const Operand> values) const;
  /// For choice, both and either: returns the index of the part that is the value. `first`: the first part is true.
  std::size_t choose(bool first) const;
};

}  // namespace deplo::engine::foreign
