#include "apps/devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

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

/// Measured some times: on a busy machine each says less than the device can do, and none the same.
std::string ceilings(std::string_view name) {
  constexpr int repeats = 5;
  constexpr double alike = 0.1;  // of a machine at rest the repeats differ by a few per cent
  const auto device = measure::open_device(name);
  measure::Probe probe(*device);
  double least = 1;  // of the highest
  for (int i = 0; i < repeats; ++i) {
    const measure::Ceilings now = probe.measure(), best = probe.ceilings();
    for (const auto& [of, to] : {std::pair(now.copy_gb_s, best.copy_gb_s), std::pair(now.read_gb_s, best.read_gb_s),
                                 std::pair(now.fp32_gflop_s, best.fp32_gflop_s)})
      if (to > 0) least = std::min(least, of / to);
  }
  const measure::Ceilings best = probe.ceilings();
  if (best.gb_s() == 0 && best.fp32_gflop_s == 0) return "not measured: it does not run source text";
  std::string text = fmt::format("measured: copy {:.1f} GB/s, read {:.1f} GB/s, fp32 {:.0f} GFLOP/s; the best of {}",
                                 best.copy_gb_s, best.read_gb_s, best.fp32_gflop_s, repeats + 1);
  if (1 - least > alike)
    text += fmt::format("\n{}unreliable: the same was measured up to {:.0f} % lower; is the machine busy?", indent,
                        100 * (1 - least));
  return text;
}

/// Why no device of this kind can be opened, in one line.
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
  for (const std::string_view backend : std::array<std::string_view, 2>{"cuda", "opencl"}) {
    const auto is_listed = [&](const auto& device) { return device.second.backend == backend; };
    if (std::none_of(devices.begin(), devices.end(), is_listed))
      text += fmt::format("{:<12} not usable: {}\n", backend, missing(backend));
  }
  return text;
}

}  // namespace deplo::apps
