// Guard bytes before and behind each buffer: a kernel that writes beside its buffer is seen.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace deplo::measure {

/// On each side. A page: contiguous writes past an end start there, and the buffer between two zones keeps every
/// alignment that a vector access or TMA asks for (at most 1024 bytes).
inline constexpr std::size_t red_zone_bytes = 4096;

/// What a zone holds: a NaN in f32 with a payload of its own, so that a read past an end shows in the result too.
std::vector<std::byte> red_zone();

/// "wrote outside of 'c': 12 bytes past its end" when one of the zones around the buffer is not as it was made. `size`: of
/// the buffer, in bytes.
std::optional<std::string> damage(std::span<const std::byte> before, std::span<const std::byte> behind,
                                  const std::string& buffer);

}  // namespace deplo::measure
