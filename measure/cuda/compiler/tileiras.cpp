#include "measure/cuda/compiler/tileiras.h"

#include <fmt/format.h>

#include "core/error.h"
#include "measure/cuda/library.h"
#include "measure/cuda/tool.h"

namespace deplo::measure::cuda {

std::filesystem::path tileiras() {
  if (auto program = find_program("tileiras")) return *std::move(program);
  throw Error(
      "no tileiras: expected it next to the program, on the path, in /usr/local/cuda*/bin or in Python's packages, "
      "found none; it comes with the CUDA toolkit from 13.1 on, or by `pip install nvidia-cuda-tileiras`",
      Exit::environment);
}

std::string compile_tile_bytecode(std::string_view bytecode, std::string_view architecture,
                                  const std::filesystem::path& program) {
  return run_tool({program, {"--gpu-name", std::string(architecture)}, bytecode, "-o"});
}

std::string tileiras_version(const std::filesystem::path& program) {
  // The output has a line such as "Cuda compilation tools, release 13.5, V13.5.37".
  const std::string said = run_tool({program, {"--version"}, "", ""});
  const std::size_t start = said.find(", V");
  if (start == std::string::npos)
    throw Error(fmt::format("{} --version: expected a version after ', V', found none", program.string()),
                Exit::environment);
  return said.substr(start + 3, said.find_first_not_of("0123456789.", start + 3) - start - 3);
}

}  // namespace deplo::measure::cuda
