#include "measure/cuda/sass/disassemble.h"

#include "core/error.h"
#include "measure/cuda/library.h"
#include "measure/cuda/tool.h"

namespace deplo::measure::cuda::sass {

namespace fs = std::filesystem;

fs::path nvdisasm() {
  if (auto program = find_program("nvdisasm")) return *std::move(program);
  throw Error(
      "no nvdisasm: expected it next to the program, on the path, in /usr/local/cuda*/bin or in Python's packages, "
      "found none; it comes with the CUDA toolkit, or by `pip install nvidia-cuda-nvdisasm`",
      Exit::environment);
}

std::string disassemble(std::string_view cubin, const fs::path& program) {
  return run_tool({program, {"--print-code"}, cubin, ""});
}

}  // namespace deplo::measure::cuda::sass
