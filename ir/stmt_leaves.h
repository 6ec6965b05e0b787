// The statements that hold no others; those of Tile IR alone are in stmt_tile.h, those of Kernel IR in stmt_kernel.h
// and stmt_async.h.
#pragma once
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "ir/axis.h"
#include "ir/expr.h"
#include "ir/op.h"
#include "ir/types.h"

namespace deplo::ir {

using Arg = std::variant<std::string, double>;  // an SSA value or a constant

/// dst = buffer[index…]; with lanes > 1, that many consecutive elements of the last dimension (stride 1).
struct Load {
  std::string dst;
  Type type;
  std::string buffer;
  std::vector<Expr> index;
  bool operator==(const Load&) const = default;
};

/// dst = the value of an index expression: an i32, a boolean for a condition (another expression: whether it is not 0),
/// or converted to f32. With lanes > 1, lane l has the value where the variable `lane` is l.
struct Index {
  std::string dst;
  Type type;
  Expr value;
  bool operator==(const Index&) const = default;
};
inline constexpr const char* lane_variable = "lane";

/// Scalars among the args of a vector operation are broadcast.
struct Assign {
  std::string dst;
  Type type;
  Op op = Op::copy;
  std::vector<Arg> args;
  bool operator==(const Assign&) const = default;
};

/// dst = op(dst, value), or dst = fma(args[0], args[1], dst) in Kernel IR. See accumulator scopes in docs/ir.md: above
/// Kernel IR the accumulator starts at the neutral element in the innermost body that holds all its uses.
struct Accum {
  std::string dst;
  Type type;
  Op op = Op::add;
  std::vector<Arg> args;
  bool operator==(const Accum&) const = default;
};

enum class WriteMode : std::uint8_t { assign, add };  // =  +=
struct Write {
  std::string buffer;
  std::vector<Expr> index;
  Arg value;
  WriteMode mode = WriteMode::assign;
  int lanes = 1;  // consecutive elements of the last dimension
  bool operator==(const Write&) const = default;
};

/// Asks for the memory around buffer[index…] before it is read, or written. No value depends on it, and the index may
/// lie outside the buffer.
struct Prefetch {
  std::string buffer;
  std::vector<Expr> index;
  bool write = false;
  bool operator==(const Prefetch&) const = default;
};

}  // namespace deplo::ir
