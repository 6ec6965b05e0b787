// Guard bytes before and after each buffer. They reveal a kernel's writes outside of the buffer.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace deplo::measure {

/// Size of the zone on each side: one page. Contiguous writes past an end begin in the zone, and the buffer between two
/// zones keeps every alignment that vector accesses and TMA require (at most 1024 bytes).
inline constexpr std::size_t red_zone_bytes = 4096;

/// Returns the contents of a zone: an f32 NaN with a special payload, so that reads past an end also show in the
/// result.
std::vector<std::byte> red_zone();

/// Returns a message such as "wrote outside of 'c': 12 bytes past its end" if one of the zones around the buffer has
/// changed, else nullopt. `buffer`: its name.
std::optional<std::string> damage(std::span<const std::byte> before, std::span<const std::byte> behind,
                                  const std::string& buffer);

}  // namespace deplo::measure
