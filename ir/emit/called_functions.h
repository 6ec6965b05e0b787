// The functions that the source defines above the kernel. Private to ir/emit.
#pragma once
#include <set>
#include <string>
#include <utility>

#include "core/target.h"
#include "ir/emit/helpers.h"
#include "ir/op.h"

namespace deplo::ir::emitter {

/// Those that the text calls so far. Lanes are those of vectors.
struct CalledFunctions {
  std::set<Helper> helpers;
  std::set<std::pair<const mma::Atom*, DType>> products;  // of matrices
  std::set<std::pair<Op, int>> simd;
  std::set<int> simd_stores;   // lanes
  std::set<int> simd_streams;  // lanes of stores past the caches
  std::set<std::pair<DType, int>> float16;
  std::set<int> tf32;  // lanes

  /// In the order in which they call each other.
  std::string definitions(Dialect) const;
};

}  // namespace deplo::ir::emitter
