// The statements of Kernel IR alone; asynchronous copies are in stmt_async.h.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ir/expr.h"
#include "ir/op.h"
#include "ir/types.h"

namespace deplo::ir {

struct Smem {
  std::string buffer;
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
  std::int64_t align = 16;  // bytes; the widest access of a thread, more where TMA asks for it
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

/// dst = op over the values of the `length` neighbouring threads (a power of two up to the warp) whose numbers differ
/// in the low bits only; all of them get it.
struct WarpShuffle {
  std::string dst;
  Type type;
  std::string value;
  Op op = Op::add;
  std::int64_t length = 32;
  bool operator==(const WarpShuffle&) const = default;
};

}  // namespace deplo::ir
