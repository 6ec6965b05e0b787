// Content hashes (xxHash, XXH3).
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace deplo {

/// XXH3-128 of the bytes, as 32 lower-case hexadecimal digits.
std::string digest(std::string_view bytes);
/// XXH3-64 of the bytes. It detects damage, but not malice.
std::uint64_t checksum(std::string_view bytes, std::uint64_t seed = 0);

}  // namespace deplo
