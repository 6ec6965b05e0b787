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

/// Returns the contents of the zones around a buffer. `number`: of the buffer, so that each has its own contents. They
/// are f32 NaN, so that reads past an end also show in the result. A kernel that reads past the end of one buffer and
/// writes the result past the end of another, or of the same one, must not write what is there: the NaN are signalling,
/// so all arithmetic changes them (IEEE 754-2019, 6.2), and no two words of a zone, and hardly any of two zones, are
/// equal.
std::vector<std::byte> red_zone(std::size_t number);

/// Returns a message such as "wrote outside of 'c': 12 bytes past its end" if one of the zones around the buffer has
/// changed, else nullopt. `number`: as in red_zone(); `buffer`: the buffer's name.
std::optional<std::string> damage(std::span<const std::byte> before, std::span<const std::byte> behind,
                                  std::size_t number, const std::string& buffer);

}  // namespace deplo::measure
