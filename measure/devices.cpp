// Opens devices by name, derives targets from them, and defines the defaults of Executable and Device.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#include "core/error.h"
#include "core/text/number.h"
#include "measure/cuda/cuda.h"
#include "measure/device.h"
#include "measure/interpreter.h"
#include "measure/opencl/opencl.h"
#include "measure/ptx/device.h"

namespace deplo::measure {
namespace {

[[noreturn]] void unknown(std::string_view name) {
  throw Error(
      fmt::format("expected a device (cuda, cuda:N, opencl, opencl:N, interpreter, ptx:sm_N), found '{}'", name));
}

}  // namespace

// The default is for devices that calculate their times: their launch() reads no clock that could be skipped.
std::optional<Failure> Executable::execute(Arrays& arrays, std::int64_t blocks) {
  const auto time = launch(arrays, blocks);
  return time.ok() ? std::nullopt : std::optional(time.failure());
}

Result<Sample> Executable::sample(std::span<Arrays* const> sets, std::int64_t blocks, int batch) {
  double sum = 0;
  for (int i = 0; i < batch; ++i) {
    const auto time = launch(*sets[static_cast<std::size_t>(i) % sets.size()], blocks);
    if (!time.ok()) return time.failure();
    sum += time.value();
  }
  return Sample{sum / batch, 0};
}

std::optional<Failure> Executable::repeat(std::span<Arrays* const> sets, std::int64_t blocks, int batch,
                                          const std::function<void()>& meanwhile) {
  meanwhile();
  const auto taken = sample(sets, blocks, batch);
  return taken.ok() ? std::nullopt : std::optional(taken.failure());
}

const Resources& Executable::resources() const {
  static const Resources unknown;
  return unknown;
}

EnergyCounter& Device::energy() {
  throw Error(
      fmt::format(
          "expected a device with an energy counter (an NVIDIA GPU through CUDA, a CPU through OpenCL), found {}",
          info().name),
      Exit::environment);
}

void Device::pause(double milliseconds) {
  std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(milliseconds));
}

std::unique_ptr<Device> open_device(std::string_view name) {
  if (name == "interpreter") return open_interpreter();
  const std::string_view backend = name.substr(0, name.find(':'));
  if (backend == "ptx") return open_ptx(name);
  if (backend != "opencl" && backend != "cuda") unknown(name);
  std::size_t index = 0;
  if (backend.size() < name.size()) {
    const auto number = parse_number<std::size_t>(name.substr(backend.size() + 1));
    if (!number) unknown(name);
    index = *number;
  }
  return backend == "cuda" ? open_cuda(index) : open_opencl(index);
}

std::vector<std::pair<std::string, DeviceInfo>> list_devices() {
  std::vector<std::pair<std::string, DeviceInfo>> devices;
  const auto add = [&](const char* backend, std::vector<DeviceInfo> infos) {
    for (std::size_t i = 0; i < infos.size(); ++i)
      devices.emplace_back(fmt::format("{}:{}", backend, i), std::move(infos[i]));
  };
  add("cuda", cuda_devices());
  add("opencl", opencl_devices());
  devices.emplace_back("interpreter", interpreter_info());
  return devices;
}

DeviceInfo find_device(std::string_view name) {
  const std::string numbered = std::string(name) + (name == "cuda" || name == "opencl" ? ":0" : "");
  for (auto& [id, info] : list_devices())
    if (id == numbered) return std::move(info);
  return open_device(name)->info();  // a PTX machine is not listed; for others this throws what is missing
}

namespace {

/// Whether the driver compiles inline assembly. A pass of PoCL 4.0 to 6.0 replaces it by an allocation of local memory
/// (handleLocalMemAllocas() in lib/llvmopencl/WorkitemLoops.cc), or ends the process.
bool compiles_assembly(const DeviceInfo& info) {
  return std::ranges::none_of(std::array{"PoCL 4.", "PoCL 5.", "PoCL 6."},
                              [&](const char* version) { return info.platform.find(version) != std::string::npos; });
}

}  // namespace

Target target_of(const DeviceInfo& info) {
  if (info.units < 1 || info.max_threads < 1 || info.shared_bytes < 0)  // it may come from a damaged store
    throw Error(fmt::format("device {}: expected units, threads per block and shared memory, found {}, {} and {} bytes",
                            info.name, info.units, info.max_threads, info.shared_bytes));
  if (info.backend == "cuda" || info.backend == "ptx") return cuda_target(info);
  Target target = load_target(!info.cpu                          ? "opencl-gpu"
                              : info.architecture == avx512_bf16 ? "opencl-cpu-bf16"
                              : info.architecture == avx2        ? "opencl-cpu-avx2"
                                                                 : "opencl-cpu");
  if (info.max_threads < target.warp)
    throw Error(fmt::format("device {}: expected a warp of {} threads in a block, found at most {}", info.name,
                            target.warp, info.max_threads));
  target.max_threads = std::min(target.max_threads, info.max_threads);
  // A CPU's local memory lies in its cache. The target's file says how much is useful, the driver how much is allowed.
  target.shared_bytes = info.cpu ? std::min(target.shared_bytes, info.shared_bytes) : info.shared_bytes;
  target.units = info.units;
  // On Sapphire Rapids the best schedule of matmul_bf16_128x512x512 takes 506 µs with pairs and 382 µs without them
  // (experiments/results/recorded_spaces.md). On an EPYC of family 26 pairs are 1.8 to 2.2 times as fast as f32
  // (docs/performance.md, "Dot products of bf16 on CPUs").
  if (info.vendor == "GenuineIntel") target.fast_pairs = false;
  if (!compiles_assembly(info)) target.dot_pairs = target.fast_pairs = false;
  // Half, because a kernel's inputs share the last-level cache with its outputs.
  if (info.l2_bytes > 0 && target.stream_bytes > 0) target.stream_bytes = info.l2_bytes / 2;
  return target;
}

}  // namespace deplo::measure
