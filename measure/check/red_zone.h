// Guard bytes before and after each buffer, which reveal a kernel's writes outside of the buffer.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace deplo::measure {

/// The size on each side: one page. Contiguous writes past an end begin there, and the buffer between two zones keeps
/// every alignment that vector accesses and TMA require (at most 1024 bytes).
inline constexpr std::size_t red_zone_bytes = 4096;

/// The contents of a zone: an f32 NaN with a special payload, so that reads past an end show in the result too.
std::vector<std::byte> red_zone();

/// "wrote outside of 'c': 12 bytes past its end" if one of the zones around the buffer has changed. `buffer`: its name.
std::optional<std::string> damage(std::span<const std::byte> before, std::span<const std::byte> behind,
                                  const std::string& buffer);

}  // namespace deplo::measure
