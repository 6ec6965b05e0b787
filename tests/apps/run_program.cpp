#include "apps/run_program.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "core/error.h"
#include "core/file.h"
#include "measure/store_fixture.h"

namespace deplo::testing {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void become(std::vector<std::string>& words, const How& how, const fs::path& out, const fs::path& err) {
  const auto redirect = [](const fs::path& file, int descriptor) {
    const int opened = open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (opened < 0 || dup2(opened, descriptor) < 0) _exit(126);
  };
  redirect(out, STDOUT_FILENO);
  redirect(err, STDERR_FILENO);
  if (how.no_output) close(STDOUT_FILENO);
  if (how.largest_file >= 0) {
    const rlimit limit{static_cast<rlim_t>(how.largest_file), static_cast<rlim_t>(how.largest_file)};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0 || std::signal(SIGXFSZ, SIG_IGN) == SIG_ERR) _exit(126);
  }
  if (how.most_memory >= 0) {
    const rlimit limit{static_cast<rlim_t>(how.most_memory), static_cast<rlim_t>(how.most_memory)};
    if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(126);
  }
  for (const std::string& variable : how.environment) putenv(const_cast<char*>(variable.c_str()));
  std::string program = DEPLO_BINARY_DIR "/";
  program += words[0];
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execv(program.c_str(), arguments.data());
  _exit(127);
}

}  // namespace

Ran run_program(std::vector<std::string> words, const How& how) {
  const measure::TemporaryFolder folder;
  const fs::path out = folder.path() / "out", err = folder.path() / "err";
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) become(words, how, out, err);
  if (how.signal_after_ms >= 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(how.signal_after_ms));
    kill(child, how.signal);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return {code, read_file(out), read_file(err)};
}

pid_t start_program(std::vector<std::string> words, const std::vector<std::string>& environment) {
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) become(words, {.environment = environment}, "/dev/null", "/dev/null");
  return child;
}

std::vector<pid_t> workers_of(pid_t tuner) {
  std::vector<pid_t> found;
  const std::string words = std::string("--tuner") + '\0' + std::to_string(tuner) + '\0';
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream file(entry.path() / "cmdline", std::ios::binary);
    if (std::string(std::istreambuf_iterator<char>(file), {}).find(words) != std::string::npos)
      found.push_back(std::stoi(name));
  }
  return found;
}

std::vector<std::string> left_behind(const fs::path& folder) {
  std::vector<std::string> left;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string kind = entry.path().extension();
    if (entry.is_regular_file() && entry.file_size() > 0 && kind != ".db" && kind != ".bin" && kind != ".yaml")
      left.push_back(entry.path().string());
  }
  return left;
}

std::string write_file(const fs::path& folder, const std::string& name, const std::string& text) {
  std::ofstream(folder / name, std::ios::binary) << text;
  return (folder / name).string();
}

}  // namespace deplo::testing
