#include "measure/baselines/tile_baseline.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "ir/types/float16.h"
#include "measure/cuda/compiler/tileiras.h"
#include "measure/cuda/tile_kernel.h"

namespace deplo::measure {
namespace {

KernelArgument argument_of(const TileCall::Argument& argument, const std::vector<ir::Buffer>& buffers) {
  if (argument.buffer.empty()) return argument.bytes;
  const auto found = std::ranges::find(buffers, argument.buffer, &ir::Buffer::name);
  CHECK(found != buffers.end());
  return static_cast<std::size_t>(found - buffers.begin());
}

/// Returns the narrowest float type of the buffers, as Baseline::precision names it.
std::string precision_of(const std::vector<ir::Buffer>& buffers) {
  std::string_view narrowest = "fp32";
  for (const ir::Buffer& buffer : buffers)
    if (ir::is_float16(buffer.dtype)) narrowest = name(buffer.dtype);
  return std::string(narrowest);
}

}  // namespace

Baseline tile_baseline(const TileCall& call, const std::vector<ir::Buffer>& buffers,
                       const std::vector<std::size_t>& zeroed, Device& device) {
  const auto refuse = [](const std::string& why) -> Error { return Error("tileiras: " + why, Exit::environment); };
  if (!call.problem.empty()) throw refuse(call.problem);
  TileKernel kernel{.entry = call.entry, .grid = call.grid, .zeroed = zeroed};
  std::string version;
  try {
    const std::filesystem::path program = cuda::tileiras();
    version = cuda::tileiras_version(program);
    kernel.cubin =
        cuda::compile_tile_bytecode({reinterpret_cast<const char*>(call.bytecode.data()), call.bytecode.size()},
                                    device.info().architecture, program);
  } catch (const Error& error) {
    throw refuse(error.what());
  }
  for (const TileCall::Argument& argument : call.arguments) kernel.arguments.push_back(argument_of(argument, buffers));
  auto loaded = load_tile_kernel(device, kernel);
  if (!loaded.ok()) throw refuse(loaded.failure().message);
  return {"tileiras", std::move(version), precision_of(buffers), 0, nullptr, std::move(loaded.value())};
}

}  // namespace deplo::measure
