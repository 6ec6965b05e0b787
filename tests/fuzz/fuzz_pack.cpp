// Fuzzes packs of schedules, which come from other people.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/error.h"
#include "measure/store/pack.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  using namespace deplo;
  try {
    const measure::Pack pack = measure::parse_pack(bytes, "bytes");
    (void)measure::parse_pack(print(pack), "printed");
    (void)measure::store_of(pack);
  } catch (const Error&) {  // bad input must be refused in one line
  }
  return 0;
}
