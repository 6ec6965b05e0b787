// The one statement variant of Loop, Tile and Kernel IR. Plain values: copy = clone, == is structural equality.
#pragma once
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "ir/expr.h"
#include "ir/op.h"
#include "ir/types.h"

namespace deplo::ir {

struct Stmt;
using Body = std::vector<Stmt>;
using Arg = std::variant<std::string, double>;  // an SSA value or a constant

/// free and reduce bind loops; the others axes of a Tile. A lane bound to reg or vector is run by the same thread:
/// a statement that depends on such an axis is replicated over it (reg) or becomes a vector value (vector).
enum class Bind : std::uint8_t { free, reduce, block, thread, reg, vector };

struct Axis {
  std::string name;
  std::int64_t extent = 1;
  Bind bind = Bind::free;
  bool operator==(const Axis&) const = default;
};

/// for v = start; v < axis.extent; v += step. `unroll`: 1 none, 0 full, n by n.
/// A StridedLoop in the text is a Loop whose start is not 0 or whose step is not 1.
struct Loop {
  Axis axis;
  Expr start = 0;
  std::int64_t step = 1;
  int unroll = 1;
  Body body;
  bool operator==(const Loop&) const = default;
};

/// dst = buffer[index…]; with lanes > 1, that many consecutive elements of the last dimension (stride 1).
struct Load {
  std::string dst;
  Type type;
  std::string buffer;
  std::vector<Expr> index;
  bool operator==(const Load&) const = default;
};

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

struct If {
  Expr condition;
  Body then;
  bool operator==(const If&) const = default;
};

/// The launch: block and thread axes, linearised with the last axis of each kind fastest.
struct Tile {
  std::vector<Axis> axes;
  Body body;
  bool operator==(const Tile&) const = default;
};

/// Tile IR: `buffer` is a copy in shared memory of a slab of `source`, filled by all threads of the block together;
/// elements outside the source are 0. Each slab axis walks one dimension of the source.
struct SlabAxis {
  std::string name;
  std::int64_t extent = 1;
  int dim = 0;
  bool operator==(const SlabAxis&) const = default;
};
struct Stage {
  std::string buffer, source;
  std::vector<Expr> origin;    // one per dimension of the source
  std::vector<SlabAxis> slab;  // the dimensions of `buffer`, in order
  bool operator==(const Stage&) const = default;
};

/// Tile IR: merges the partials of `acc` over the named thread and vector axes; afterwards all of them hold the total.
struct Combine {
  std::string acc;
  Op op = Op::add;
  std::vector<std::string> over;
  bool operator==(const Combine&) const = default;
};

// Kernel IR only.
struct Smem {
  std::string buffer;
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
  bool operator==(const Smem&) const = default;
};
struct Init {  // acc = neutral(op)
  std::string acc;
  Type type;
  Op op = Op::add;
  bool operator==(const Init&) const = default;
};
struct Sync {
  bool operator==(const Sync&) const = default;
};
/// for s = length/2 … 1: if (tid < s) buffer[…, tid] = op(buffer[…, tid], buffer[…, tid + s]); Sync after each step.
/// `length` is a power of two; `prefix` are the leading indices of the buffer.
struct TreeHalve {
  std::string buffer;
  Op op = Op::add;
  std::int64_t length = 1;
  std::vector<Expr> prefix;
  Expr tid;
  bool operator==(const TreeHalve&) const = default;
};

struct Stmt {
  using Node = std::variant<Loop, Load, Assign, Accum, Write, If, Tile, Stage, Combine, Smem, Init, Sync, TreeHalve>;
  Node node;
  template <class T>
    requires(!std::is_same_v<std::remove_cvref_t<T>, Stmt>)
  Stmt(T&& n) : node(std::forward<T>(n)) {}  // NOLINT(google-explicit-constructor): a node is a statement
  template <class T>
  const T* as() const { return std::get_if<T>(&node); }
  template <class T>
  T* as() { return std::get_if<T>(&node); }
  bool operator==(const Stmt&) const = default;
};

}  // namespace deplo::ir
