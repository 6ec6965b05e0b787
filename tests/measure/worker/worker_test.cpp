// Candidates that harm the process that runs them. Only the candidate fails, nothing else.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <limits>
#include <thread>

#include "core/rng.h"
#include "measure/faulty.h"
#include "measure/scripted.h"
#include "measure/store_fixture.h"
#include "measure/worker/local_runner.h"
#include "measure/worker/worker_runner.h"

namespace deplo::measure::worker::worker_test {
namespace {

using ::testing::HasSubstr;
constexpr double none_yet = std::numeric_limits<double>::infinity();

// Long enough for a busy machine, short enough for hundreds of candidates.
const Deadlines short_deadlines{
    .prepare = 20, .build = 0.4, .launch = 0.4, .sample = 0.4, .check = 0.4, .candidate = 5};

WorkerRunner make_runner(std::function<bool()> cancelled = {}) {
  return WorkerRunner({faulty_worker(), short_deadlines, std::move(cancelled)});
}

struct Case {
  std::string what, where;
  Status status;
  std::string message = "";  // a part of the message
};
std::ostream& operator<<(std::ostream& out, const Case& one) { return out << one.what << " in " << one.where; }

const std::vector<Case> cases = {
    {"none", "launch", Status::ok},
    {"flood", "launch", Status::ok},
    {"no-build", "build", Status::build_error, "expected ';'"},
    {"wrong", "launch", Status::wrong_result, "b["},
    {"illegal", "launch", Status::illegal_access, "CUDA_ERROR_ILLEGAL_ADDRESS"},
    {"illegal", "sample", Status::illegal_access},
    {"memory", "build", Status::out_of_memory},
    {"memory", "sample", Status::out_of_memory},
    {"error", "launch", Status::device_lost, "the device fell off the bus"},
    {"segfault", "build", Status::build_crash, "signal 11 (Segmentation fault), at: build"},
    {"segfault", "launch", Status::illegal_access, "signal 11 (Segmentation fault), at: launch"},
    {"segfault", "sample", Status::illegal_access},
    {"segfault", "check", Status::illegal_access, "at: check"},
    {"abort", "build", Status::build_crash, "it said: assertion failed: x > 0"},
    {"abort", "launch", Status::worker_lost, "signal 6 (Aborted), at: launch; it said: assertion failed: x > 0"},
    {"heap", "launch", Status::illegal_access,
     "invalid pointer; the kernel probably accesses memory outside of its arrays"},
    {"killed", "sample", Status::worker_lost, "signal 9 (Killed) from outside"},
    {"killed", "build", Status::worker_lost, "signal 9 (Killed) from outside"},
    {"terminated", "build", Status::worker_lost, "signal 15 (Terminated) from outside"},
    {"exit0", "build", Status::build_crash, "ended with code 0"},
    {"exit0", "launch", Status::worker_lost, "ended with code 0, at: launch"},
    {"exit3", "check", Status::worker_lost, "ended with code 3"},
    {"garbage", "build", Status::worker_lost, "expected a frame, found bytes that begin with"},
    {"garbage-exit", "launch", Status::worker_lost, "expected a frame, found bytes that begin with"},
    {"much-garbage", "launch", Status::worker_lost, "expected a frame"},
    {"partial", "launch", Status::worker_lost, "ended with code 0"},
    {"partial-header", "sample", Status::worker_lost, "ended with code 0"},
    {"huge", "launch", Status::worker_lost, "expected at most 67108864 bytes"},
    {"version", "launch", Status::worker_lost, "expected frames of version 1"},
    {"checksum", "sample", Status::worker_lost, "checksum"},
    {"stale", "launch", Status::worker_lost, "an answer to another request"},
};
// Each of these takes as long as its deadline.
const std::vector<Case> slow_cases = {
    {"hang", "build", Status::build_timeout, "build took more than 0.4 s"},
    {"hang", "launch", Status::hang, "launch took more than 0.4 s"},
    {"hang", "sample", Status::hang, "took more than 0.4 s"},
    {"hang", "check", Status::hang, "check took more than 0.4 s"},
    {"flood-hang", "launch", Status::hang, "xxxxxxxx"},
    {"close", "launch", Status::worker_lost, "closed"},
};

void expect(const Case& one, const Reply& reply) {
  ASSERT_EQ(reply.timing.ok(), one.status == Status::ok) << one;
  if (reply.timing.ok()) {
    EXPECT_EQ(reply.timing.value().median_us, 10) << one;
    EXPECT_EQ(reply.resources.registers, 40);
  } else {
    EXPECT_EQ(status_name(reply.timing.failure().status), status_name(one.status)) << one;
    EXPECT_THAT(reply.timing.failure().message, HasSubstr(one.message)) << one;
    EXPECT_LT(reply.timing.failure().message.size(), 700U) << "a message, not a log";
  }
}

TEST(Worker, MeasuresEnergiesWhereTheTaskAsksForThem) {
  WorkerRunner runner = make_runner();
  EXPECT_EQ(runner.why_no_energy(), "");
  Task task = copy_task();
  const KernelCode right = faulty_candidate("none"), still = faulty_candidate("still");
  runner.open(task);
  EXPECT_EQ(runner.screen(right, none_yet, 1).timing.value().energy_mj, 0);
  task.energy = true;
  runner.open(task);
  constexpr double energy_mj = 3;  // 300 W for 10 µs
  EXPECT_NEAR(runner.screen(right, none_yet, 1).timing.value().energy_mj, energy_mj, 0.01 * energy_mj);
  const Reply failed = runner.screen(still, none_yet, 1);
  ASSERT_FALSE(failed.timing.ok());
  EXPECT_EQ(failed.timing.failure().status, Status::no_energy);
  EXPECT_THAT(failed.timing.failure().message, HasSubstr("the device's energy counter stood still"));
  const std::vector<Reply> confirmed = runner.confirm(std::vector{right, still}, {});
  EXPECT_NEAR(confirmed[0].timing.value().energy_mj, energy_mj, 0.01 * energy_mj);
  EXPECT_EQ(confirmed[1].timing.failure().status, Status::no_energy);
  EXPECT_EQ(runner.workers(), 1) << "it is no fault of the process";
}

TEST(Worker, ADeviceWithoutAnEnergyCounterSaysSo) {
  LocalRunner runner(std::make_unique<ScriptedDevice>());
  EXPECT_THAT(runner.why_no_energy(), HasSubstr("expected a device with an energy counter"));
  Task task = copy_task();
  task.energy = true;
  EXPECT_THROW(runner.open(task), Untunable);
}

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}
bool has_children() { return waitpid(-1, nullptr, WNOHANG) >= 0 || errno != ECHILD; }
std::size_t resident_pages() {
  std::ifstream file("/proc/self/statm");
  std::size_t size = 0, resident = 0;
  file >> size >> resident;
  return resident;
}
void run(WorkerRunner& runner, const Case& one) {
  expect(one, runner.screen(faulty_candidate(one.what, one.where), none_yet, 1));
}

TEST(Worker, EachFaultIsOneCandidates) {
  const std::size_t descriptors = open_descriptors();
  {
    WorkerRunner runner = make_runner();
    runner.open(copy_task());
    for (const auto& list : {cases, slow_cases})
      for (const Case& one : list) {
        run(runner, one);
        run(runner, cases.front());
      }
  }
  EXPECT_EQ(open_descriptors(), descriptors);
  EXPECT_FALSE(has_children());
}

TEST(Worker, HundredsInARow) {
  WorkerRunner runner = make_runner();
  runner.open(copy_task());
  for (const Case& one : cases) run(runner, one);  // memory that grows only once
  run(runner, cases.front());
  const std::size_t descriptors = open_descriptors();
  [[maybe_unused]] const std::size_t pages = resident_pages();
  Rng rng(7);
  for (int i = 0; i < 500; ++i)
    run(runner, rng.below(40) == 0 ? slow_cases[rng.below(slow_cases.size())] : cases[rng.below(cases.size())]);
  run(runner, cases.front());
  EXPECT_EQ(open_descriptors(), descriptors);
  EXPECT_GT(runner.workers(), 200);
#ifndef __SANITIZE_ADDRESS__  // AddressSanitizer keeps freed memory
  EXPECT_LT(resident_pages(), pages + 1024) << "4 MiB";
#endif
}

TEST(Worker, FaultsBeforeAnythingWentWell) {
  for (const Case& one : cases) {
    WorkerRunner runner = make_runner();
    runner.open(copy_task());
    run(runner, one);
    run(runner, one);
  }
}

// If memory runs out, the system kills the worker first, even if the candidate is good.
TEST(Worker, EndedFromOutsideIsNobodysFault) {
  const TemporaryFolder folder;
  int file = 0;
  WorkerRunner runner = make_runner();
  runner.open(copy_task());
  for (const std::string what : {"killed", "terminated"})
    for (const std::string where : {"build", "launch", "sample", "check"}) {
      const std::string first = folder.file(std::to_string(file++));
      const Reply reply = runner.screen(faulty_candidate(what, where, first + " 2"), none_yet, 1);
      EXPECT_TRUE(reply.timing.ok()) << what << " in " << where;
    }
}

TEST(Worker, ABuildThatCostsTheWorkerIsTriedOnceAgain) {
  const TemporaryFolder folder;
  WorkerRunner runner = make_runner();
  runner.open(copy_task());
  for (const std::string what : {"segfault", "abort", "exit3"}) {
    const std::string first = folder.file(what);
    EXPECT_TRUE(runner.screen(faulty_candidate(what, "build", first + " 1"), none_yet, 1).timing.ok()) << what;
    const Reply reply = runner.screen(faulty_candidate(what, "build", first + "-again 2"), none_yet, 1);
    ASSERT_FALSE(reply.timing.ok()) << what;
    EXPECT_EQ(reply.timing.failure().status, Status::build_crash);
  }
}

// No candidate can be built, so none may be stored as one that fails.
TEST(Worker, AFullDiskIsNoCandidatesFault) {
  for (const std::string what : {"full", "full-exit"}) {
    WorkerRunner runner = make_runner();
    runner.open(copy_task());
    EXPECT_THAT([&] { runner.screen(faulty_candidate(what, "build"), none_yet, 1); },
                ThrowsMessage<Error>(HasSubstr("No space left on device")))
        << what;
    EXPECT_TRUE(runner.screen(faulty_candidate("none"), none_yet, 1).timing.ok()) << "after there was room";
  }
}

TEST(Worker, ADeviceThatBecameSlowerIsWarnedOfBeforeTheEnd) {
  const TemporaryFolder folder;
  std::vector<std::string> warnings;
  WorkerRunner runner({.command = faulty_worker(),
                       .deadlines = short_deadlines,
                       .warn = [&](const std::string& what) { warnings.push_back(what); },
                       .rest_s = 0.01});
  runner.open(copy_task());
  const KernelCode quick_once = faulty_candidate("quick", "built", folder.file("once") + " 1");
  EXPECT_EQ(runner.screen(quick_once, none_yet, 1).timing.value().median_us, 5);
  EXPECT_FALSE(runner.screen(faulty_candidate("segfault"), none_yet, 1).timing.ok());
  EXPECT_TRUE(warnings.empty());
  try {
    runner.screen(faulty_candidate("none"), none_yet, 1);
    FAIL() << "expected an Error";
  } catch (const Error& error) {
    EXPECT_EQ(error.exit(), Exit::environment);
    EXPECT_THAT(error.what(), HasSubstr("a schedule that took 5 µs now takes 10 µs, 3 times in a row"));
  }
  EXPECT_THAT(warnings, ::testing::ElementsAre(HasSubstr("now takes 10 µs; trying again in 0.01 s"),
                                               HasSubstr("now takes 10 µs; trying again in 0.01 s")));
}

TEST(Worker, ALowerClockExplainsALongerTime) {
  const auto timing = [](double us, double mhz) {
    Timing result;
    result.median_us = us;
    result.clock_mhz = mhz;
    return result;
  };
  EXPECT_FALSE(is_slower(timing(10, 0), timing(10.9, 0)));
  EXPECT_TRUE(is_slower(timing(10, 0), timing(11.1, 0)));
  EXPECT_FALSE(is_slower(timing(10, 1980), timing(13, 1600)));
  EXPECT_TRUE(is_slower(timing(10, 1980), timing(14, 1600)));
  EXPECT_TRUE(is_slower(timing(10, 1600), timing(11.1, 1980))) << "a higher clock is no reason to be slower";
  EXPECT_FALSE(is_slower(timing(10, 1600), timing(10, 1980)));
}

TEST(Worker, AConfirmationOutlivesItsWorker) {
  const TemporaryFolder folder;
  WorkerRunner runner = make_runner();
  runner.open(copy_task());
  const std::vector<KernelCode> candidates = {faulty_candidate("none"),
                                              faulty_candidate("killed", "build", folder.file("a") + " 2"),
                                              faulty_candidate("terminated", "sample", folder.file("b") + " 1"),
                                              faulty_candidate("segfault", "build", folder.file("c") + " 1")};
  for (const Reply& reply : runner.confirm(candidates, {})) EXPECT_TRUE(reply.timing.ok());
}

TEST(Worker, KilledWhileItStartsIsReplaced) {
  const TemporaryFolder folder;
  WorkerCommand real = faulty_worker();
  const auto command = [&](const std::string& file, int times) {
    const std::string script = fmt::format(
        "touch {0}; if [ $(wc -c < {0}) -lt {1} ]; then printf . >> {0}; kill -9 $$; fi; exec /proc/{2}/exe {3} {2}",
        folder.file(file), times, getpid(), real.arguments.at(0));
    return WorkerCommand{"/bin/sh", {"-c", script}};
  };
  WorkerRunner runner({command("twice", 2), short_deadlines, {}});
  EXPECT_EQ(runner.workers(), 3);
  runner.open(copy_task());
  run(runner, cases.front());
  try {
    WorkerRunner never({command("always", 1000), short_deadlines, {}});
    FAIL() << "expected an Error";
  } catch (const Error& error) {
    EXPECT_EQ(error.exit(), Exit::environment);
    EXPECT_THAT(error.what(), HasSubstr("gave up after 3 workers: the worker was ended by signal 9 (Killed) from"));
  }
}

TEST(Worker, ConfirmationGoesOnWithoutTheOneThatBrokeIt) {
  WorkerRunner runner = make_runner();
  runner.open(copy_task());
  const std::vector<Case> all = {{"none", "launch", Status::ok},
                                 {"segfault", "sample", Status::illegal_access},
                                 {"none", "launch", Status::ok},
                                 {"no-build", "build", Status::build_error},
                                 {"illegal", "sample", Status::illegal_access},
                                 {"hang", "launch", Status::hang},
                                 {"exit3", "build", Status::build_crash},
                                 {"none", "launch", Status::ok}};
  std::vector<KernelCode> candidates;
  for (const Case& one : all) candidates.push_back(faulty_candidate(one.what, one.where));
  const auto replies = runner.confirm(candidates, {});
  ASSERT_EQ(replies.size(), all.size());
  for (std::size_t i = 0; i < all.size(); ++i) expect(all[i], replies[i]);
}

TEST(Worker, ADeviceThatIsLostForAllIsSaidOfAll) {
  WorkerRunner runner = make_runner();
  runner.open(copy_task());
  const std::vector<KernelCode> candidates(2, faulty_candidate("error", "launch"));
  for (const Reply& reply : runner.confirm(candidates, {}))
    EXPECT_EQ(reply.timing.failure().status, Status::device_lost);
}

TEST(Worker, CancelledWithinASecond) {
  const auto start = std::chrono::steady_clock::now();
  bool asked = false;
  WorkerRunner runner({faulty_worker(), Deadlines{}, [&] { return asked = true; }});
  runner.open(copy_task());
  const Reply reply = runner.screen(faulty_candidate("hang", "launch"), none_yet, 1);
  ASSERT_FALSE(reply.timing.ok());
  EXPECT_EQ(reply.timing.failure().status, Status::cancelled);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2)) << "its deadline";
  EXPECT_TRUE(asked);
  const auto replies = runner.confirm(std::vector<KernelCode>(2, faulty_candidate("none")), {});
  EXPECT_EQ(replies.size(), 2U);
}

