#include "core/outcome.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>

namespace deplo {
namespace {

// In the order of the enumerators.
constexpr std::array<std::string_view, 7> names = {"ok",           "invalid", "build_error", "launch_error",
                                                   "wrong_result", "timeout", "implausible"};
static_assert(static_cast<std::size_t>(Status::implausible) + 1 == names.size());

}  // namespace

std::string_view status_name(Status status) {
  const auto index = static_cast<std::size_t>(status);
  CHECK(index < names.size());
  return names[index];
}

Status parse_status(std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<Status>(std::distance(names.begin(), found));
  std::string known;
  for (const std::string_view each : names) known += (known.empty() ? "" : ", ") + std::string(each);
  throw Error("expected a status (" + known + "), found '" + std::string(name) + "'");
}

}  // namespace deplo
