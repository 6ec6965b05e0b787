#include "measure/check/red_zone.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace deplo::measure {

std::vector<std::byte> red_zone(std::size_t number) {
  constexpr std::uint32_t signalling = 0x7f900000;  // also as bf16; as f16, a quiet NaN
  // Odd factors, so that the payloads of 16 bits of a zone's 1,024 words differ.
  constexpr std::size_t per_word = 30011, per_buffer = 40503;
  std::vector<std::byte> zone(red_zone_bytes);
  for (std::size_t at = 0; at < zone.size(); at += sizeof signalling) {
    const auto payload = static_cast<std::uint16_t>((at / sizeof signalling) * per_word + (number + 1) * per_buffer);
    const std::uint32_t word = signalling | payload;
    std::memcpy(zone.data() + at, &word, sizeof word);
  }
  return zone;
}

std::optional<std::string> damage(std::span<const std::byte> before, std::span<const std::byte> behind,
                                  std::size_t number, const std::string& buffer) {
  const std::vector<std::byte> intact = red_zone(number);
  // The message names the damage that is closest to the buffer, so the zone before the buffer is searched from its end.
  if (const auto at = std::mismatch(before.rbegin(), before.rend(), intact.rbegin()).first; at != before.rend())
    return fmt::format("wrote outside of '{}': {} bytes before its start", buffer, at - before.rbegin() + 1);
  if (const auto at = std::mismatch(behind.begin(), behind.end(), intact.begin()).first; at != behind.end())
    return fmt::format("wrote outside of '{}': {} bytes past its end", buffer, at - behind.begin());
  return std::nullopt;
}

}  // namespace deplo::measure
