#include "core/target.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <utility>
#include <vector>

#include "core/config.h"
#include "core/error.h"
#include "core/file.h"
#include "core/text/nearest.h"
#include "core/text/text.h"

namespace deplo {

namespace {

constexpr std::array<std::string_view, 2> dialect_names = {"opencl", "cuda"};  // in the order of the enum

/// A number in a target's file, and the range that it must lie in.
struct Limit {
  std::string_view key;
  std::int64_t Target::*member;
  std::int64_t min = 0, max = std::numeric_limits<std::int64_t>::max();
  bool optional = false;  // if the file lacks the key, the default in Target applies
};
constexpr std::array limits = {
    Limit{"max_threads", &Target::max_threads, 1, 1 << 20},
    Limit{"warp", &Target::warp, 1, 128, true},
    Limit{"shared_bytes", &Target::shared_bytes},
    Limit{"register_floats", &Target::register_floats, 1},
    Limit{"vector_lanes", &Target::vector_lanes, 1, 16},
    Limit{.key = "units", .member = &Target::units, .min = 1},
    Limit{"cluster", &Target::cluster, 1, 16, true},
    Limit{.key = "stream_bytes", .member = &Target::stream_bytes, .optional = true},
    Limit{.key = "unit_registers", .member = &Target::unit_registers, .optional = true},
    Limit{.key = "unit_threads", .member = &Target::unit_threads, .optional = true},
    Limit{.key = "unit_blocks", .member = &Target::unit_blocks, .optional = true},
    Limit{.key = "unit_shared_bytes", .member = &Target::unit_shared_bytes, .optional = true},
};
/// Capabilities of a target: false unless its file sets them.
constexpr std::array<std::pair<std::string_view, bool Target::*>, 11> capabilities = {{
    {"cpu", &Target::cpu},
    {"shuffle", &Target::shuffle},
    {"atomic_add", &Target::atomic_add},
    {"vector_add", &Target::vector_add},
    {"async_copy", &Target::async_copy},
    {"tma", &Target::tma},
    {"prefetch", &Target::prefetch},
    {"mma", &Target::mma},
    {"dot_pairs", &Target::dot_pairs},
    {"fast_pairs", &Target::fast_pairs},
    {"wgmma", &Target::wgmma},
}};

}  // namespace

std::string_view name(Dialect dialect) { return dialect_names.at(static_cast<std::size_t>(dialect)); }

DialectTraits traits(Dialect dialect) {
  switch (dialect) {
    case Dialect::opencl:
      return {.unaligned_vectors = true};  // vloadn and vstoren (OpenCL C 1.2, 6.12.7)
    case Dialect::cuda:
      return {.register_limit = true};  // __launch_bounds__ (CUDA C++ Programming Guide, "Launch Bounds")
  }
  CHECK(false);
}

std::optional<Dialect> parse_dialect(std::string_view word) {
  const auto* const found = std::ranges::find(dialect_names, word);
  return found == dialect_names.end() ? std::nullopt
                                      : std::optional(static_cast<Dialect>(found - dialect_names.begin()));
}

int compute_capability(std::string_view architecture) {
  const std::string_view number = architecture.substr(std::min(architecture.find('_') + 1, architecture.size()));
  int capability = 0;
  std::from_chars(number.data(), number.data() + number.size(), capability);
  return capability;
}

Target load_target(std::string_view wanted) {
  const std::vector<std::string> names = list_data("configs/targets", ".yaml");
  if (std::find(names.begin(), names.end(), wanted) == names.end())
    throw Error(
        fmt::format("expected a target ({}), found '{}'{}", join(names, ", "), wanted, did_you_mean(wanted, names)));
  const Config config = Config::load(data_folder() / "configs/targets" / (std::string(wanted) + ".yaml"));
  std::vector<std::string_view> keys = {"source", "dialect"};
  for (const Limit& limit : limits) keys.push_back(limit.key);
  for (const auto& [key, member] : capabilities) keys.push_back(key);
  config.only(keys);
  config.at("source").text();
  Target target;
  target.name = wanted;
  target.dialect = *parse_dialect(config.at("dialect").one_of({dialect_names.begin(), dialect_names.end()}));
  for (const Limit& limit : limits)
    if (!limit.optional || config.has(limit.key))
      target.*limit.member = config.at(limit.key).integer(limit.min, limit.max);
  for (const auto& [key, member] : capabilities)
    if (config.has(key)) target.*member = config.at(key).boolean();
  return target;
}

}  // namespace deplo
