#include "apps/run_program.h"

#include <fcntl.h>
#include <grp.h>
#include <pty.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utmp.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

#include "core/error.h"
#include "core/file.h"
#include "measure/store_fixture.h"

namespace deplo::testing {
namespace fs = std::filesystem;
namespace {

/// Becomes the program: redirects standard output and error to the files, unless they are a terminal, and never
/// returns.
[[noreturn]] void become(std::vector<std::string>& words, const How& how, const fs::path& out, const fs::path& err) {
  const auto redirect = [](const fs::path& file, int descriptor) {
    const int opened = open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (opened < 0 || dup2(opened, descriptor) < 0) _exit(126);
  };
  if (how.terminal == 0) {
    redirect(out, STDOUT_FILENO);
    redirect(err, STDERR_FILENO);
  }
  std::signal(SIGINT, SIG_DFL);  // the process that started the tests may ignore SIGINT
  if (how.no_output) close(STDOUT_FILENO);
  if (how.largest_file >= 0) {
    const rlimit limit{static_cast<rlim_t>(how.largest_file), static_cast<rlim_t>(how.largest_file)};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0 || std::signal(SIGXFSZ, SIG_DFL) == SIG_ERR) _exit(126);
  }
  if (how.max_memory >= 0) {
    const rlimit limit{static_cast<rlim_t>(how.max_memory), static_cast<rlim_t>(how.max_memory)};
    if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(126);
  }
  if (how.user != 0 && (setgroups(0, nullptr) != 0 || setgid(how.user) != 0 || setuid(how.user) != 0)) _exit(126);
  if (how.max_processes >= 0) {
    const rlimit limit{static_cast<rlim_t>(how.max_processes), static_cast<rlim_t>(how.max_processes)};
    if (setrlimit(RLIMIT_NPROC, &limit) != 0) _exit(126);
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

/// Both ends of a terminal. We keep both open: when the last process that has the program's end open closes it, text
/// that we have not read yet may be lost.
struct OpenTerminal {
  int ours = -1, theirs = -1;
};

OpenTerminal open_terminal(int columns) {
  OpenTerminal terminal;
  const winsize size{50, static_cast<unsigned short>(columns), 0, 0};
  CHECK(openpty(&terminal.ours, &terminal.theirs, nullptr, nullptr, &size) == 0);
  return terminal;
}

/// Reads what the child writes to its terminal until it has ended.
std::string listen(const OpenTerminal& terminal, pid_t child, const How& how) {
  constexpr std::string_view end = "\x04 that is all";
  std::thread waits([&] {
    siginfo_t ended{};
    waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT);
    CHECK(write(terminal.theirs, end.data(), end.size()) == static_cast<ssize_t>(end.size()));
  });
  std::string said;
  bool signalled = how.signal_at.empty();
  char buffer[4096];
  while (!said.ends_with(end)) {
    const ssize_t n = read(terminal.ours, buffer, sizeof buffer);
    CHECK(n > 0);
    said.append(buffer, static_cast<std::size_t>(n));
    if (!signalled && said.find(how.signal_at) != std::string::npos) signalled = kill(child, how.signal) == 0;
  }
  waits.join();
  close(terminal.ours);
  close(terminal.theirs);
  return said.substr(0, said.size() - end.size());
}

/// Waits until the child has printed the text, or has ended.
void wait_for(pid_t child, const std::string& text, const fs::path& out, const fs::path& err) {
  const auto has = [&](const fs::path& file) {
    return fs::exists(file) && read_file(file).find(text) != std::string::npos;
  };
  siginfo_t ended{};
  while (!has(out) && !has(err) &&
         (waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid == 0))
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

int exit_code(pid_t child) {
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

std::vector<std::string> screen(const std::string& written, std::size_t width) {
  std::vector<std::vector<std::string>> lines(1);  // each line is a vector of characters
  std::size_t column = 0;
  for (std::size_t i = 0; i < written.size();) {
    const unsigned char c = static_cast<unsigned char>(written[i]);
    if (c == '\r') {
      column = 0;
      ++i;
    } else if (c == '\n') {
      lines.emplace_back();
      ++i;
    } else if (written.compare(i, 3, "\x1b[K") == 0) {
      lines.back().resize(std::min(lines.back().size(), column));
      i += 3;
    } else {
      if (column == width) {
        lines.emplace_back();
        column = 0;
      }
      const std::size_t length = c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
      if (lines.back().size() <= column) lines.back().resize(column + 1, " ");
      lines.back()[column++] = written.substr(i, length);
      i += length;
    }
  }
  std::vector<std::string> text;
  for (const auto& line : lines) {
    text.emplace_back();
    for (const std::string& character : line) text.back() += character;
    text.back().erase(text.back().find_last_not_of(' ') + 1);
  }
  while (!text.empty() && text.back().empty()) text.pop_back();
  return text;
}

Ran run_program(std::vector<std::string> words, const How& how) {
  const measure::TemporaryFolder folder;
  const fs::path out = folder.path() / "out", err = folder.path() / "err";
  const OpenTerminal terminal = how.terminal == 0 ? OpenTerminal{} : open_terminal(how.terminal);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0 && how.terminal != 0) {
    close(terminal.ours);
    if (login_tty(terminal.theirs) != 0) _exit(126);
  }
  if (child == 0) become(words, how, out, err);
  if (how.meanwhile) how.meanwhile();
  if (how.signal_after_ms >= 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(how.signal_after_ms));
    kill(child, how.signal);
  }
  if (how.terminal != 0) {
    const std::string said = listen(terminal, child, how);
    return {exit_code(child), said, ""};
  }
  if (!how.signal_at.empty()) {
    wait_for(child, how.signal_at, out, err);
    kill(child, how.signal);
  }
  const int code = exit_code(child);
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
    std::ostringstream text;
    text << file.rdbuf();  // empty if the process ends in the meantime
    if (text.str().find(words) != std::string::npos) found.push_back(std::stoi(name));
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
