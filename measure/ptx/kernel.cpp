#include "measure/ptx/kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "measure/ptx/text/parser.h"

namespace deplo::measure::ptx {
namespace {

constexpr std::uint64_t address_bytes = 8, map_bytes = 128;

std::vector<std::vector<std::byte>> copy_of(const HostArrays& arrays) {
  std::vector<std::vector<std::byte>> copy;
  for (std::size_t i = 0; i < arrays.count(); ++i) copy.emplace_back(arrays.bytes(i).begin(), arrays.bytes(i).end());
  return copy;
}

void restore(const HostArrays& arrays, const std::vector<std::vector<std::byte>>& from) {
  for (std::size_t i = 0; i < arrays.count(); ++i) std::ranges::copy(from[i], arrays.bytes(i).begin());
}

/// Bytes that the kernel's parameter must have.
std::uint64_t expected_bytes(const Parameter& parameter) {
  switch (parameter.kind) {
    case Parameter::Kind::array:
      return address_bytes;
    case Parameter::Kind::map:
      return map_bytes;
    case Parameter::Kind::bytes:
      return parameter.bytes.size();
  }
  return 0;
}

std::vector<Parameter> parameters_of(const ir::KernelSource& source, std::size_t buffers) {
  std::vector<Parameter> parameters;
  for (std::size_t i = 0; i < buffers; ++i) parameters.push_back({Parameter::Kind::array, i});
  for (std::size_t i = 0; i < source.tensor_maps.size(); ++i) parameters.push_back({Parameter::Kind::map, i});
  return parameters;
}

Program decode_exactly(const std::string& text, const std::string& entry, Floats& floats) {
  const Module module = parse(text);
  for (const auto* functions : {&module.functions, &module.callees})
    for (const Function& function : *functions) floats.reserve(function);
  return decode(module, entry, Values::exact);
}

}  // namespace

Kernel::Kernel(const std::string& text, const ir::KernelSource& source, std::vector<ir::Buffer> buffers)
    : Kernel(text, source, buffers, parameters_of(source, buffers.size())) {
  if (program_.cluster != source_.cluster)
    throw Error(fmt::format("expected clusters of {} blocks, found {}", source_.cluster, program_.cluster));
}

Kernel::Kernel(const std::string& text, const ir::KernelSource& source, std::vector<ir::Buffer> buffers,
               std::vector<Parameter> parameters, const std::vector<Launch::Symbol>& symbols)
    : program_(decode(parse(text), source.entry)),
      source_(source),
      buffers_(std::move(buffers)),
      parameters_(std::move(parameters)) {
  check_parameters();
  for (const Launch::Symbol& symbol : symbols) constants_.push_back(constant(symbol));
}

Kernel::Kernel(const std::string& text, const ir::KernelSource& source, std::vector<ir::Buffer> buffers, Floats& floats)
    : program_(decode_exactly(text, source.entry, floats)),
      source_(source),
      buffers_(std::move(buffers)),
      parameters_(parameters_of(source, buffers_.size())),
      floats_(&floats) {
  check_parameters();
}

void Kernel::check_parameters() const {
  if (program_.parameters.size() != parameters_.size())
    throw Error(fmt::format("expected {} arguments of '{}', found {}", program_.parameters.size(), program_.entry,
                            parameters_.size()));
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const Parameter& p = parameters_[i];
    const std::uint64_t size = program_.parameters[i].size;
    if (size == 0 || size != expected_bytes(p))
      throw Error(fmt::format("parameter {} of '{}' has {} bytes: expected an argument of this size, found one of {}",
                              i + 1, program_.entry, size, expected_bytes(p)));
  }
  if (program_.max_threads > 0 && program_.max_threads < source_.threads)
    throw Error(fmt::format("expected at most {} threads per block, found {}", program_.max_threads, source_.threads));
}

