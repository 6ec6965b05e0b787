// Private to measure/cuda: the descriptors that TMA copies by.
#pragma once
#include "ir/emit/emit.h"
#include "measure/cuda/driver.h"

namespace deplo::measure::cuda {

/// Makes descriptors; null where the driver has no such function (before CUDA 12.0).
using EncodeTiled = int (*)(TensorMap*, int type, std::uint32_t rank, void* address, const std::uint64_t* shape,
                            const std::uint64_t* strides, const std::uint32_t* box,
                            const std::uint32_t* element_strides, int interleave, int swizzle, int promotion, int fill);
EncodeTiled find_encode_tiled(const Driver&);

/// Of a buffer of `dtype` (f32 or i32) at an address. Fails with load_error where the driver refuses it.
Result<TensorMap> encode_tensor_map(const Driver&, EncodeTiled, const ir::KernelSource::TensorMap&, ir::DType dtype,
                                    Address address);

}  // namespace deplo::measure::cuda
