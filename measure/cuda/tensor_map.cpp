#include "measure/cuda/tensor_map.h"

#include <array>

namespace deplo::measure::cuda {
namespace {

constexpr std::size_t most_rank = 5;

// CUtensorMapSwizzle, CUtensorMapL2promotion.
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
  constexpr int since_cuda = 12000;  // the version of this signature
  const int code = driver.get_proc_address("cuTensorMapEncodeTiled", &function, since_cuda, 0, &found);
  return code == 0 && found == 0 ? reinterpret_cast<EncodeTiled>(function) : nullptr;
}

Result<TensorMap> encode_tensor_map(const Driver& driver, EncodeTiled encode, const ir::KernelSource::TensorMap& map,
                                    ir::DType dtype, Address address) {
  if (encode == nullptr)
    return Failure{Status::load_error, "the driver has no cuTensorMapEncodeTiled: TMA needs one of CUDA 12.0 or later"};
  const std::size_t rank = map.shape.size();
  CHECK(rank >= 1 && rank <= most_rank && map.strides.size() == rank && map.box.size() == rank);
  CHECK(map.strides.back() == 1);
  // The driver's order is innermost first; it takes the innermost stride for granted, and the others in bytes.
  std::array<std::uint64_t, most_rank> shape{}, strides{};
  std::array<std::uint32_t, most_rank> box{}, element_strides{};
  for (std::size_t i = 0; i < rank; ++i) {
    const std::size_t d = rank - 1 - i;
    shape[i] = static_cast<std::uint64_t>(map.shape[d]);
    box[i] = static_cast<std::uint32_t>(map.box[d]);
    element_strides[i] = 1;
    if (i > 0) strides[i - 1] = static_cast<std::uint64_t>(map.strides[d] * ir::bytes(dtype));
  }
  TensorMap result;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): a device's address is an integer in the driver's API
  void* const start = reinterpret_cast<void*>(address);
  const int code =
      encode(&result, ir::row(dtype).tma, static_cast<std::uint32_t>(rank), start, shape.data(), strides.data(),
             box.data(), element_strides.data(), interleave_none, swizzle_of(map.swizzle), promotion_128, fill_zero);
  if (code != 0) return driver.failure(code, Status::load_error, "cuTensorMapEncodeTiled");
  return result;
}

}  // namespace deplo::measure::cuda
