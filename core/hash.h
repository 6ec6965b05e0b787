// 128-bit content hashes (xxHash, XXH3).
#pragma once
#include <string>
#include <string_view>

namespace deplo {

/// 32 lower-case hexadecimal digits of XXH3-128 of the bytes.
std::string digest(std::string_view bytes);

}  // namespace deplo