Kernel::Constant Kernel::constant(const Launch::Symbol& symbol) const {
  const ir::Buffer& buffer = buffers_.at(symbol.buffer);
  const auto bytes = static_cast<std::uint64_t>(ir::element_count(buffer.shape) * ir::bytes(buffer.dtype));
  const auto found = std::ranges::find(program_.globals, symbol.name, &Variable::name);
  if (found == program_.globals.end() || found->size < bytes)
    throw Error(fmt::format("expected a __constant__ variable '{}' of {} bytes, found {}", symbol.name, bytes,
                            found == program_.globals.end() ? "none" : fmt::format("one of {} bytes", found->size)));
  return {symbol.buffer, static_cast<std::size_t>(found - program_.globals.begin())};
}

/// A machine, and the objects that must outlive it.
struct Kernel::Run {
  Run(const Kernel& kernel, const HostArrays& arrays, const LaunchOptions& options,
      const GlobalOrder::Tracked& tracked = {})
      : parameters(kernel.parameters(arrays, memory, maps)),
        machine(kernel.program_, memory, parameters, maps, options, tracked) {
    for (const Constant& constant : kernel.constants_) {
      const std::span<const std::byte> from = arrays.bytes(constant.buffer);
      std::ranges::copy(from, memory.find(global_address(first_module_variable + constant.variable), from.size()));
    }
  }

  GlobalMemory memory;
  std::vector<TensorMap> maps;
  std::vector<std::byte> parameters;
  Machine machine;
};

/// Returns the bytes of the parameters: addresses of arrays, numbers of tensor maps, and values. Also adds the arrays
/// to `memory` and the tensor maps to `maps`. Throws Finding if the driver would refuse a tensor map.
std::vector<std::byte> Kernel::parameters(const HostArrays& arrays, GlobalMemory& memory,
                                          std::vector<TensorMap>& maps) const {
  for (const ir::KernelSource::TensorMap& map : source_.tensor_maps) {
    maps.push_back(cuda::tiled_arguments(map, buffers_.at(map.buffer).dtype, global_address(map.buffer)));
    if (const auto what = fault(maps.back())) throw Finding("cuTensorMapEncodeTiled: " + *what);
  }
  for (std::size_t i = 0; i < buffers_.size(); ++i) memory.add(i, buffers_[i].name, arrays.bytes(i));
  std::vector<std::byte> parameters(program_.parameter_bytes);
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const Parameter& p = parameters_[i];
    std::byte* const to = parameters.data() + program_.parameter_offsets[i];
    if (p.kind == Parameter::Kind::bytes) {
      std::memcpy(to, p.bytes.data(), p.bytes.size());
    } else {
      const std::uint64_t value = p.kind == Parameter::Kind::array ? global_address(p.number) : p.number;
      std::memcpy(to, &value, sizeof value);
    }
  }
  return parameters;
}

LaunchResult Kernel::launch(const HostArrays& arrays, std::int64_t blocks, std::uint64_t seed) const {
  return launch(arrays, LaunchOptions{.blocks = blocks, .threads = source_.threads, .seed = seed});
}

LaunchResult Kernel::launch(const HostArrays& arrays, const LaunchOptions& shape) const {
  CHECK(arrays.count() == buffers_.size());
  LaunchOptions options = shape;
  options.floats = floats_;
  options.dynamic_shared_bytes = source_.dynamic_shared ? source_.shared_bytes : 0;
  const std::vector<std::vector<std::byte>> before = copy_of(arrays);
  Run run(*this, arrays, options);
  LaunchResult result = run.machine.run();
  if (const GlobalOrder::Tracked& tracked = run.machine.order().written_after_reads(); !tracked.empty()) {
    // Arrays were read and then written. Run again with their reads tracked, to find reads that nothing orders with the
    // write of another thread.
    restore(arrays, before);
    Run(*this, arrays, options, tracked).machine.run();
  }
  if (!run.machine.uninitialized()) return result;
  // Shared memory was read uninitialized. Run again with other initial bytes, to find out if an output depends on them.
  const std::vector<std::vector<std::byte>> found = copy_of(arrays);
  restore(arrays, before);
  options.fill = std::byte{0x3b};
  Run again(*this, arrays, options);
  again.machine.run();
  if (copy_of(arrays) == found) return result;
  Finding finding = *run.machine.uninitialized();
  finding.set_printed(result.printed);
  throw finding;
}

}  // namespace deplo::measure::ptx
