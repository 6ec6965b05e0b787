// The OpenCL backend: builds kernels from source, holds the arrays, launches kernels, and times them by the device's
// events.
#include "measure/opencl/opencl.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <mutex>
#include <set>
#include <sstream>
#include <utility>

#include "core/file.h"
#include "core/hash.h"
#include "core/mapped.h"
#include "measure/opencl/executable.h"
#include "measure/opencl/pocl_builtins.h"
#include "measure/opencl/pocl_files.h"
#include "measure/powercap.h"

namespace deplo::measure {
namespace opencl {
namespace {

/// Returns the text that a query of OpenCL gives; "" if it fails. `query` takes the last three arguments of the query.
template <class Query>
std::string text_of(const Query& query) {
  std::size_t size = 0;
  if (query(0, nullptr, &size) != CL_SUCCESS || size == 0) return "";
  std::string text(size, '\0');
  query(size, text.data(), nullptr);
  text.resize(std::min(text.find('\0'), size));
  return text;
}

std::string text_of(cl_device_id device, cl_device_info key) {
  return text_of([&](auto... to) { return clGetDeviceInfo(device, key, to...); });
}

template <class T>
T number_of(cl_device_id device, cl_device_info key) {
  T value{};
  clGetDeviceInfo(device, key, sizeof value, &value, nullptr);
  return value;
}

std::string platform_of(cl_device_id device) {
  const auto platform = number_of<cl_platform_id>(device, CL_DEVICE_PLATFORM);
  const auto text = [&](cl_platform_info key) {
    return text_of([&](auto... to) { return clGetPlatformInfo(platform, key, to...); });
  };
  return fmt::format("{}, {}", text(CL_PLATFORM_NAME), text(CL_PLATFORM_VERSION));
}

bool is_cpu(cl_device_id device) {
  return (number_of<cl_device_type>(device, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) != 0;
}

bool is_pocl_platform(std::string_view platform) { return platform.starts_with("Portable Computing Language"); }

/// True for the version of PoCL that pocl_builtins.h was tested with.
bool has_known_header(std::string_view platform) {
  return is_pocl_platform(platform) && platform.find("PoCL 3.1") != std::string_view::npos;
}

// Returns the CPU's features by Linux's names ("avx512f"). Linux does not list features that programs may not use.
const std::set<std::string>& cpu_features() {
  static const std::set<std::string> features = [] {
    std::ifstream cpus("/proc/cpuinfo");
    for (std::string line; std::getline(cpus, line);) {
      std::istringstream words(line);
      std::string word;
      if (words >> word && word == "flags") return std::set(std::istream_iterator<std::string>(words), {});
    }
    return std::set<std::string>();
  }();
  return features;
}

// Returns the architecture for the emitter; "" if none is known. A CPU device is the host itself. AVX512-BF16 needs
// inline assembly, which PoCL's compiler accepts.
std::string architecture_of(cl_device_id device) {
#if defined(__x86_64__)
  if (!is_cpu(device)) return "";
  if (!cpu_features().contains("avx512f")) return avx2;
  if (is_pocl_platform(platform_of(device)) && cpu_features().contains("avx512_bf16")) return avx512_bf16;
#endif
  return "";
}

DeviceInfo describe(cl_device_id device) {
  return {.backend = "opencl",
          .name = text_of(device, CL_DEVICE_NAME),
          .vendor = text_of(device, CL_DEVICE_VENDOR),
          .driver = text_of(device, CL_DRIVER_VERSION),
          .platform = platform_of(device),
          .units = number_of<cl_uint>(device, CL_DEVICE_MAX_COMPUTE_UNITS),
          .clock_mhz = number_of<cl_uint>(device, CL_DEVICE_MAX_CLOCK_FREQUENCY),
          .shared_bytes = static_cast<std::int64_t>(number_of<cl_ulong>(device, CL_DEVICE_LOCAL_MEM_SIZE)),
          .max_threads = static_cast<std::int64_t>(number_of<std::size_t>(device, CL_DEVICE_MAX_WORK_GROUP_SIZE)),
          .cpu = is_cpu(device),
          .architecture = architecture_of(device),
          .l2_bytes = static_cast<std::int64_t>(number_of<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE)),
          .memory_bytes = static_cast<std::int64_t>(number_of<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_SIZE))};
}

// Lets PoCL bind worker i to CPU i. PoCL reads this variable before its device starts (PoCL's manual, "Environment
// variables"), and the process must be allowed to use all CPUs. If workers are not bound, both workers of a short
// kernel often wait for the same core; by chance, a process then has half the speed (docs/performance.md). A value that
// the user has set is kept.
void bind_pocl_workers() {
  if (is_library()) return;
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  if (CPU_COUNT(&allowed) == sysconf(_SC_NPROCESSORS_ONLN)) setenv("POCL_AFFINITY", "1", /*overwrite=*/0);
}

/// Throws Error if the limit of the address space leaves too little for a driver. PoCL then waits forever or ends the
/// process, or it cannot be loaded and looks as if it was not installed.
void require_address_space() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  constexpr std::size_t mib = 1 << 20;
  // For the compiler, and for the stack of a thread on each CPU. With 500 MB in all on two CPUs, PoCL waits forever.
  const std::size_t needed = 464 + 8 * static_cast<std::size_t>(std::max(sysconf(_SC_NPROCESSORS_ONLN), 1L));
  void* const space = mmap(nullptr, needed * mib, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (space == MAP_FAILED)
    throw Error(fmt::format("no OpenCL device: a driver needs {} MiB of address space, but the process may have only "
                            "{} MiB in all; see `ulimit -v`",
                            needed, limit.rlim_cur / mib),
                Exit::environment);
  munmap(space, needed * mib);
}

/// The first call initialises the drivers. PoCL 3.1 does so without a lock: another thread would find devices that are
/// not complete, and crash.
std::vector<cl_device_id> find_devices() {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  require_address_space();
  bind_pocl_workers();
  use_own_pocl_folder();
  cl_uint count = 0;
  if (clGetPlatformIDs(0, nullptr, &count) != CL_SUCCESS || count == 0) return {};
  std::vector<cl_platform_id> platforms(count);
  clGetPlatformIDs(count, platforms.data(), nullptr);
  std::vector<cl_device_id> found;
  for (cl_platform_id platform : platforms) {
    cl_uint here = 0;
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &here) != CL_SUCCESS || here == 0) continue;
    std::vector<cl_device_id> devices(here);
    clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, here, devices.data(), nullptr);
    for (cl_device_id device : devices)
      if (number_of<cl_bool>(device, CL_DEVICE_AVAILABLE) && number_of<cl_bool>(device, CL_DEVICE_COMPILER_AVAILABLE))
        found.push_back(device);
  }
  std::stable_partition(found.begin(), found.end(), [](cl_device_id device) { return !is_cpu(device); });
  return found;
}

