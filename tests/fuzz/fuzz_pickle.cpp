// Fuzzes the data.pkl of files that torch.export.save writes.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/error.h"
#include "ir/torch/pt2/pickle.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  using namespace deplo;
  try {
    (void)ir::torch::pt2::read_pickle(bytes, "data.pkl");
  } catch (const Error&) {  // bad input must be refused in one line
  }
  return 0;
}
