// Content hashes (xxHash, XXH3).
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace deplo {

/// 32 lower-case hexadecimal digits of XXH3-128 of the bytes.
std::string digest(std::string_view bytes);
/// XXH3-64 of the bytes: finds damage, not malice.
std::uint64_t checksum(std::string_view bytes, std::uint64_t seed = 0);

}  // namespace deplo