std::string build_log(cl_program program, cl_device_id device) {
  return text_of([&](auto... to) { return clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, to...); });
}

class OpenclDevice final : public Device {
 public:
  explicit OpenclDevice(cl_device_id device) : device_(device), info_(describe(device)) {
    cl_int code = CL_SUCCESS;
    context_.reset(clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &code));
    require(code, "create a context on " + info_.name);
    queue_.reset(clCreateCommandQueue(context_.get(), device_, CL_QUEUE_PROFILING_ENABLE, &code));
    require(code, "create a queue on " + info_.name);
  }

  const DeviceInfo& info() const override { return info_; }
  Dialect dialect() const override { return Dialect::opencl; }

  std::unique_ptr<Arrays> allocate(const std::vector<ir::Buffer>& buffers) override {
    for (const ir::Buffer& buffer : buffers)
      if (buffer.dtype == ir::DType::f64 && number_of<cl_device_fp_config>(device_, CL_DEVICE_DOUBLE_FP_CONFIG) == 0)
        throw Error(fmt::format("array '{}': expected a device that computes with double, found {}, which does not",
                                buffer.name, info_.name),
                    Exit::environment);
    return std::make_unique<OpenclArrays>(context_.get(), queue_.get(), info_.cpu, buffers);
  }

  Result<std::unique_ptr<Executable>> build(const KernelCode& candidate) override {
    const ir::KernelSource& source = candidate.source;
    auto compiled = compile(candidate);
    if (!compiled.ok()) return compiled.failure();
    auto& [program, files] = compiled.value();
    cl_int code = CL_SUCCESS;
    Kernel kernel(clCreateKernel(program.get(), source.entry.c_str(), &code));
    if (code != CL_SUCCESS)
      return Failure{Status::build_error, fmt::format("{}: kernel '{}'", opencl_error_name(code), source.entry)};
    if (auto problem = unlaunchable(kernel.get(), candidate)) return *problem;
    Resources resources;
    resources.static_shared_bytes = local_bytes(kernel.get(), source);
    if (candidate.launch) resources.dynamic_shared_bytes = local_argument_bytes(*candidate.launch);
    if (!is_pocl_platform(info_.platform)) resources.code_bytes = binary_bytes(program.get());
    auto executable = std::make_unique<OpenclExecutable>(queue_.get(), std::move(files), std::move(program),
                                                         std::move(kernel), candidate, std::move(resources));
    if (info_.cpu && source.dry_run)
      if (auto problem = specialise(*executable, candidate.kernel.buffers)) return *problem;
    return std::unique_ptr<Executable>(std::move(executable));
  }

  EnergyCounter& energy() override {
    if (!info_.cpu) return Device::energy();
    if (!energy_) energy_ = open_powercap();
    return *energy_;
  }

 private:
  /// Returns the build options. If a user's options choose the version of the language, that choice replaces ours.
  static std::string options_of(const KernelCode& candidate) {
    if (!candidate.launch || candidate.launch->options.empty()) return opencl_build_options;
    const std::string& own = candidate.launch->options;
    return (own.find("-cl-std=") == std::string::npos ? opencl_build_options : "-w") + (" " + own);
  }

  struct Compiled {
    Program program;
    PoclFiles files;
  };
  /// deplo's own kernels need few of the functions that the compiler's header declares, so they are first compiled with
  /// declarations of these functions only. If that fails, the kernel is compiled with the header.
  Result<Compiled> compile(const KernelCode& candidate) {
    const std::string options = options_of(candidate);
    const std::string& text = candidate.source.text;
    const bool is_ours = !candidate.launch;
    if (is_ours && has_known_header(info_.platform)) {
      if (const auto builtins = builtins_of(text)) {
        auto compiled = compile(*builtins + text, fmt::format("{} {}", options, without_header));
        if (compiled.ok()) return compiled;
      }
    }
    return compile(text, options);
  }

  Result<Compiled> compile(const std::string& text, const std::string& options) {
    if (is_pocl_platform(info_.platform))
      if (const std::string why = why_too_short(); !why.empty())
        throw CannotBuild(fmt::format("{} cannot build kernels: {}", info_.name, why));
    PoclFiles files("pocl-" +
                    digest(fmt::format("{}\n{}\n{}\n{}\n{}", info_.name, info_.driver, info_.platform, options, text)));
    auto program = build(text, options);
    files.built(program.ok());
    if (!program.ok()) {
      // PoCL reports a file that it cannot write as a mistake in the source.
      if (const std::string why = why_unwritable(); !why.empty())
        throw CannotBuild(fmt::format("{} cannot build kernels: PoCL cannot write to its folder {}", info_.name, why));
      return program.failure();
    }
    return Compiled{std::move(program.value()), std::move(files)};
  }

  Result<Program> build(const std::string& text, const std::string& options) {
    const char* lines = text.c_str();
    const std::size_t size = text.size();
    cl_int code = CL_SUCCESS;
    Program program(clCreateProgramWithSource(context_.get(), 1, &lines, &size, &code));
    require(code, "create a program");
    code = clBuildProgram(program.get(), 1, &device_, options.c_str(), nullptr, nullptr);
    if (code == CL_SUCCESS) return program;
    if (code == CL_INVALID_BUILD_OPTIONS || code == CL_INVALID_COMPILER_OPTIONS)
      return Failure{Status::build_error, fmt::format("{}: '{}'", opencl_error_name(code), options)};
    const std::string log = first_lines(build_log(program.get(), device_));
    return Failure{Status::build_error, log.empty() ? opencl_error_name(code) : log};
  }

  /// Returns the size of the program's binary; -1 if the driver does not report it.
  static std::int64_t binary_bytes(cl_program program) {
    std::size_t size = 0;  // for the one device
    const cl_int code = clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr);
    return code == CL_SUCCESS && size > 0 ? static_cast<std::int64_t>(size) : -1;
  }

  static std::int64_t local_argument_bytes(const Launch& launch) {
    std::size_t bytes = 0;
    for (const Launch::Scalar& scalar : launch.scalars) bytes += scalar.local_bytes;
    return static_cast<std::int64_t>(bytes);
  }

  /// PoCL 6.0 says 0 for every kernel.
  std::int64_t local_bytes(cl_kernel kernel, const ir::KernelSource& source) const {
    cl_ulong local = 0;
    clGetKernelWorkGroupInfo(kernel, device_, CL_KERNEL_LOCAL_MEM_SIZE, sizeof local, &local, nullptr);
    return std::max(static_cast<std::int64_t>(local), source.shared_bytes);
  }

  /// Returns why a launch would fail, or nullopt. PoCL does not check the size of local memory, so a kernel that asks
  /// for too much would write beyond it.
  std::optional<Failure> unlaunchable(cl_kernel kernel, const KernelCode& candidate) const {
    cl_uint arguments = 0;
    clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof arguments, &arguments, nullptr);
    const std::size_t scalars = candidate.launch ? candidate.launch->scalars.size() : 0;
    if (candidate.launch && arguments != candidate.kernel.buffers.size() + scalars)
      return Failure{Status::build_error,
                     fmt::format("expected a kernel '{}' with the {} arguments of the space, found "
                                 "one with {} parameters",
                                 candidate.source.entry, candidate.kernel.buffers.size() + scalars, arguments)};
    if (!candidate.launch && arguments != candidate.kernel.buffers.size())
      return Failure{Status::build_error, fmt::format("CL_INVALID_KERNEL_ARGS: {} parameters for {} buffers", arguments,
                                                      candidate.kernel.buffers.size())};
    if (candidate.source.threads < 1 || candidate.source.threads > info_.max_threads)
      return Failure{Status::resource,
                     fmt::format("CL_INVALID_WORK_GROUP_SIZE: {} threads a block, the device takes {}",
                                 candidate.source.threads, info_.max_threads)};
    std::int64_t shared = local_bytes(kernel, candidate.source);
    if (candidate.launch) shared += local_argument_bytes(*candidate.launch);
    if (shared > info_.shared_bytes)
      return Failure{Status::resource, fmt::format("CL_OUT_OF_RESOURCES: {} bytes of local memory, the device has {}",
                                                   shared, info_.shared_bytes)};
    return std::nullopt;
  }

  /// Runs one block, so that PoCL's compilation counts as build time: CPU drivers (PoCL) compile the work-group
  /// function at the first launch with a local size, which takes up to 0.6 s. The block runs on scratch arrays; of
  /// their pages, only those that the block touches are ever committed.
  std::optional<Failure> specialise(OpenclExecutable& executable, const std::vector<ir::Buffer>& buffers) {
    OpenclArrays scratch(context_.get(), queue_.get(), info_.cpu, buffers);
    return executable.run(scratch, 1);
  }

  cl_device_id device_;
  DeviceInfo info_;
  Context context_;
  Queue queue_;
  std::unique_ptr<EnergyCounter> energy_;  // null until the first call of energy()
};

