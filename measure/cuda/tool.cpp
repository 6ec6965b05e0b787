#include "measure/cuda/tool.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "core/descriptors.h"
#include "core/error.h"
#include "core/file.h"
#include "measure/opencl/opencl.h"
#include "measure/work_folder.h"

namespace deplo::measure::cuda {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> environment_of(const fs::path& program) {
  std::vector<std::string> all;
  for (char** at = environ; *at != nullptr; ++at)
    if (!std::string_view(*at).starts_with("CUDA_HOME=")) all.emplace_back(*at);
  all.push_back("CUDA_HOME=" + program.parent_path().parent_path().string());
  return all;
}

/// Runs the program and waits for it. Returns "" if it succeeds, else what went wrong.
std::string run(const fs::path& program, const std::vector<std::string>& words, const fs::path& output,
                const fs::path& messages) {
  const int how = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_t actions;
  if (posix_spawn_file_actions_init(&actions) != 0) return "out of memory";
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), how, 0600);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, messages.c_str(), how, 0600);
  const std::vector<std::string> environment = environment_of(program);
  pid_t child = -1;
  const int code =
      posix_spawn(&child, program.c_str(), &actions, nullptr, pointers(words).data(), pointers(environment).data());
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

std::string run_tool(const ToolRun& tool) {
  const WorkFolder folder;
  const fs::path input = folder.path() / "input", output = folder.path() / "output";
  if (!folder.path().empty()) std::ofstream(input, std::ios::binary) << tool.input;
  if (std::error_code error; fs::file_size(input, error) != tool.input.size() || error)
    throw Error(fmt::format("{}: expected a folder for temporary files, found none that can be written",
                            tool.program.filename().string()),
                Exit::environment);
  std::vector<std::string> words{tool.program.string()};
  words.insert(words.end(), tool.arguments.begin(), tool.arguments.end());
  words.push_back(input.string());
  const bool standard = tool.output_option.empty();
  if (!standard) words.insert(words.end(), {tool.output_option, output.string()});
  const std::string failure =
      run(tool.program, std::move(words), standard ? output : folder.path() / "said", folder.path() / "messages");
  if (!failure.empty()) throw Error(fmt::format("{}: {}", tool.program.string(), failure), Exit::environment);
  return read_file(output);
}

}  // namespace deplo::measure::cuda
