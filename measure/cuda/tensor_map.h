// Private to measure/cuda: the descriptors for TMA copies.
#pragma once
#include <array>

#include "ir/emit/emit.h"
#include "measure/cuda/driver.h"

namespace deplo::measure::cuda {

/// cuTensorMapEncodeTiled, which creates descriptors; null if the driver does not have it (before CUDA 12.0).
using EncodeTiled = int (*)(TensorMap*, int type, std::uint32_t rank, void* address, const std::uint64_t* shape,
                            const std::uint64_t* strides, const std::uint32_t* box,
                            const std::uint32_t* element_strides, int interleave, int swizzle, int promotion, int fill);
EncodeTiled find_encode_tiled(const Driver&);

/// The arguments of cuTensorMapEncodeTiled that describe a tensor: the innermost dimension first, the strides in bytes
/// and without the stride of the innermost dimension.
struct TiledArguments {
  static constexpr std::size_t max_rank = 5;
  int type = 0;
  std::uint32_t rank = 1;
  Address address = 0;
  std::array<std::uint64_t, max_rank> shape{}, strides{};
  std::array<std::uint32_t, max_rank> box{}, element_strides{};
  int interleave = 0, swizzle = 0, promotion = 0, fill = 0;
};
TiledArguments tiled_arguments(const ir::KernelSource::TensorMap&, ir::DType dtype, Address address);

/// Creates the descriptor of a buffer with elements of `dtype` at an address. Fails with load_error if the driver
/// refuses.
Result<TensorMap> encode_tensor_map(const Driver&, EncodeTiled, const ir::KernelSource::TensorMap&, ir::DType dtype,
                                    Address address);

}  // namespace deplo::measure::cuda
