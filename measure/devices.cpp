// Names of devices, and what the rules may assume of one.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <thread>

#include "measure/device.h"
#include "measure/interpreter.h"
#include "measure/opencl.h"

namespace deplo::measure {
namespace {

[[noreturn]] void unknown(std::string_view name) {
  throw Error(fmt::format("expected a device (opencl, opencl:N, interpreter), found '{}'", name));
}

}  // namespace

void Device::pause(double milliseconds) {
  std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(milliseconds));
}

std::unique_ptr<Device> open_device(std::string_view name) {
  constexpr std::string_view opencl = "opencl";
  if (name == "interpreter") return open_interpreter();
  if (name == opencl) return open_opencl(0);
  if (!name.starts_with("opencl:")) unknown(name);
  const std::string_view digits = name.substr(opencl.size() + 1);
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
  if (error != std::errc() || end != digits.data() + digits.size()) unknown(name);
  return open_opencl(index);
}

std::vector<std::pair<std::string, DeviceInfo>> list_devices() {
  std::vector<std::pair<std::string, DeviceInfo>> devices;
  for (DeviceInfo& info : opencl_devices())
    devices.emplace_back("opencl:" + std::to_string(devices.size()), std::move(info));
  devices.emplace_back("interpreter", interpreter_info());
  return devices;
}

Target target_of(const DeviceInfo& info) {
  Target target = load_target(info.cpu ? "opencl-cpu" : "opencl-gpu");
  target.max_threads = std::min(target.max_threads, info.max_threads);
  // A CPU's "local" memory is a piece of its cache: the file says how much is useful, the driver how much is allowed.
  target.shared_bytes = info.cpu ? std::min(target.shared_bytes, info.shared_bytes) : info.shared_bytes;
  target.units = info.units;
  return target;
}

}  // namespace deplo::measure
