#include "measure/worker/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "core/descriptors.h"
#include "core/error.h"

namespace deplo::measure::worker {
namespace {

constexpr std::size_t kept_log_bytes = 4096;  // enough for an assertion and its stack
constexpr std::size_t said_log_bytes = 400;   // the last of these bytes are in a failure's message
constexpr std::size_t portion = std::size_t{64} << 10;
// Portions that are read before the deadlines are checked again, because a child may write without end.
constexpr int portions_at_a_time = 16;

void require(int code, const char* what) {
  if (code != 0) throw Error(fmt::format("worker: {}: {}", what, std::strerror(code)), Exit::environment);
}

struct Actions {
  posix_spawn_file_actions_t value{};
  Actions() { require(posix_spawn_file_actions_init(&value), "spawn"); }
  ~Actions() { posix_spawn_file_actions_destroy(&value); }
  Actions(const Actions&) = delete;
  Actions& operator=(const Actions&) = delete;
  void duplicate(int from, int to) { require(posix_spawn_file_actions_adddup2(&value, from, to), "spawn"); }
};

struct Attributes {
  posix_spawnattr_t value{};
  /// The child gets its own process group. In it no signal is blocked or ignored, whatever the tuner does with signals.
  Attributes() {
    require(posix_spawnattr_init(&value), "spawn");
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&value, &none);
    posix_spawnattr_setsigdefault(&value, &all);
    posix_spawnattr_setpgroup(&value, 0);
    posix_spawnattr_setflags(&value, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~Attributes() { posix_spawnattr_destroy(&value); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
};

/// Returns a copy of the descriptor with a number that no dup2 below overwrites, and closes the old descriptor.
int above_the_given(int descriptor) {
  const int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, worker_page + 1);
  const int code = errno;
  close(descriptor);
  if (moved < 0) require(code, "spawn");
  return moved;
}

/// Returns the environment of a worker: this process's with two changes. Temporary files and PoCL's go to `folder`. And
/// libgomp's threads spin for a shorter time while they wait for a library's next call: by default 5 to 20 ms, in which
/// they would take the cores of the next kernel (which took up to 1.4 times as long). A spin count of 20,000 is 0.2 to
/// 1 ms (40 to 140 cycles per count), so that the threads stay awake within a batch (baselines/onednn.cpp waits after
/// it). libgomp reads the variable when it is loaded, with the program.
std::vector<std::string> environment_in(const std::filesystem::path& folder) {
  std::vector<std::string> all;
  for (char** at = environ; *at != nullptr; ++at) all.emplace_back(*at);
  const auto sets = [&](std::string_view name) {
    return std::ranges::any_of(all, [&](const std::string& variable) { return variable.starts_with(name); });
  };
  if (!sets("OMP_WAIT_POLICY=") && !sets("GOMP_SPINCOUNT=")) all.emplace_back("GOMP_SPINCOUNT=20000");
  if (folder.empty()) return all;
  for (const std::string name : {"TMPDIR=", "POCL_CACHE_DIR="}) {
    std::erase_if(all, [&](const std::string& variable) { return variable.starts_with(name); });
    all.push_back(name + folder.string());
  }
  return all;
}

pid_t spawn(const WorkerCommand& command, const std::filesystem::path& folder, int socket, int log, int page) {
  Actions actions;
  const Attributes attributes;
  require(posix_spawn_file_actions_addopen(&actions.value, STDIN_FILENO, "/dev/null", O_RDONLY, 0), "spawn");
  actions.duplicate(log, STDOUT_FILENO);
  actions.duplicate(log, STDERR_FILENO);
  actions.duplicate(socket, worker_socket);
  actions.duplicate(page, worker_page);
  std::vector<std::string> words{"deplo"};
  words.insert(words.end(), command.arguments.begin(), command.arguments.end());
  const std::vector<std::string> environment = environment_in(folder);
  pid_t child = -1;
  require(posix_spawn(&child, command.program.c_str(), &actions.value, &attributes.value, pointers(words).data(),
                      pointers(environment).data()),
          command.program.c_str());
  return child;
}

}  // namespace

Process::Process(const WorkerCommand& command) {
  Ends sockets, log;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.ends.data()) != 0) require(errno, "socket");
  if (pipe2(log.ends.data(), O_CLOEXEC) != 0) require(errno, "pipe");
  sockets.ends[1] = above_the_given(sockets.take(1));
  log.ends[1] = above_the_given(log.take(1));
  Ends page{{above_the_given(dup(page_.descriptor())), -1}};
  fcntl(sockets.ends[0], F_SETFL, O_NONBLOCK);
  fcntl(log.ends[0], F_SETFL, O_NONBLOCK);
  child_ = spawn(command, folder_.path(), sockets.ends[1], log.ends[1], page.ends[0]);
  socket_ = sockets.take(0);
  log_ = log.take(0);
}

