#include "search/strategies/exec/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>
#include <vector>

#include "core/descriptors.h"
#include "core/file.h"
#include "core/interrupt.h"
#include "core/text/text.h"
#include "search/searcher.h"

namespace deplo::search::exec {
namespace {

constexpr std::size_t max_line_bytes = std::size_t{16} << 20;
constexpr std::size_t max_queued_bytes = std::size_t{64} << 20;
constexpr std::size_t kept_error_bytes = 4096;
constexpr std::size_t message_columns = 200, shown_command = 100;
constexpr int poll_milliseconds = 100;  // how soon a signal is noticed
constexpr int end_milliseconds = 1000;  // how long a process may take to end

using Clock = std::chrono::steady_clock;

[[noreturn]] void throw_system_error(const char* what) {
  throw StrategyFailed(fmt::format("the strategy cannot run: {}: {}", what, std::strerror(errno)), Exit::environment);
}

/// The environment of this process, with the folder of deplo_search after the user's own modules in PYTHONPATH.
std::vector<std::string> environment() {
  constexpr std::string_view name = "PYTHONPATH=";
  std::vector<std::string> all;
  std::string path = (data_folder() / "python").string();
  for (char** at = environ; *at != nullptr; ++at) {
    if (!std::string_view(*at).starts_with(name))
      all.emplace_back(*at);
    else if (const std::string_view own = std::string_view(*at).substr(name.size()); !own.empty())
      path = std::string(own) + ":" + path;
  }
  all.push_back(std::string(name) + path);
  return all;
}

/// Runs in the child between fork and exec, so it calls only functions that are safe there.
[[noreturn]] void become(const char* command, char* const* environment, int input, int output, int errors,
                         pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);
  setpgid(0, 0);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(signal, SIG_DFL);
  dup2(input, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(errors, STDERR_FILENO);
  execle("/bin/sh", "sh", "-c", command, static_cast<char*>(nullptr), environment);
  _exit(127);
}

}  // namespace

Child::Child(std::string command) : command_(std::move(command)) {
  Ends input, output, errors;
  // The input is a socket, because writing to a pipe without a reader would end this process.
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, input.ends.data()) != 0) throw_system_error("socket");
  if (pipe2(output.ends.data(), O_CLOEXEC) != 0 || pipe2(errors.ends.data(), O_CLOEXEC) != 0)
    throw_system_error("pipe");
  const std::vector<std::string> variables = environment();
  const std::vector<char*> given = pointers(variables);
  const pid_t parent = getpid();
  process_ = fork();
  if (process_ < 0) throw_system_error("fork");
  if (process_ == 0) become(command_.c_str(), given.data(), input.ends[1], output.ends[1], errors.ends[1], parent);
  setpgid(process_, process_);  // both processes do this, because either may be first
  input_ = input.take(0);
  output_ = output.take(0);
  errors_ = errors.take(0);
  for (const int end : {input_, output_, errors_}) fcntl(end, F_SETFL, O_NONBLOCK);
}

