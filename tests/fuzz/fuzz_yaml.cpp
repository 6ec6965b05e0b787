// Fuzzes YAML documents, such as experiments.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/config.h"
#include "core/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  using namespace deplo;
  try {
    (void)Config::parse(bytes, "bytes").entries();
  } catch (const Error&) {  // bad input must be refused in one line
  }
  return 0;
}
