// The functions that the source defines above the kernel. Private to ir/emit.
#pragma once
#include <set>
#include <string>
#include <utility>

#include "core/target.h"
#include "ir/emit/helpers.h"
#include "ir/op.h"

namespace deplo::ir::emitter {

/// The functions that the text calls so far. A number of lanes is that of the vectors that a function takes.
struct CalledFunctions {
  std::set<std::pair<Helper, int>> helpers;               // each with its number
  std::set<std::pair<const mma::Atom*, DType>> products;  // matrix products
  std::set<std::pair<Op, int>> simd;
  std::set<int> simd_stores;   // numbers of lanes
  std::set<int> simd_streams;  // numbers of lanes of stores that bypass the caches
  std::set<std::pair<DType, int>> float16;
  std::set<int> tf32;  // numbers of lanes

  void call(Helper helper, int number = 0) { helpers.emplace(helper, number); }
  /// Returns the definitions of all these functions. A function comes after the functions that it calls.
  std::string definitions(Dialect) const;
};

}  // namespace deplo::ir::emitter