Process::~Process() {
  if (child_ >= 0) end("not needed any more");
  close(socket_);
  close(log_);
}

void Process::send(const Frame& frame) {
  read_log();
  log_tail_.clear();
  outgoing_.add(encode(frame));
  outgoing_.send(socket_);
}

void Process::wait(double seconds) {
  const auto milliseconds = static_cast<int>(std::clamp(std::ceil(seconds * 1e3), 0.0, 1e6));
  pollfd ends[2] = {{socket_, static_cast<short>(sending() ? POLLIN | POLLOUT : POLLIN), 0}, {log_, POLLIN, 0}};
  if (poll(ends, 2, milliseconds) <= 0) return;
  if ((ends[1].revents & POLLIN) != 0) read_log();
  if ((ends[0].revents & POLLOUT) != 0) outgoing_.send(socket_);
  if ((ends[0].revents & (POLLIN | POLLHUP | POLLERR)) != 0) read_socket();
}

void Process::read_socket() {
  std::array<char, portion> bytes;
  for (int i = 0; i < portions_at_a_time; ++i) {
    const ssize_t count = read_some(socket_, bytes);
    if (count < 0) return;
    if (count == 0) {
      closed_ = true;
      return;
    }
    reader_.feed({bytes.data(), static_cast<std::size_t>(count)});
  }
}

void Process::read_log() {
  std::array<char, portion> bytes;
  for (int i = 0; i < portions_at_a_time; ++i) {
    const ssize_t count = read_some(log_, bytes);
    if (count <= 0) return;
    log_tail_.append(bytes.data(), static_cast<std::size_t>(count));
    if (log_tail_.size() > kept_log_bytes) log_tail_.erase(0, log_tail_.size() - kept_log_bytes);
  }
}

Process::End Process::end(std::string_view why) {
  // A child that closed its end of the socket is about to exit. Wait up to a second to learn how it ended.
  siginfo_t info{};
  const double give_up = monotonic_now() + (closed_ && reader_.fault().empty() ? 1.0 : 0.0);
  bool ended = false;
  do {
    ended = waitid(P_PID, static_cast<id_t>(child_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == child_;
    if (!ended && monotonic_now() < give_up) usleep(200);
  } while (!ended && monotonic_now() < give_up);
  kill(-child_, SIGKILL);  // the whole group, because compilers may live on; before waitpid() frees its number
  int status = 0;
  while (waitpid(child_, &status, 0) < 0 && errno == EINTR) {
  }
  child_ = -1;
  read_log();
  End end;
  end.said = last_lines();
  if (ended && WIFSIGNALED(status)) end.signal = WTERMSIG(status);
  end.text = ended ? describe_end(status) : fmt::format("was ended: {}", why);
  if (!reader_.fault().empty() && ended) end.text += fmt::format("; {}", reader_.fault());
  return end;
}

std::string Process::last_lines() const {
  std::string lines = log_tail_.substr(log_tail_.size() - std::min(log_tail_.size(), said_log_bytes));
  while (!lines.empty() && (lines.back() == '\n' || lines.back() == ' ')) lines.pop_back();
  return lines;
}

}  // namespace deplo::measure::worker
