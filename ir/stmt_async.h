// Asynchronous copies in Kernel IR: cp.async, mbarriers and TMA (PTX ISA, "Data Movement and Conversion Instructions").
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ir/expr.h"

namespace deplo::ir {

/// The thread starts to copy `lanes` elements of global `source` to shared `buffer`: 4, 8 or 16 bytes, aligned to that.
struct CpAsyncCopy {
  std::string buffer;
  std::vector<Expr> index;
  std::string source;
  std::vector<Expr> at;
  int lanes = 1;
  bool operator==(const CpAsyncCopy&) const = default;
};
struct CpAsyncCommit {  // the thread's copies since the last one are a group
  bool operator==(const CpAsyncCommit&) const = default;
};
/// All but the thread's last `keep` groups have landed; the others of the block see that after a Sync.
struct CpAsyncWait {
  std::int64_t keep = 0;
  bool operator==(const CpAsyncWait&) const = default;
};

/// Declares `slots` barriers in shared memory, each complete after `count` arrivals and the bytes they expect; thread 0
/// initialises them, the others may use them after a Sync.
struct MbarrierInit {
  std::string barrier;
  std::int64_t slots = 1, count = 1;
  bool operator==(const MbarrierInit&) const = default;
};
struct MbarrierArriveExpectTx {
  std::string barrier;
  Expr slot;
  std::int64_t bytes = 0;
  bool operator==(const MbarrierArriveExpectTx&) const = default;
};
/// Waits until the phase of this parity (0 or 1) is complete.
struct MbarrierWait {
  std::string barrier;
  Expr slot, phase;
  bool operator==(const MbarrierWait&) const = default;
};

/// A launch parameter: how the hardware walks `source` (CUDA driver API, cuTensorMapEncodeTiled). `box`: elements of
/// one load, one per dimension of the source.
struct TmaDescriptor {
  std::string name, source;
  std::vector<std::int64_t> box;
  int swizzle = 0;  // bytes
  bool operator==(const TmaDescriptor&) const = default;
};
/// The thread starts to copy the box at `coordinates` to `buffer` from `index` on, in the box's order; what lies
/// outside the source is 0. The bytes of the whole box are reported to the barrier.
struct TmaLoad {
  std::string buffer;
  std::vector<Expr> index;
  std::string descriptor;
  std::vector<Expr> coordinates;  // one per dimension of the source
  std::string barrier;
  Expr slot;
  bool operator==(const TmaLoad&) const = default;
};

}  // namespace deplo::ir
