// Functions that the emitted source defines above the kernel, where it calls them.
#pragma once
#include <string>

namespace deplo::ir {

enum class Helper {
  cluster_load_1,  // floats
  cluster_load_2,
  cluster_load_4,
  cp_async_4,  // bytes
  cp_async_8,
  cp_async_16,
  tensor_map,
  prefetch_tensor_map,
  elect_one,
  mbarrier_init,
  mbarrier_arrive_expect_tx,
  mbarrier_wait,
  tma_load_1d,
  tma_load_2d,
  tma_load_3d,
  tma_load_4d,
  tma_load_5d,
  atomic_add_float,  // OpenCL
};

/// The definition, with a line break at its end.
std::string definition(Helper);

}  // namespace deplo::ir