Child::~Child() {
  write_input();
  close(input_);
  // The process may still write something, but it has to end.
  const auto give_up = Clock::now() + std::chrono::milliseconds(failed_ ? 0 : end_milliseconds);
  siginfo_t info{};
  const auto has_ended = [&] {
    return waitid(P_PID, static_cast<id_t>(process_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == process_;
  };
  while (!has_ended() && Clock::now() < give_up && interrupted() == 0) {
    read_output();
    incoming_.clear();
    read_errors();
    usleep(500);
  }
  kill(-process_, SIGKILL);  // kills the group; its number cannot be reused before waitpid()
  while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
  read_errors();
  close(output_);
  close(errors_);
}

void Child::send(std::string_view line) {
  write_input();
  if (outgoing_.size() > max_queued_bytes)
    fail(fmt::format("does not read its standard input: {} MiB are waiting", max_queued_bytes >> 20));
  outgoing_.add(line);
  outgoing_.add("\n");
  write_input();
}

void Child::send_last(std::string_view line) noexcept {
  if (failed_) return;
  outgoing_.add(line);
  outgoing_.add("\n");
}

std::optional<std::string> Child::line(Clock::time_point deadline) {
  for (;;) {
    const std::size_t end = incoming_.find('\n', searched_);
    if (end != std::string::npos) {
      std::string line = incoming_.substr(0, end);
      incoming_.erase(0, end + 1);
      searched_ = 0;
      return line;
    }
    searched_ = incoming_.size();
    if (incoming_.size() > max_line_bytes) fail(fmt::format("wrote a line of more than {} MiB", max_line_bytes >> 20));
    if (ended_) fail_ended();
    if (interrupted() != 0) throw Interrupted();
    const double left = std::chrono::duration<double>(deadline - Clock::now()).count();
    if (left <= 0) return std::nullopt;
    wait(static_cast<int>(std::min(left * 1e3 + 1, double{poll_milliseconds})));
  }
}

void Child::expect_silence() {
  read_output();
  read_errors();
  if (incoming_.empty()) return;
  fail(fmt::format("wrote a line that was not requested: '{}'",
                   cut(printable(incoming_.substr(0, incoming_.find('\n'))), message_columns)));
}

void Child::wait(int milliseconds) {
  const auto writing = static_cast<short>(outgoing_.size() > 0 ? POLLOUT : 0);
  pollfd ends[3] = {{input_, writing, 0}, {output_, POLLIN, 0}, {errors_, POLLIN, 0}};
  // A closed standard error would end every poll at once.
  if (poll(ends, errors_ < 0 ? 2 : 3, milliseconds) <= 0) return;
  if ((ends[0].revents & POLLOUT) != 0) write_input();
  if ((ends[0].revents & (POLLERR | POLLHUP)) != 0 && ends[1].revents == 0) usleep(1000);
  if (ends[1].revents != 0) read_output();
  if (errors_ >= 0 && ends[2].revents != 0) read_errors();
}

void Child::write_input() { outgoing_.send(input_); }

void Child::read_output() {
  std::array<char, 65536> bytes;
  while (!ended_ && incoming_.size() <= max_line_bytes) {
    const ssize_t count = read_some(output_, bytes);
    if (count < 0) return;
    if (count == 0) ended_ = true;
    incoming_.append(bytes.data(), static_cast<std::size_t>(count));
  }
}

void Child::read_errors() {
  std::array<char, 65536> bytes;
  const ssize_t count = errors_ < 0 ? -1 : read_some(errors_, bytes);
  if (count == 0) {
    close(errors_);
    errors_ = -1;
  }
  if (count <= 0) return;
  const std::string_view text(bytes.data(), static_cast<std::size_t>(count));
  std::fwrite(text.data(), 1, text.size(), stderr);
  error_tail_ += text;
  if (error_tail_.size() > kept_error_bytes) error_tail_.erase(0, error_tail_.size() - kept_error_bytes);
}

void Child::fail_ended() {
  const auto give_up = Clock::now() + std::chrono::milliseconds(end_milliseconds);
  siginfo_t info{};
  do {
    if (waitid(P_PID, static_cast<id_t>(process_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == process_)
      break;
    usleep(500);
  } while (Clock::now() < give_up);
  read_errors();
  if (info.si_pid != process_) fail("closed its standard output");
  const bool killed = info.si_code != CLD_EXITED;
  fail(describe_end(killed ? info.si_status : info.si_status << 8));
}

std::string Child::last_error_line() const {
  std::string_view text = error_tail_;
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.remove_suffix(1);
  return cut(printable(text.substr(text.find_last_of('\n') + 1)), message_columns);
}

void Child::fail(std::string_view what) {
  failed_ = true;
  const std::string said = last_error_line();
  throw StrategyFailed(fmt::format("the strategy '{}' {}{}", cut(printable(command_), shown_command), what,
                                   said.empty() ? "" : "; it said: " + said));
}

}  // namespace deplo::search::exec