TEST(Worker, MistakesOfTheUserCrossThePipe) {
  WorkerRunner runner = make_runner();
  Task task = copy_task();
  task.loop = ir::parse(
      "=== loop: big ===\ninput a: f32[1000000, 500000]\noutput b: f32[1000000, 500000]\n"
      "for a0 in 0..1000000: # free\n  for a1 in 0..500000: # free\n    in0 = load a[a0, a1]\n    b[a0, a1] = in0\n");
  try {
    runner.open(task);
    FAIL() << "expected an Error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("kernel big: expected"));
    EXPECT_EQ(error.exit(), Exit::environment);
  }
  runner.open(copy_task());
  run(runner, cases.front());
}

TEST(Worker, AProgramThatIsNoWorkerIsSaid) {
  const auto message = [](WorkerCommand command) -> std::string {
    try {
      WorkerRunner({std::move(command), short_deadlines, {}});
    } catch (const Error& error) {
      EXPECT_EQ(error.exit(), Exit::environment);
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(message({"/no/such/program", {}}), HasSubstr("/no/such/program: No such file or directory"));
  EXPECT_THAT(message({"/bin/sh", {"-c", "echo sorry >&2; exit 4"}}),
              HasSubstr("ended with code 4, at: idle; it said: sorry"));
  EXPECT_THAT(message({"/bin/sh", {"-c", "echo hello >&3; exec sleep 9"}}), HasSubstr("the worker was ended"));
}

/// Returns true if the process exists and is not a zombie.
bool alive(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string number, name, state;
  return static_cast<bool>(file >> number >> name >> state) && state != "Z";
}

TEST(Worker, DiesWithTheTuner) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t tuner = fork();
  if (tuner == 0) {
    WorkerRunner runner({faulty_worker(), Deadlines{}, {}});
    const pid_t worker = std::stoi(runner.info().vendor);
    if (write(ends[1], &worker, sizeof worker) < 0) _exit(1);
    runner.open(copy_task());
    runner.screen(faulty_candidate("hang", "launch"), none_yet, 1);
    _exit(0);
  }
  pid_t worker = 0;
  ASSERT_EQ(read(ends[0], &worker, sizeof worker), static_cast<ssize_t>(sizeof worker));
  close(ends[0]);
  close(ends[1]);
  EXPECT_TRUE(alive(worker));
  kill(tuner, SIGKILL);
  waitpid(tuner, nullptr, 0);
  for (int i = 0; i < 500 && alive(worker); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_FALSE(alive(worker));
}

// A terminal sends Ctrl-C to the whole process group.
TEST(Worker, HasAProcessGroupAndSignalsOfItsOwn) {
  sigset_t interrupt, before;
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);  // as `deplo tune` does
  pthread_sigmask(SIG_BLOCK, &interrupt, &before);
  WorkerRunner runner = make_runner();
  const pid_t worker = std::stoi(runner.info().vendor);
  EXPECT_EQ(getpgid(worker), worker);
  EXPECT_NE(getpgid(worker), getpgrp());
  std::ifstream file("/proc/" + std::to_string(worker) + "/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("SigBlk:")) {
      EXPECT_THAT(line, HasSubstr("\t0000000000000000"));
    }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// If a second worker held a pipe of the first one open, the tuner would not notice that the first one has ended.
TEST(Worker, InheritsNothingOfAnother) {
  const auto descriptors = [](const WorkerRunner& runner) {
    const std::filesystem::directory_iterator all("/proc/" + runner.info().vendor + "/fd");
    return std::distance(begin(all), end(all));
  };
  const WorkerRunner first = make_runner(), second = make_runner(), third = make_runner();
  EXPECT_EQ(descriptors(second), descriptors(first));
  EXPECT_EQ(descriptors(third), descriptors(first));
}

}  // namespace
}  // namespace deplo::measure::worker::worker_test
