#include "measure/worker/serve.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <new>
#include <utility>

#include "measure/worker/frame.h"
#include "measure/worker/local_runner.h"
#include "measure/worker/message.h"
#include "measure/worker/process.h"
#include "measure/worker/single_launch.h"

namespace deplo::measure::worker {
namespace {

/// The worker's end of the socket. This process exits if the tuner is gone, or if it writes something that is not a
/// frame.
class Tuner {
 public:
  explicit Tuner(pid_t tuner) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != tuner) _exit(0);  // the tuner died before the line above
    // Compilers that this process starts do not inherit its descriptors.
    for (const int given : {worker_socket, worker_page}) fcntl(given, F_SETFD, FD_CLOEXEC);
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);  // core files of many crashes would fill the disk
    // If memory runs out, the system kills this process before the tuner.
    if (const int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC); score >= 0) {
      if (write(score, "1000", 4) < 0) errno = 0;  // not permitted, so the score stays
      close(score);
    }
  }

  Frame receive() {
    std::array<char, 64 << 10> bytes;
    for (;;) {
      if (auto frame = reader_.next()) return std::move(*frame);
      if (!reader_.fault().empty()) _exit(1);
      const ssize_t count = read(worker_socket, bytes.data(), bytes.size());
      if (count > 0) reader_.feed({bytes.data(), static_cast<std::size_t>(count)});
      if (count == 0 || (count < 0 && errno != EINTR)) _exit(0);
    }
  }

  void send(const Frame& frame) {
    const std::string bytes = encode(frame);
    for (std::size_t done = 0; done < bytes.size();) {
      const ssize_t count = ::send(worker_socket, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
      if (count > 0) done += static_cast<std::size_t>(count);
      if (count < 0 && errno != EINTR) _exit(0);
    }
  }

  /// Returns true if the tuner cancelled the request or closed its end. During a request it sends nothing else.
  static bool wants_the_end() {
    pollfd end{worker_socket, POLLIN, 0};
    return poll(&end, 1, 0) > 0;
  }

 private:
  FrameReader reader_;
};

/// Returns the replies of `work`. If it throws, all `count` replies have that failure. After device_lost, the tuner
/// tests the device. CannotBuild is passed on, because it ends the work.
template <class F>
std::vector<Reply> attempt(std::size_t count, F work) {
  Failure failure;
  try {
    return work();
  } catch (const std::bad_alloc&) {
    failure = {Status::out_of_memory, "the host's memory ran out"};
  } catch (const CannotBuild&) {
    throw;
  } catch (const Error& error) {
    failure = {Status::device_lost, error.what()};
  }
  return std::vector<Reply>(count, Reply{failure});
}

std::vector<Reply> answer(Runner& runner, const Frame& frame) {
  const Ask ask = decode_ask(frame.payload);
  if (frame.type == FrameType::screen)
    return attempt(
        1, [&]() -> std::vector<Reply> { return {runner.screen(ask.candidates.at(0), ask.best_us, ask.effort)}; });
  return attempt(ask.candidates.size() + runner.libraries().found.size(), [&] {
    return runner.confirm(ask.candidates, {ask.seed, ask.seconds, Tuner::wants_the_end});
  });
}

/// Sends the result of `work` as the answer, or the Error that it throws.
template <class F>
void respond(Tuner& tuner, const Frame& frame, F work) {
  try {
    tuner.send({FrameType::answer, frame.job, work()});
  } catch (const Error& error) {
    tuner.send({FrameType::error, frame.job, encode(error)});
  } catch (const std::bad_alloc&) {
    tuner.send({FrameType::error, frame.job, encode(Error("not enough memory", Exit::environment))});
  }
}

std::vector<Reply> compiled(const Frame& frame, const std::function<Result<Resources>(const KernelCode&)>& compile,
                            StepPage& page) {
  const Ask ask = decode_ask(frame.payload);
  page.enter(Step::build);
  return attempt(1, [&]() -> std::vector<Reply> {
    const double start = monotonic_now();
    const auto built = compile(ask.candidates.at(0));
    const double build_ms = (monotonic_now() - start) * 1e3;
    if (!built.ok()) return {Reply{built.failure(), {}, build_ms}};
    return {Reply{Timing{}, built.value(), build_ms}};
  });
}

/// Opens the device and sends the first frame of a worker that uses one. Returns null if `open` throws; then the tuner
/// gets that Error.
std::unique_ptr<Device> open_device(Tuner& tuner, StepPage& page,
                                    const std::function<std::unique_ptr<Device>()>& open) {
  std::unique_ptr<Device> device;
  page.enter(Step::prepare);
  respond(tuner, {FrameType::hello, 0, ""}, [&] {
    device = open();
    return encode(Hello{device->info(), device->dialect()});
  });
  return device;
}

}  // namespace

int serve_device(pid_t parent, const std::function<std::unique_ptr<Device>()>& open) {
  Tuner tuner(parent);
  StepPage page = StepPage::attach(worker_page);
  std::unique_ptr<Device> device = open_device(tuner, page, open);
  if (!device) return 0;
  LocalRunner runner(std::move(device), [&](Step step, std::size_t i) { page.enter(step, i); });
  for (;;) {
    page.enter(Step::idle);
    const Frame frame = tuner.receive();
    if (frame.type == FrameType::cancel) continue;  // the request is already answered
    respond(tuner, frame, [&]() -> std::string {
      if (frame.type == FrameType::energy) return runner.why_no_energy();
      if (frame.type != FrameType::kernel) return encode(answer(runner, frame));
      runner.open(decode_task(frame.payload));
      return encode(Opened{runner.ceilings(), runner.libraries()});
    });
  }
}

int serve_builds(pid_t parent, const std::function<Result<Resources>(const KernelCode&)>& compile) {
  Tuner tuner(parent);
  StepPage page = StepPage::attach(worker_page);
  tuner.send({FrameType::answer, 0, ""});
  for (;;) {
    page.enter(Step::idle);
    const Frame frame = tuner.receive();
    if (frame.type == FrameType::cancel) continue;
    respond(tuner, frame, [&] { return encode(compiled(frame, compile, page)); });
  }
}

int serve_launches(pid_t parent, const std::function<std::unique_ptr<Device>()>& open) {
  Tuner user(parent);
  StepPage page = StepPage::attach(worker_page);
  const std::unique_ptr<Device> device = open_device(user, page, open);
  if (!device) return 0;
  for (;;) {
    page.enter(Step::idle);
    const Frame frame = user.receive();
    page.enter(Step::launch);  // includes the build, which PoCL completes at the launch
    respond(user, frame, [&] {
      SingleLaunch task = decode_launch(frame.payload);
      return fmt::format("{}", run_launch(task, *device));
    });
  }
}

}  // namespace deplo::measure::worker
