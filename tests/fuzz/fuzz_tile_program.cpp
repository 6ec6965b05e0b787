// Fuzzes tile programs, as bytecode or text: if a program can be read, its print can be read again.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/error.h"
#include "ir/tile_program/program.h"
#include "ir/tile_program/text/text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  using namespace deplo;
  try {
    const auto program = ir::tile_program::read_program(bytes, "bytes");
    (void)ir::tile_program::read_program(print(program), "text");
  } catch (const Error&) {  // bad input must be refused in one line
  }
  return 0;
}
