// Functions that the emitted source defines above the kernel if it calls them.
#pragma once
#include <string>

#include "ir/hardware/mma.h"

namespace deplo::ir {

enum class Helper {
  ld_matrix_1,  // suffix: number of matrices
  ld_matrix_2,
  ld_matrix_4,
  ld_matrix_1_transposed,
  ld_matrix_2_transposed,
  ld_matrix_4_transposed,
  wgmma_matrix,
  cluster_load_1,  // suffix: number of floats
  cluster_load_2,
  cluster_load_4,
  cp_async_4,  // suffix: number of bytes
  cp_async_8,
  cp_async_16,
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
  tma_load_1d,
  tma_load_2d,
  tma_load_3d,
  tma_load_4d,
  tma_load_5d,
  tma_multicast_1d,
  tma_multicast_2d,
  tma_multicast_3d,
  tma_multicast_4d,
  tma_multicast_5d,
  atomic_add_float,  // this and the following helpers are for OpenCL
  copy_transposed_8,
  copy_transposed_16,
  bf16_pairs,
  bf16_dot,
};

/// Returns the definition of a helper, with a line break at its end.
std::string definition(Helper);

/// Return the name and the definition of the function for a matrix instruction, whose operands have this type in
/// memory.
std::string mma_function(const mma::Atom&, DType);
std::string mma_definition(const mma::Atom&, DType);

}  // namespace deplo::ir
