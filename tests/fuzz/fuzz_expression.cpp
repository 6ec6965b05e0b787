// Fuzzes the parser of PyTorch expressions.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/error.h"
#include "ir/torch/expression/expression.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  using namespace deplo;
  try {
    (void)ir::torch::parse_expression(bytes);
  } catch (const Error&) {  // bad input must be refused in one line
  }
  return 0;
}
