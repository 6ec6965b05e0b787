// The one statement variant of Loop, Tile and Kernel IR. Plain values: copy = clone, == is structural equality.
#pragma once
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "ir/stmt_async.h"
#include "ir/stmt_kernel.h"
#include "ir/stmt_leaves.h"
#include "ir/stmt_tile.h"

namespace deplo::ir {

struct Stmt;
using Body = std::vector<Stmt>;

/// for v = start; v < axis.extent; v += step. `unroll`: 1 none, 0 full, n by n.
/// A StridedLoop in the text is a Loop whose start is not 0 or whose step is not 1.
struct Loop {
  Axis axis;
  Expr start = 0;
  std::int64_t step = 1;
  int unroll = 1;
  Body body;
  std::string per = {};  // Tile IR: a REG axis that the whole loop is replicated over; "": its statements are
  bool operator==(const Loop&) const = default;
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

struct Stmt {
  using Node = std::variant<Loop, Load, Index, Assign, Accum, Write, Prefetch, If, Tile, Stage, AsyncWait, Combine,
                            Smem, Init, Sync, TreeHalve, WarpShuffle, CpAsyncCopy, CpAsyncCommit, CpAsyncWait,
                            MbarrierInit, MbarrierArriveExpectTx, MbarrierWait, TmaDescriptor, TmaLoad>;
  Node node;
  template <class T>
  // NOLINTNEXTLINE(google-explicit-constructor): a node is a statement
  requires(!std::is_same_v<std::remove_cvref_t<T>, Stmt>) Stmt(T&& n) : node(std::forward<T>(n)) {}
  template <class T>
  const T* as() const {
    return std::get_if<T>(&node);
  }
  template <class T>
  T* as() {
    return std::get_if<T>(&node);
  }
  bool operator==(const Stmt&) const = default;
};

}  // namespace deplo::ir
