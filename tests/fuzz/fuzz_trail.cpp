// Fuzzes trails: if a trail can be parsed, its print parses as the same trail.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/error.h"
#include "core/trail.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  using namespace deplo;
  try {
    const Trail trail = parse_trail(bytes);
    CHECK(parse_trail(print(trail)) == trail);
  } catch (const Error&) {  // bad input must be refused in one line
  }
  return 0;
}
