// Recorded spaces of other tuners, in every format: search/records/formats/formats.cpp.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/error.h"
#include "search/records/formats/read.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  using namespace deplo;
  try {
    for (const search::Records& records : search::parse_spaces(bytes, "bytes"))
      (void)search::print_records(records, search::Format::table);
  } catch (const Error&) {  // refused in one line, as bad input must be
  }
  return 0;
}
