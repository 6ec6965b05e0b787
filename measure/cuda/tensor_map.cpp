#include "measure/cuda/tensor_map.h"

namespace deplo::measure::cuda {
namespace {

// Values of CUtensorMapSwizzle; below, values of CUtensorMapInterleave, CUtensorMapL2promotion and
// CUtensorMapFloatOOBfill.
int swizzle_of(int bytes) {
  CHECK(bytes == 0 || bytes == 32 || bytes == 64 || bytes == 128);
  return bytes == 0 ? 0 : bytes == 32 ? 1 : bytes == 64 ? 2 : 3;
}

constexpr int interleave_none = 0, promotion_128 = 2, fill_zero = 0;

}  // namespace

EncodeTiled find_encode_tiled(const Driver& driver) {
  if (driver.get_proc_address == nullptr) return nullptr;
  void* function = nullptr;
  int found = 0;                     // CU_GET_PROC_ADDRESS_SUCCESS
  constexpr int since_cuda = 12000;  // the CUDA version that introduced this signature
  const int code = driver.get_proc_address("cuTensorMapEncodeTiled", &function, since_cuda, 0, &found);
  return code == 0 && found == 0 ? reinterpret_cast<EncodeTiled>(function) : nullptr;
}

// The driver expects the innermost dimension first. It assumes that the innermost stride is 1 and takes the other
// strides in bytes.
TiledArguments tiled_arguments(const ir::KernelSource::TensorMap& map, ir::DType dtype, Address address) {
  const std::size_t rank = map.shape.size();
  CHECK(rank >= 1 && rank <= TiledArguments::max_rank && map.strides.size() == rank && map.box.size() == rank);
  CHECK(map.strides.back() == 1);
  TiledArguments arguments{.type = ir::row(dtype).tma,
                           .rank = static_cast<std::uint32_t>(rank),
                           .address = address,
                           .interleave = interleave_none,
                           .swizzle = swizzle_of(map.swizzle),
                           .promotion = promotion_128,
                           .fill = fill_zero};
  for (std::size_t i = 0; i < rank; ++i) {
    const std::size_t d = rank - 1 - i;
    arguments.shape[i] = static_cast<std::uint64_t>(map.shape[d]);
    arguments.box[i] = static_cast<std::uint32_t>(map.box[d]);
    arguments.element_strides[i] = 1;
    if (i > 0) arguments.strides[i - 1] = static_cast<std::uint64_t>(map.strides[d] * ir::bytes(dtype));
  }
  return arguments;
}

Result<TensorMap> encode_tensor_map(const Driver& driver, EncodeTiled encode, const ir::KernelSource::TensorMap& map,
                                    ir::DType dtype, Address address) {
  if (encode == nullptr)
    return Failure{Status::load_error, "the driver has no cuTensorMapEncodeTiled: TMA needs one of CUDA 12.0 or later"};
  const TiledArguments a = tiled_arguments(map, dtype, address);
  TensorMap result;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): a device's address is an integer in the driver's API
  void* const start = reinterpret_cast<void*>(a.address);
  const int code = encode(&result, a.type, a.rank, start, a.shape.data(), a.strides.data(), a.box.data(),
                          a.element_strides.data(), a.interleave, a.swizzle, a.promotion, a.fill);
  if (code != 0) return driver.failure(code, Status::load_error, "cuTensorMapEncodeTiled");
  return result;
}

}  // namespace deplo::measure::cuda
