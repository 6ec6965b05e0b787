// Private to measure/cuda: the descriptors of TMA's copies.
#pragma once
#include "ir/emit/emit.h"
#include "measure/cuda/driver.h"

namespace deplo::measure::cuda {

/// cuTensorMapEncodeTiled, which creates descriptors; null if the driver does not have it (before CUDA 12.0).
using EncodeTiled = int (*)(TensorMap*, int type, std::uint32_t rank, void* address, const std::uint64_t* shape,
                            const std::uint64_t* strides, const std::uint32_t* box,
                            const std::uint32_t* element_strides, int interleave, int swizzle, int promotion, int fill);
EncodeTiled find_encode_tiled(const Driver&);

/// The descriptor of a buffer of `dtype` at an address. Fails with load_error if the driver refuses it.
Result<TensorMap> encode_tensor_map(const Driver&, EncodeTiled, const ir::KernelSource::TensorMap&, ir::DType dtype,
                                    Address address);

}  // namespace deplo::measure::cuda
