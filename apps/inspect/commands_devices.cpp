// `deplo devices`: lists the usable devices, and why other devices cannot be used.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/cli/commands.h"
#include "apps/cli/flags.h"
#include "core/error.h"
#include "core/text/json.h"
#include "core/text/text.h"
#include "core/text/wrap.h"
#include "measure/device.h"
#include "measure/protocol/probe.h"

namespace deplo::apps {
namespace {

constexpr std::size_t indent = 13;  // columns; where the text after a name begins

std::string limits(const measure::DeviceInfo& info) {
  std::string text = counted(info.units, "unit");
  if (info.clock_mhz > 0) text += fmt::format(", {} MHz", info.clock_mhz);
  if (!info.architecture.empty()) text += ", " + info.architecture;
  text += fmt::format("; {} threads a block, {} KiB shared memory", info.max_threads, info.shared_bytes / 1024);
  if (info.l2_bytes > 0)
    text += fmt::format(", {:.1f} MiB last-level cache", static_cast<double>(info.l2_bytes) / (1 << 20));
  if (info.memory_bytes > 0) text += fmt::format(", {:.1f} GiB", static_cast<double>(info.memory_bytes) / (1 << 30));
  return text;
}

struct Measured {
  // The best of six measurements. On a busy machine, each of them is lower than what the device can do, and all differ.
  rules::Ceilings best;
  double min_share = 1;  // the lowest measurement as a share of the best
  bool known() const { return best.gb_s() != 0 || best.fp32_gflop_s != 0; }
  bool reliable() const { return 1 - min_share <= 0.1; }  // on an idle machine, repeats differ by a few per cent
};
constexpr int repeats = 5;  // measurements after the first one

Measured measure_ceilings(std::string_view name) {
  const auto device = measure::open_device(name);
  measure::Probe probe(*device);
  probe.include_memory();
  Measured found;
  for (int i = 0; i < repeats; ++i) {
    const rules::Ceilings now = probe.measure(), best = probe.ceilings();
    for (const auto& [of, to] : {std::pair(now.copy_gb_s, best.copy_gb_s), std::pair(now.read_gb_s, best.read_gb_s),
                                 std::pair(now.fp32_gflop_s, best.fp32_gflop_s)})
      if (to > 0) found.min_share = std::min(found.min_share, of / to);
  }
  found.best = probe.ceilings();
  return found;
}

std::string ceilings(std::string_view name) {
  const Measured measured = measure_ceilings(name);
  if (!measured.known()) return "not measured: the device does not run source text";
  std::string text =
      fmt::format("measured: copy {:.1f} GB/s, read {:.1f} GB/s, fp32 {:.0f} GFLOP/s; the best of {}",
                  measured.best.copy_gb_s, measured.best.read_gb_s, measured.best.fp32_gflop_s, repeats + 1);
  if (!measured.reliable())
    text += fmt::format("\nunreliable: repeats were up to {:.0f} % lower; is the machine busy?",
                        100 * (1 - measured.min_share));
  return text;
}

/// Returns the reason why no device of this kind can be opened, in one line; "" if one can.
std::string missing(std::string_view backend) {
  try {
    measure::open_device(backend);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// Returns the kinds of devices of which there is none, each with the reason.
std::vector<std::pair<std::string_view, std::string>> unusable(
    const std::vector<std::pair<std::string, measure::DeviceInfo>>& devices) {
  std::vector<std::pair<std::string_view, std::string>> kinds;
  for (const std::string_view backend : std::array<std::string_view, 2>{"cuda", "opencl"}) {
    const auto is_listed = [&](const auto& device) { return device.second.backend == backend; };
    if (std::ranges::none_of(devices, is_listed)) kinds.emplace_back(backend, missing(backend));
  }
  return kinds;
}

std::string device_entry(std::string_view name, const std::string& text, std::size_t width) {
  return wrap(fmt::format("{:<{}}{}", name, indent, text), width, indent) + "\n";
}

Json json_of(const std::string& name, const measure::DeviceInfo& info, bool measure) {
  Json json = Json::object({{"device", name},
                            {"name", info.name},
                            {"backend", info.backend},
                            {"platform", info.platform},
                            {"driver", info.driver},
                            {"cpu", info.cpu},
                            {"units", info.units},
                            {"clock_mhz", Json::or_null(info.clock_mhz)},
                            {"architecture", Json::or_null(info.architecture)},
                            {"threads_per_block", info.max_threads},
                            {"shared_bytes", info.shared_bytes},
                            {"last_cache_bytes", Json::or_null(info.l2_bytes)},
                            {"memory_bytes", Json::or_null(info.memory_bytes)}});
  if (!measure) return json;
  const Measured measured = measure_ceilings(name);
  json.set("copy_gb_s", Json::or_null(measured.best.copy_gb_s));
  json.set("read_gb_s", Json::or_null(measured.best.read_gb_s));
  json.set("fp32_gflop_s", Json::or_null(measured.best.fp32_gflop_s));
  json.set("reliable", measured.known() ? Json(measured.reliable()) : Json());
  return json;
}

/// Both functions return the list. `measure`: also measure the ceilings of each device, with deplo's own kernels, for
/// about half a second.
std::string devices_text(bool measure, std::size_t width) {
  if (width == 0) width = std::string::npos;
  std::string text;
  const auto devices = measure::list_devices();
  for (const auto& [name, info] : devices) {
    std::string lines = fmt::format("{} ({}, {})\n{}", info.name, info.platform, info.driver, limits(info));
    if (measure) lines += "\n" + ceilings(name);
    text += device_entry(name, lines, width);
  }
  for (const auto& [backend, reason] : unusable(devices)) text += device_entry(backend, "not usable: " + reason, width);
  return text;
}

std::string devices_json(bool measure) {
  const auto devices = measure::list_devices();
  Json usable = Json::array();
  for (const auto& [name, info] : devices) usable.push_back(json_of(name, info, measure));
  return Json::object({{"devices", usable}, {"not_usable", Json::object(unusable(devices))}}).print_lines(2);
}

}  // namespace

void add_devices(Command command) {
  auto measure = std::make_shared<bool>(false), json = std::make_shared<bool>(false);
  command.describe(
      "List the devices for --device, and their limits.\nIf a kind of device cannot be used, the list says why.");
  command.flag("--measure", *measure,
               "Measure the peak rates of each device: copying, reading and f32 multiply-adds (half a second each).");
  command.flag("--json", *json, "Print one JSON document instead of the list.");
  command.examples("deplo devices --measure");
  command.run(
      [measure, json] { print_result(*json ? devices_json(*measure) : devices_text(*measure, window_width())); });
}

}  // namespace deplo::apps
