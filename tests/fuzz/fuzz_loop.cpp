// Fuzzes .loop kernels: if a text can be parsed, its print parses as the same program.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/error.h"
#include "ir/program.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  using namespace deplo;
  try {
    ir::Symbols symbols;
    for (const std::string& name : ir::declared_symbols(bytes)) symbols[name] = 3;
    const ir::Program program = ir::parse(bytes, symbols);
    CHECK(ir::parse(print(program)) == program);
    (void)verify(program);
  } catch (const Error&) {  // bad input must be refused in one line
  }
  return 0;
}
