#include "core/outcome.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>

namespace deplo {
namespace {

// Names in the order of the enumerators of Status.
constexpr std::array<std::string_view, 22> names = {
    "ok",         "slow",         "invalid",        "build_error", "build_timeout", "build_crash",   "resource",
    "load_error", "launch_error", "illegal_access", "hang",        "wrong_result",  "guard_hit",     "nondeterministic",
    "noop",       "implausible",  "no_energy",      "worker_lost", "device_lost",   "out_of_memory", "cancelled",
    "timeout"};
static_assert(static_cast<std::size_t>(Status::timeout) + 1 == names.size());

}  // namespace

std::string_view status_name(Status status) {
  const auto index = static_cast<std::size_t>(status);
  CHECK(index < names.size());
  return names[index];
}

std::optional<Status> find_status(std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Status>(found - names.begin());
}

Status parse_status(std::string_view name) {
  if (const std::optional<Status> status = find_status(name)) return *status;
  throw Error(fmt::format("expected a status ({}), found '{}'", fmt::join(names, ", "), name));
}

}  // namespace deplo
