// A trail: one that is read is printed, and read from that again, as the same.
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
  } catch (const Error&) {  // refused in one line, as bad input must be
  }
  return 0;
}
