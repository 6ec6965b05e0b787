// Fuzzes recorded spaces of other tuners. The fuzzer of a format passes all bytes to the reader of that format;
// fuzz_records detects the format from the bytes.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/error.h"
#include "search/records/formats/formats.h"
#include "search/records/formats/sample_folder.h"

namespace {

using namespace deplo::search;

/// Returns the reader of the format whose samples are in the folder DEPLO_FORMAT; nullptr if DEPLO_FORMAT is empty, so
/// that the format is detected from the bytes.
const records::RecordFormat* own_format() {
  const auto formats = records::all_formats();
  const auto found =
      std::ranges::find(formats, DEPLO_FORMAT, [](const auto& each) { return sample_folder(each.name); });
  CHECK(found != formats.end() || std::string_view(DEPLO_FORMAT).empty());
  return found == formats.end() ? nullptr : &*found;
}

std::vector<Records> spaces_of(std::string_view bytes) {
  static const records::RecordFormat* const format = own_format();
  static const std::string place = "bytes";
  static const Reading reading;
  return format == nullptr ? parse_spaces(bytes, place) : format->parse({bytes, place, reading});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    for (const Records& records : spaces_of({reinterpret_cast<const char*>(data), size}))
      for (const Format written : {Format::kernel_tuner, Format::t4, Format::table}) print_records(records, written);
  } catch (const deplo::Error&) {  // bad input must be refused in one line
  }
  return 0;
}
