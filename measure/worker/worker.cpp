#include "measure/worker/worker.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

#include "measure/worker/message.h"

namespace deplo::measure::worker {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
// Seconds in which a worker must answer a cancelled request. They are a part of the second within which the program
// ends when the user stops it (interrupt.h).
constexpr double grace = 0.3;
// Two workers in a row may be killed because of other programs on the machine. If a third is killed, the candidate is
// the cause, for example by the memory that it takes.
constexpr int tries_ended_from_outside = 3;
constexpr int tries_died_building = 2;  // the cause may be a damaged cache or a lack of memory, not the source
constexpr double polled_every = 0.05;   // seconds between two polls of `cancelled`

double limit_of(Step step, const Deadlines& deadlines) {
  switch (step) {
    case Step::prepare:
      return deadlines.prepare;
    case Step::build:
      return deadlines.build;
    case Step::launch:
      return deadlines.launch;
    case Step::sample:
      return deadlines.sample;
    case Step::idle:  // the worker reads the request or writes the answer
    case Step::check:
      return deadlines.check;
  }
  check_failed("a known step", __FILE__, __LINE__);
}

/// The time at which the worker is given up, if nothing changes before, and the reason for it.
struct Limit {
  double at = infinity;
  std::string why;
};

/// Compares the time that a request has taken with its deadlines.
class Clock {
 public:
  explicit Clock(const Worker::Request& request) : request_(request) {}

  Limit limit(StepPage::Now now) {
    // A start in the future is wrong (the worker may have damaged the page), and counts as long past.
    const double since = now.since <= monotonic_now() ? std::max(now.since, begin_) : 0;
    const double seconds = limit_of(now.step, request_.deadlines);
    Limit limit{since + seconds, fmt::format("{} took more than {:g} s", name(now.step), seconds)};
    if (request_.type == FrameType::screen && now.step > Step::build) {
      run_since_ = std::min(run_since_, since);
      if (const double end = run_since_ + request_.deadlines.candidate; end < limit.at)
        limit = {end, fmt::format("the candidate took more than {:g} s", request_.deadlines.candidate)};
    }
    return limit;
  }
  /// Returns true once, when the user has cancelled the request.
  bool cancelled() {
    if (cancelled_ < infinity || !request_.cancelled || !request_.cancelled()) return false;
    cancelled_ = monotonic_now();
    return true;
  }
  bool out_of_grace() const { return monotonic_now() > cancelled_ + grace; }
  /// Returns the seconds until the deadlines must be checked again. A step that the worker enters meanwhile does not
  /// wake this process, so they are at most the shortest deadline of any step.
  double to_sleep(const Limit& limit) const {
    const Deadlines& d = request_.deadlines;
    const double shortest = std::min({d.prepare, d.build, d.launch, d.sample, d.check, d.candidate});
    const double sleep = std::min(limit.at - monotonic_now(), shortest);
    return request_.cancelled ? std::min(sleep, polled_every) : sleep;
  }

 private:
  const Worker::Request& request_;
  const double begin_ = monotonic_now();
  double run_since_ = infinity;  // start of the first step after the build
  double cancelled_ = infinity;
};

/// Returns true if the process probably died of a kernel's illegal access. On a CPU device a kernel runs in the
/// process. glibc aborts the process if its heap was overwritten.
bool is_illegal_access(const Process::End& end) {
  if (end.signal == SIGSEGV || end.signal == SIGBUS) return true;
  const auto says = [&](const char* words) { return end.said.find(words) != std::string::npos; };
  return end.signal == SIGABRT && (says("malloc()") || says("free()") || says("corrupt"));
}

Status status_of(const Lost& lost) {
  const bool building = lost.at.step == Step::build;
  const bool running = lost.at.step > Step::build;
  switch (lost.cause) {
    case Lost::Cause::cancelled:
      return Status::cancelled;
    case Lost::Cause::corrupt:
      return Status::worker_lost;
    case Lost::Cause::late:
      return building ? Status::build_timeout : running ? Status::hang : Status::worker_lost;
    case Lost::Cause::died:
      if (ended_from_outside(lost)) return Status::worker_lost;
      if (building) return Status::build_crash;
      return running && is_illegal_access(lost.end) ? Status::illegal_access : Status::worker_lost;
  }
  check_failed("a known cause", __FILE__, __LINE__);
}

}  // namespace

Deadlines Deadlines::of(const DeviceInfo& info) {
  Deadlines deadlines;
  if (info.cpu) deadlines.launch = 15, deadlines.sample = 10, deadlines.candidate = 60;
  if (info.backend == "interpreter" || info.backend == "ptx")
    deadlines.launch = deadlines.sample = deadlines.candidate = 3600, deadlines.prepare = 3600;
  return deadlines;
}

bool ended_from_outside(const Lost& lost) {
  if (lost.cause != Lost::Cause::died) return false;
  const int signal = lost.end.signal;
  return signal == SIGKILL || signal == SIGTERM || signal == SIGINT || signal == SIGHUP;
}

int tries(const Lost& lost) {
  if (ended_from_outside(lost)) return tries_ended_from_outside;
  return lost.cause == Lost::Cause::died && lost.at.step == Step::build ? tries_died_building : 1;
}

std::string describe(const Lost& lost) {
  std::string text =
      fmt::format("the worker {}{}, at: {}", lost.end.text,
                  ended_from_outside(lost) ? " from outside (as where memory runs out)" : "", name(lost.at.step));
  if (!lost.end.said.empty()) text += "; it said: " + lost.end.said;
  if (status_of(lost) == Status::illegal_access) text += "; the kernel probably accesses memory outside of its arrays";
  return text;
}

Failure failure_of(const Lost& lost) {
  const Status status = status_of(lost);
  // LLVM ends the process if it cannot write a file, and says the system's reason.
  const auto says = [&](int code) { return lost.end.said.find(std::strerror(code)) != std::string::npos; };
  if (status == Status::build_crash && (says(ENOSPC) || says(EDQUOT))) throw CannotBuild(describe(lost));
  return {status, describe(lost)};
}

std::variant<std::string, Lost> Worker::hello(const Deadlines& deadlines) {
  Deadlines start = deadlines;
  start.check = start.prepare;  // loading a driver for the first time takes long
  return await({FrameType::hello, {}, start, {}});
}

std::variant<std::string, Lost> Worker::ask(const Request& request) {
  process_.send({request.type, ++job_, std::string(request.payload)});
  return await(request);
}

std::variant<std::string, Lost> Worker::await(const Request& request) {
  Clock clock(request);
  for (;;) {
    if (const auto frame = process_.next()) {
      if (frame->job != job_) return lose(Lost::Cause::corrupt, "an answer to another request came");
      if (frame->type == FrameType::error) throw decode_error(frame->payload);
      return frame->payload;
    }
    if (process_.closed()) return lose(Lost::Cause::died, "it closed its end of the pipe");
    if (clock.cancelled()) process_.send({FrameType::cancel, job_, ""});
    if (clock.out_of_grace()) return lose(Lost::Cause::cancelled, "the user stopped the program");
    const Limit limit = clock.limit(process_.step());
    if (monotonic_now() > limit.at) return lose(Lost::Cause::late, limit.why);
    process_.wait(clock.to_sleep(limit));
  }
}

Lost Worker::lose(Lost::Cause cause, std::string_view why) {
  Lost lost{cause, process_.step(), {}};
  if (!process_.fault().empty()) lost.cause = Lost::Cause::corrupt, why = process_.fault();
  lost.end = process_.end(why);
  return lost;
}

}  // namespace deplo::measure::worker
