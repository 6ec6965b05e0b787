#include "measure/check/red_zone.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace deplo::measure {

std::vector<std::byte> red_zone() {
  constexpr std::uint32_t word = 0x7fd0beef;  // a quiet NaN
  std::vector<std::byte> zone(red_zone_bytes);
  for (std::size_t at = 0; at < zone.size(); at += sizeof word) std::memcpy(zone.data() + at, &word, sizeof word);
  return zone;
}

std::optional<std::string> damage(std::span<const std::byte> before, std::span<const std::byte> behind,
                                  const std::string& buffer) {
  const std::vector<std::byte> intact = red_zone();
  // The message names the damage that is closest to the buffer, so the zone before the buffer is searched from its end.
  if (const auto at = std::mismatch(before.rbegin(), before.rend(), intact.rbegin()).first; at != before.rend())
    return fmt::format("wrote outside of '{}': {} bytes before its start", buffer, at - before.rbegin() + 1);
  if (const auto at = std::mismatch(behind.begin(), behind.end(), intact.begin()).first; at != behind.end())
    return fmt::format("wrote outside of '{}': {} bytes past its end", buffer, at - behind.begin());
  return std::nullopt;
}

}  // namespace deplo::measure