// Throws Error. The message says if drivers are installed; OpenCL does not say why a driver finds no device.
[[noreturn]] void no_device() {
  cl_uint drivers = 0;
  if (clGetPlatformIDs(0, nullptr, &drivers) != CL_SUCCESS || drivers == 0)
    throw Error(
        "no OpenCL device: expected an installed driver (ICD), found none; on Debian or Ubuntu "
        "`apt-get install pocl-opencl-icd` adds one for the CPU",
        Exit::environment);
  throw Error(fmt::format("no OpenCL device: expected one from the installed drivers ({}), found none; PoCL needs a "
                          "cache folder that it can write to (POCL_CACHE_DIR, XDG_CACHE_HOME or HOME)",
                          drivers),
              Exit::environment);
}

}  // namespace
}  // namespace opencl

bool is_pocl(const DeviceInfo& info) {
  return info.backend == "opencl" && info.cpu && opencl::is_pocl_platform(info.platform);
}

void leave_pocl_workers_unbound() { setenv("POCL_AFFINITY", "0", /*overwrite=*/1); }

std::vector<DeviceInfo> opencl_devices() {
  return mapped(opencl::find_devices(), [](cl_device_id device) { return opencl::describe(device); });
}

std::unique_ptr<Device> open_opencl(std::size_t index) {
  const auto devices = opencl::find_devices();
  if (devices.empty()) opencl::no_device();
  if (index >= devices.size())
    throw Error(fmt::format("expected a device from opencl:0 to opencl:{}, found opencl:{}; see `deplo devices`",
                            devices.size() - 1, index),
                Exit::environment);
  return std::make_unique<opencl::OpenclDevice>(devices[index]);
}

}  // namespace deplo::measure
