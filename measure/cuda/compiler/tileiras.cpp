#include "measure/cuda/compiler/tileiras.h"

#include "core/error.h"
#include "measure/cuda/library.h"
#include "measure/cuda/tool.h"

namespace deplo::measure::cuda {

std::filesystem::path tileiras() {
  if (auto program = find_program("tileiras")) return *std::move(program);
  throw Error(
      "no tileiras: expected it beside the program, on the path, in /usr/local/cuda*/bin or in Python's packages, "
      "found none; it comes with the CUDA toolkit from 13.1 on, or by `pip install nvidia-cuda-tileiras`",
      Exit::environment);
}

std::string compile_tile_bytecode(std::string_view bytecode, std::string_view architecture,
                                  const std::filesystem::path& program) {
  return run_tool({program, {"--gpu-name", std::string(architecture)}, bytecode, "-o"});
}

}  // namespace deplo::measure::cuda
