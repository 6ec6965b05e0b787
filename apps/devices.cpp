#include "apps/devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "measure/device.h"
#include "measure/probe.h"

namespace deplo::apps {
namespace {

constexpr std::string_view indent = "             ";

std::string limits(const measure::DeviceInfo& info) {
  std::string text = fmt::format("{} units", info.units);
  if (info.clock_mhz > 0) text += fmt::format(", {} MHz", info.clock_mhz);
  if (!info.architecture.empty()) text += ", " + info.architecture;
  text += fmt::format("; {} threads a block, {} KiB shared memory", info.max_threads, info.shared_bytes / 1024);
  if (info.l2_bytes > 0) text += fmt::format(", {:.1f} MiB last cache", static_cast<double>(info.l2_bytes) / (1 << 20));
  if (info.memory_bytes > 0) text += fmt::format(", {:.1f} GiB", static_cast<double>(info.memory_bytes) / (1 << 30));
  return text;
}

std::string ceilings(std::string_view name) {
  const auto device = measure::open_device(name);
  const measure::Ceilings found = measure::Probe(*device).ceilings();
  if (found.gb_s() == 0 && found.fp32_gflop_s == 0) return "not measured: it does not run source text";
  return fmt::format("measured: copy {:.1f} GB/s, read {:.1f} GB/s, fp32 {:.0f} GFLOP/s", found.copy_gb_s,
                     found.read_gb_s, found.fp32_gflop_s);
}

/// Why a device of this kind cannot be opened; "" when it can.
std::string missing(std::string_view backend) {
  try {
    measure::open_device(backend);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

std::string devices_text(bool measure) {
  std::string text;
  const auto devices = measure::list_devices();
  for (const auto& [name, info] : devices) {
    text +=
        fmt::format("{:<12} {} ({}, {})\n{}{}\n", name, info.name, info.platform, info.driver, indent, limits(info));
    if (measure) text += fmt::format("{}{}\n", indent, ceilings(name));
  }
  for (const std::string_view backend : std::array{std::string_view("opencl")}) {
    const auto is_listed = [&](const auto& device) { return device.second.backend == backend; };
    if (std::none_of(devices.begin(), devices.end(), is_listed))
      text += fmt::format("{:<12} not usable: {}\n", backend, missing(backend));
  }
  return text;
}

}  // namespace deplo::apps
