#include "measure/cuda/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <utility>

#include "core/file.h"
#include "measure/cuda/compiler/compile.h"
#include "measure/cuda/compiler/elf.h"
#include "measure/cuda/cuda.h"
#include "measure/cuda/nvml.h"
#include "rules/cost/resources.h"

namespace deplo::measure {
namespace cuda {
namespace {

// Values of CUdevice_attribute.
enum Attribute {
  max_threads = 1,
  clock_khz = 13,
  multiprocessors = 16,
  l2_bytes = 38,
  compute_major = 75,
  compute_minor = 76,
  shared_bytes_optin = 97
};

// Returns the version of the driver package, such as 580.65.06, which the API does not report. Returns "" if the kernel
// module does not show it.
std::string module_version() {
  std::ifstream file("/sys/module/nvidia/version");
  std::string version;
  std::getline(file, version);
  return version;
}

std::string print_version(int version) { return fmt::format("CUDA {}.{}", version / 1000, version % 1000 / 10); }

// Returns the version of the NVRTC that compiles for the driver, or what is wrong with the NVRTC that was found.
std::string nvrtc_version(const Driver& driver) {
  try {
    return Nvrtc::for_driver(driver.version()).version();
  } catch (const Error&) {
    return Nvrtc::available() ? Nvrtc::get().version() + ", which is too new" : "missing";
  }
}

int device_count(const Driver& driver) {
  int count = 0;
  driver.require(driver.device_count(&count), "count the devices");
  return count;
}

int device_of(const Driver& driver, int index) {
  int device = 0;
  driver.require(driver.device_get(&device, index), "open a device");
  return device;
}

DeviceInfo describe(const Driver& driver, int index) {
  const int device = device_of(driver, index);
  char name[256] = "";
  driver.require(driver.device_name(name, sizeof name, device), "ask for a device's name");
  std::size_t memory = 0;
  driver.require(driver.device_memory(&memory, device), "ask for a device's memory");
  const auto get = [&](Attribute which) -> std::int64_t {
    int value = 0;
    driver.require(driver.device_attribute(&value, which, device), "ask for a device's attribute");
    return value;
  };
  const std::string own = module_version(), cuda = print_version(driver.version());
  return {.backend = "cuda",
          .name = name,
          .vendor = "NVIDIA",
          .driver = own.empty() ? cuda : own,
          .platform = fmt::format("{}, NVRTC {}", cuda, nvrtc_version(driver)),
          .units = get(multiprocessors),
          .clock_mhz = get(clock_khz) / 1000,
          .shared_bytes = get(shared_bytes_optin),
          .max_threads = get(max_threads),
          .architecture = fmt::format("sm_{}{}", get(compute_major), get(compute_minor)),
          .l2_bytes = get(l2_bytes),
          .memory_bytes = static_cast<std::int64_t>(memory)};
}

// Returns the percentage of a unit's shared memory that its resident blocks need, including the part that the system
// reserves for each block; 0 if there is no preference. The occupancy gives the number of blocks. Without this hint the
// driver may give more of the memory to the cache.
int carveout(const Resources& resources, std::int64_t threads, const Target& target) {
  const std::int64_t shared = resources.static_shared_bytes + resources.dynamic_shared_bytes;
  if (shared <= 0 || target.unit_shared_bytes == 0) return 0;
  const std::int64_t blocks = rules::occupancy(threads, resources.registers, shared, target).blocks,
                     bytes = blocks * (shared + target.unit_shared_bytes - target.shared_bytes);
  return static_cast<int>(
      std::min<std::int64_t>(100, (100 * bytes + target.unit_shared_bytes - 1) / target.unit_shared_bytes));
}

}  // namespace

CudaDevice::CudaDevice(const Driver& driver, int index)
    : nvrtc_(Nvrtc::for_driver(driver.version())),
      info_(describe(driver, index)),
      target_(cuda_target(info_)),
      context_(driver, device_of(driver, index)),
      clock_(context_, nvrtc_, info_.architecture, static_cast<int>(info_.units)),
      encode_(find_encode_tiled(driver)) {}

std::unique_ptr<Arrays> CudaDevice::allocate(const std::vector<ir::Buffer>& buffers) {
  return std::make_unique<CudaArrays>(context_, buffers);
}

namespace {

/// Fails if the parameters of a user's kernel differ from those that its space lists.
std::optional<Failure> arguments_fit(const Cubin& cubin, const KernelCode& candidate) {
  const auto facts = inspect_cubin(cubin.code, cubin.entry);
  if (!facts) return std::nullopt;
  const auto& scalars = candidate.launch->scalars;
  std::size_t count = scalars.size();
  for (std::size_t i = 0; i < candidate.kernel.buffers.size(); ++i) count += candidate.launch->is_parameter(i) ? 1 : 0;
  if (facts->parameters.size() != count)
    return Failure{Status::build_error, fmt::format("expected a kernel '{}' with the {} arguments of the space, found "
                                                    "one with {} parameters",
                                                    candidate.source.entry, count, facts->parameters.size())};
  for (std::size_t i = 0, scalar = 0; i < count; ++i) {
    const bool by_value = scalar < scalars.size() && scalars[scalar].position == i;
    const std::size_t size = by_value ? scalars[scalar++].bytes.size() : sizeof(Address);
    if (facts->parameters[i] != size)
      return Failure{Status::build_error, fmt::format("expected {} bytes as argument {} of the kernel '{}', found a "
                                                      "parameter of {} bytes",
                                                      size, i, candidate.source.entry, facts->parameters[i])};
  }
  return std::nullopt;
}

/// Returns the __constant__ variables to which the contents of buffers are copied.
Result<std::vector<ConstantSymbol>> find_symbols(const LoadedKernel& kernel, const KernelCode& candidate) {
  std::vector<ConstantSymbol> symbols;
  if (!candidate.launch) return symbols;
  for (const Launch::Symbol& symbol : candidate.launch->symbols) {
    const ir::Buffer& buffer = candidate.kernel.buffers.at(symbol.buffer);
    const auto bytes = static_cast<std::size_t>(ir::element_count(buffer) * ir::bytes(buffer.dtype));
    const auto found = kernel.variable(symbol.name);
    if (!found || found->bytes < bytes)
      return Failure{Status::build_error,
                     fmt::format("expected a __constant__ variable '{}' of {} bytes, found {}", symbol.name, bytes,
                                 found ? fmt::format("one of {} bytes", found->bytes) : "none")};
    symbols.push_back({symbol.buffer, found->address, bytes});
  }
  return symbols;
}

}  // namespace

Result<std::unique_ptr<Executable>> CudaDevice::build(const KernelCode& candidate) {
  const ir::KernelSource& source = candidate.source;
  constexpr std::int64_t max_blocks = 0x7fffffff;  // CUDA C++ Programming Guide, "Technical Specifications"
  if (source.blocks > max_blocks)
    return Failure{Status::resource, fmt::format("{} blocks, a grid has at most {}", source.blocks, max_blocks)};
  CompileOptions options{.nvrtc = &nvrtc_};
  if (candidate.launch) options.more = candidate.launch->options;
  const auto cubin = compile_cubin(source, info_.architecture, options);
  if (!cubin.ok()) return cubin.failure();
  if (candidate.launch)
    if (auto misfit = arguments_fit(cubin.value(), candidate)) return *misfit;
  auto resources = with_occupancy(cubin.value().resources, source, target_);
  if (!resources.ok()) return resources.failure();
  auto kernel =
      LoadedKernel::load(context_, cubin.value().code, cubin.value().entry, resources.value().dynamic_shared_bytes,
                         carveout(resources.value(), source.threads, target_));
  if (!kernel.ok()) return kernel.failure();
  auto symbols = find_symbols(*kernel.value(), candidate);
  if (!symbols.ok()) return symbols.failure();
  return std::unique_ptr<Executable>(std::make_unique<CudaExecutable>(
      context_, clock_,
      std::make_unique<KernelLaunches>(context_, encode_, std::move(kernel.value()), candidate,
                                       std::move(symbols.value())),
      source.blocks, CudaExecutable::Preparation{source.zeroed, source.restored}, std::move(resources.value())));
}

std::unique_ptr<Executable> CudaDevice::chain(std::vector<ChainLink> links) {
  return std::make_unique<CudaExecutable>(context_, clock_, std::make_unique<ChainLaunches>(std::move(links)), 1,
                                          CudaExecutable::Preparation{}, Resources{});
}

EnergyCounter& CudaDevice::energy() {
  if (!energy_) energy_ = open_nvml(context_.driver(), context_.device());
  return *energy_;
}

CudaDevice& cuda_device(Device& device) {
  auto* const found = dynamic_cast<CudaDevice*>(&device);
  CHECK(found != nullptr);
  return *found;
}

}  // namespace cuda

std::vector<DeviceInfo> cuda_devices(const cuda::Driver& driver) {
  const int count = cuda::device_count(driver);
  std::vector<DeviceInfo> infos;
  for (int i = 0; i < count; ++i) infos.push_back(cuda::describe(driver, i));
  return infos;
}

std::vector<DeviceInfo> cuda_devices() {
  try {
    return cuda_devices(cuda::Driver::get());
  } catch (const Error&) {
    return {};  // open_cuda() throws the reason
  }
}

std::unique_ptr<Device> open_cuda(std::size_t index) { return open_cuda(index, cuda::Driver::get()); }

std::unique_ptr<Device> open_cuda(std::size_t index, const cuda::Driver& driver) {
  const int count = cuda::device_count(driver);
  if (count <= 0) throw Error("no CUDA device: the NVIDIA driver sees none; see nvidia-smi", Exit::environment);
  if (index >= static_cast<std::size_t>(count))
    throw Error(
        fmt::format("expected a device from cuda:0 to cuda:{}, found cuda:{}; see `deplo devices`", count - 1, index),
        Exit::environment);
  return std::make_unique<cuda::CudaDevice>(driver, static_cast<int>(index));
}

Target architecture_target(std::string_view architecture) {
  int best = 0;
  for (const std::string& name : list_data("configs/targets", ".yaml"))
    if (const int number = compute_capability(name); number <= compute_capability(architecture))
      best = std::max(best, number);
  if (best == 0)
    throw Error(fmt::format("expected an architecture from sm_80 on, found {}", architecture), Exit::environment);
  return load_target(fmt::format("sm_{}", best));
}

Target cuda_target(const DeviceInfo& info) {
  if (compute_capability(info.architecture) < 80)
    throw Error(fmt::format("expected a GPU of sm_80 or later, found {} ({})", info.architecture, info.name),
                Exit::environment);
  Target target = architecture_target(info.architecture);
  target.max_threads = std::min(target.max_threads, info.max_threads);
  // The part of a unit's shared memory that the system reserves stays the same.
  target.unit_shared_bytes += info.shared_bytes - target.shared_bytes;
  target.shared_bytes = info.shared_bytes;
  target.units = info.units;
  if (compute_capability(info.architecture) == 110) target.unit_threads = 1536, target.unit_blocks = 24;  // Jetson Thor
  return target;
}

}  // namespace deplo::measure
