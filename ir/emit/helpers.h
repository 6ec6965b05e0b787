// Functions that the emitted source defines above the kernel if it calls them.
#pragma once
#include <string>

#include "ir/hardware/mma.h"

namespace deplo::ir {

/// A helper, or a family of helpers of which each has a number as its suffix. They are defined in this order.
enum class Helper {
  ld_matrix,  // number of matrices, like the next one
  ld_matrix_transposed,
  wgmma_matrix,
  cluster_load,  // number of floats
  cp_async,      // number of bytes
  tensor_map,
  prefetch_tensor_map,
  elect_one,
  quad_transpose,
  exp2,
  max_nan,
  min_nan,
  mbarrier_init,
  mbarrier_arrive_expect_tx,
  mbarrier_arrive,
  mbarrier_arrive_afar,
  mbarrier_wait,
  tma_load,  // number of dimensions, like the next one
  tma_multicast,
  atomic_add_float,  // this and the following helpers are for OpenCL
  copy_transposed,   // number of rows: 8 or 16
  bf16_pairs,
  bf16_dot,
};

/// Returns the definition of a helper with this number, with a line break at its end.
std::string definition(Helper, int number);

/// Return the name and the definition of the function for a matrix instruction, whose operands have this type in
/// memory.
std::string mma_function(const mma::Atom&, DType);
std::string mma_definition(const mma::Atom&, DType);

}  // namespace deplo::ir
