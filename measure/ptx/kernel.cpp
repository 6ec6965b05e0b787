#include "measure/ptx/kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "measure/cuda/tensor_map.h"
#include "measure/ptx/text/parser.h"

namespace deplo::measure::ptx {
namespace {

constexpr std::uint64_t address_bytes = 8, map_bytes = 128;

TensorMap tensor_map(const cuda::TiledArguments& arguments) {
  return {.type = arguments.type,
          .rank = arguments.rank,
          .address = arguments.address,
          .shape = arguments.shape,
          .strides = arguments.strides,
          .box = arguments.box,
          .element_strides = arguments.element_strides,
          .interleave = arguments.interleave,
          .swizzle = arguments.swizzle,
          .promotion = arguments.promotion,
          .fill = arguments.fill};
}

std::vector<std::vector<std::byte>> copy_of(const HostArrays& arrays) {
  std::vector<std::vector<std::byte>> copy;
  for (std::size_t i = 0; i < arrays.count(); ++i) copy.emplace_back(arrays.bytes(i).begin(), arrays.bytes(i).end());
  return copy;
}

void restore(const HostArrays& arrays, const std::vector<std::vector<std::byte>>& from) {
  for (std::size_t i = 0; i < arrays.count(); ++i) std::ranges::copy(from[i], arrays.bytes(i).begin());
}

}  // namespace

Kernel::Kernel(const std::string& text, const ir::KernelSource& source, std::vector<ir::Buffer> buffers)
    : program_(decode(parse(text), source.entry)), source_(source), buffers_(std::move(buffers)) {
  const std::size_t expected = buffers_.size() + source.tensor_maps.size();
  if (program_.parameters.size() != expected)
    throw Error(
        fmt::format("expected {} parameters of '{}', found {}", expected, source.entry, program_.parameters.size()));
  for (std::size_t i = 0; i < expected; ++i) {
    const std::uint64_t size = i < buffers_.size() ? address_bytes : map_bytes;
    if (program_.parameters[i].size != size)
      throw Error(fmt::format("expected {} bytes of parameter {}, found {}", size, i, program_.parameters[i].size));
  }
  if (program_.most_threads > 0 && program_.most_threads < source.threads)
    throw Error(fmt::format("expected at most {} threads a block, found {}", program_.most_threads, source.threads));
  if (program_.cluster != source.cluster)
    throw Error(fmt::format("expected clusters of {} blocks, found {}", source.cluster, program_.cluster));
}

/// A machine, and what must outlive it.
struct Kernel::Run {
  Run(const Kernel& kernel, const HostArrays& arrays, std::int64_t blocks, std::uint64_t seed, std::byte fill)
      : parameters(kernel.parameters(arrays, memory, maps)),
        machine(kernel.program_, memory, parameters, maps,
                {.blocks = blocks,
                 .threads = kernel.source_.threads,
                 .dynamic_shared_bytes = kernel.source_.dynamic_shared ? kernel.source_.shared_bytes : 0,
                 .seed = seed,
                 .fill = fill}) {}

  GlobalMemory memory;
  std::vector<TensorMap> maps;
  std::vector<std::byte> parameters;
  Machine machine;
};

/// The bytes of the parameters: addresses, then numbers of tensor maps.
std::vector<std::byte> Kernel::parameters(const HostArrays& arrays, GlobalMemory& memory,
                                          std::vector<TensorMap>& maps) const {
  std::vector<std::byte> parameters(program_.parameter_bytes);
  const auto pass = [&](std::size_t parameter, std::uint64_t value) {
    std::memcpy(parameters.data() + program_.parameter_offsets[parameter], &value, sizeof value);
  };
  for (std::size_t i = 0; i < buffers_.size(); ++i) pass(i, memory.add(i, buffers_[i].name, arrays.bytes(i)));
  for (const ir::KernelSource::TensorMap& map : source_.tensor_maps) {
    pass(buffers_.size() + maps.size(), maps.size());
    maps.push_back(tensor_map(cuda::tiled_arguments(map, buffers_.at(map.buffer).dtype, global_address(map.buffer))));
    if (const auto what = fault(maps.back())) throw Finding("cuTensorMapEncodeTiled: " + *what);
  }
  return parameters;
}

LaunchResult Kernel::launch(const HostArrays& arrays, std::int64_t blocks, std::uint64_t seed) const {
  CHECK(arrays.count() == buffers_.size());
  const std::vector<std::vector<std::byte>> before = copy_of(arrays);
  Run run(*this, arrays, blocks, seed, std::byte{0xcd});
  LaunchResult result = run.machine.run();
  if (!run.machine.uninitialized()) return result;
  // Does anything depend on what nothing wrote?
  const std::vector<std::vector<std::byte>> found = copy_of(arrays);
  restore(arrays, before);
  Run again(*this, arrays, blocks, seed, std::byte{0x3b});
  again.machine.run();
  if (copy_of(arrays) != found) throw *run.machine.uninitialized();
  return result;
}

}  // namespace deplo::measure::ptx
