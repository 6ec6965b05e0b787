// Reads UTF-8, one code point at a time.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace deplo {

struct CodePoint {
  std::uint32_t value = 0;
  std::size_t bytes = 0;  // its length
};
/// The first code point of a text that is not empty. 0 bytes: invalid UTF-8 (RFC 3629: shortest form, no surrogates).
CodePoint code_point(std::string_view text);

/// Whether the byte begins a code point, and is not a continuation byte.
inline bool starts_code_point(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

}  // namespace deplo
