#include "measure/cuda/tile_kernel.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "measure/cuda/compiler/elf.h"
#include "measure/cuda/device.h"

namespace deplo::measure {
namespace cuda {
namespace {

constexpr int tileiras_driver = 13000;  // as in Driver::version(); tileiras comes with CUDA 13.1 and later

std::vector<std::size_t> sizes_of(const std::vector<KernelArgument>& arguments) {
  std::vector<std::size_t> sizes;
  for (const KernelArgument& argument : arguments) {
    const auto* const bytes = std::get_if<std::vector<std::uint8_t>>(&argument);
    sizes.push_back(bytes == nullptr ? sizeof(Address) : bytes->size());
  }
  return sizes;
}

class TileLaunches final : public Launches {
 public:
  TileLaunches(const Context& context, std::unique_ptr<LoadedKernel> kernel, const TileKernel& of)
      : context_(context), kernel_(std::move(kernel)), arguments_(of.arguments), grid_(of.grid) {}

  std::string what() const override { return fmt::format("{} tile blocks", fmt::join(grid_, " x ")); }

  std::optional<Failure> enqueue(const CudaArrays& arrays, std::int64_t) const override {
    std::vector<Address> addresses(arguments_.size());
    std::vector<void*> parameters;
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      const auto* const bytes = std::get_if<std::vector<std::uint8_t>>(&arguments_[i]);
      if (bytes == nullptr) addresses[i] = arrays.address(std::get<std::size_t>(arguments_[i]));
      // The driver only reads the values, although its interface takes pointers to non-const data.
      parameters.push_back(bytes == nullptr ? static_cast<void*>(&addresses[i])
                                            : const_cast<std::uint8_t*>(bytes->data()));
    }
    // One thread per block and no dynamic memory: the driver takes both from the cubin. cuTile Python's launcher does
    // the same.
    const int code = context_.driver().launch(kernel_->function(), static_cast<unsigned>(grid_[0]),
                                              static_cast<unsigned>(grid_[1]), static_cast<unsigned>(grid_[2]), 1, 1, 1,
                                              0, context_.stream(), parameters.data(), nullptr);
    if (code != 0) return context_.driver().failure(code, Status::launch_error, what());
    return std::nullopt;
  }

 private:
  const Context& context_;
  std::unique_ptr<LoadedKernel> kernel_;
  std::vector<KernelArgument> arguments_;
  std::array<std::int64_t, 3> grid_;
};

}  // namespace
}  // namespace cuda

Result<std::unique_ptr<Executable>> load_tile_kernel(Device& device, const TileKernel& tile) {
  const cuda::CudaDevice& on = cuda::cuda_device(device);
  const auto facts = cuda::inspect_cubin(tile.cubin, tile.entry);
  if (!facts) return Failure{Status::load_error, "expected a cubin, found other bytes"};
  // The driver reads as many bytes through each pointer as the cubin says, so the sizes must agree.
  const std::vector<std::size_t> given = cuda::sizes_of(tile.arguments);
  if (facts->parameters != given)
    return Failure{Status::load_error, fmt::format("entry {}: expected parameters of {} bytes, found {} in the cubin",
                                                   tile.entry, given, facts->parameters)};
  if (const int version = on.context().driver().version(); version < cuda::tileiras_driver)
    return Failure{Status::load_error,
                   fmt::format("a driver of CUDA {}.{} cannot load code of tileiras; CUDA 13.0 or later can",
                               version / 1000, version % 1000 / 10)};
  auto kernel = cuda::LoadedKernel::load(on.context(), tile.cubin, tile.entry, 0, 0);
  if (!kernel.ok()) return kernel.failure();
  Resources resources;
  resources.registers = facts->registers;
  resources.stack_bytes = facts->stack_bytes;
  resources.code_bytes = facts->code_bytes;
  resources.binary_digest = facts->digest;
  return std::unique_ptr<Executable>(std::make_unique<cuda::CudaExecutable>(
      on.context(), on.clock(), std::make_unique<cuda::TileLaunches>(on.context(), std::move(kernel.value()), tile), 1,
      cuda::CudaExecutable::Preparation{tile.zeroed}, std::move(resources)));
}

}  // namespace deplo::measure
