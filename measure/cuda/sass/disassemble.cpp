#include "measure/cuda/sass/disassemble.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "core/error.h"
#include "core/file.h"
#include "measure/cuda/library.h"
#include "measure/opencl/opencl.h"
#include "measure/work_folder.h"

namespace deplo::measure::cuda::sass {
namespace {

namespace fs = std::filesystem;

/// Runs `program --print-code cubin` with its output and its messages in files. "": it went well.
std::string run(const fs::path& program, const fs::path& cubin, const fs::path& output, const fs::path& messages) {
  const int how = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_t actions;
  if (posix_spawn_file_actions_init(&actions) != 0) return "out of memory";
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), how, 0600);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, messages.c_str(), how, 0600);
  std::string name = program.string(), option = "--print-code", file = cubin.string();
  char* const words[] = {name.data(), option.data(), file.data(), nullptr};
  pid_t child = -1;
  const int code = posix_spawn(&child, program.c_str(), &actions, nullptr, words, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (code != 0) return std::strerror(code);
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return std::strerror(errno);
  if (WIFSIGNALED(status)) return fmt::format("was ended by signal {}", WTERMSIG(status));
  if (WEXITSTATUS(status) == 0) return "";
  const std::string said = first_lines(read_file(messages));
  return said.empty() ? fmt::format("ended with code {}", WEXITSTATUS(status)) : said;
}

}  // namespace

fs::path nvdisasm() {
  if (auto program = find_program("nvdisasm")) return *std::move(program);
  throw Error(
      "no nvdisasm: expected it beside the program, on the path, in /usr/local/cuda*/bin or in Python's packages, "
      "found none; it comes with the CUDA toolkit, or by `pip install nvidia-cuda-nvdisasm`",
      Exit::environment);
}

std::string disassemble(std::string_view cubin, const fs::path& program) {
  const WorkFolder folder;
  const fs::path file = folder.path() / "cubin", output = folder.path() / "sass";
  if (!folder.path().empty()) std::ofstream(file, std::ios::binary) << cubin;
  if (std::error_code error; fs::file_size(file, error) != cubin.size() || error)
    throw Error("nvdisasm: expected a folder for temporary files, found none that can be written", Exit::environment);
  const std::string failure = run(program, file, output, folder.path() / "messages");
  if (!failure.empty()) throw Error(fmt::format("{}: {}", program.string(), failure), Exit::environment);
  return read_file(output);
}

}  // namespace deplo::measure::cuda::sass
