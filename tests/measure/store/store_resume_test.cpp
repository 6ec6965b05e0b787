// What a run finds in a store that another run has left: trials in flight, failures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "measure/store/process_name.h"
#include "measure/store/retry.h"
#include "measure/store_fixture.h"

namespace deplo::measure {
namespace {

TEST(ProcessName, TellsTheLivingFromTheDead) {
  EXPECT_TRUE(is_running(this_process()));
  EXPECT_FALSE(is_running(""));
  EXPECT_FALSE(is_running("no process"));
  EXPECT_FALSE(is_running(this_process() + "1")) << "another start";
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    const std::string name = this_process();
    if (write(ends[1], name.data(), name.size()) < 0) _exit(1);
    for (;;) pause();
  }
  std::string name(200, ' ');
  name.resize(static_cast<std::size_t>(read(ends[0], name.data(), name.size())));
  close(ends[0]);
  close(ends[1]);
  EXPECT_NE(name, this_process());
  EXPECT_TRUE(is_running(name));
  kill(child, SIGKILL);
  siginfo_t info{};
  waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
  EXPECT_FALSE(is_running(name)) << "nobody has asked for its exit code yet";
  waitpid(child, nullptr, 0);
  EXPECT_FALSE(is_running(name));
}

/// Adds a run of `process` on `host` with a trial in flight. Returns the id of this trial among the running ones.
std::int64_t begin_trial(Store& store, const std::string& process, const std::string& host = "here") {
  const Ids ids = add_context(store);
  const std::int64_t run = store.add_run({.device = ids.device,
                                          .revision = "",
                                          .config = "",
                                          .searcher = "",
                                          .seed = 0,
                                          .host = host,
                                          .process = process});
  TrialRecord trial = some_trial(ids, 4, "in flight", 0);
  trial.run = run;
  return store.begin(trial);
}

TEST(StoreRunning, WhatADeadTunerBeganIsLostOnce) {
  const TemporaryFolder folder;
  Store store = Store::open(folder.file("a.db"));
  const Ids ids = add_context(store);
  begin_trial(store, "boot 1 1");
  EXPECT_TRUE(store.known_trials(ids.kernel, ids.device, "p1").empty());
  EXPECT_EQ(store.settle_lost("here"), 1);
  EXPECT_EQ(store.settle_lost("here"), 0);
  const auto trials = store.known_trials(ids.kernel, ids.device, "p1");
  ASSERT_EQ(trials.size(), 1U);
  EXPECT_EQ(trials[0].trial.status, Status::worker_lost);
  EXPECT_EQ(trials[0].trial.trail, "in flight");
  EXPECT_EQ(trials[0].trial.ordinal, 4);
  EXPECT_EQ(trials[0].transient_failures, 1);
  EXPECT_TRUE(worth_another_try(trials[0].trial.status, trials[0].transient_failures));
  begin_trial(store, "boot 1 1");
  EXPECT_EQ(store.settle_lost("here"), 1);
  const auto again = store.known_trials(ids.kernel, ids.device, "p1");
  EXPECT_FALSE(worth_another_try(again.at(0).trial.status, again.at(0).transient_failures)) << "two strikes";
}

// A process that uses the library may continue after a run has failed. The candidate did not cause that failure.
TEST(StoreRunning, WhatALivingProcessGivesUpIsNeverLost) {
  const TemporaryFolder folder;
  Store store = Store::open(folder.file("a.db"));
  const Ids ids = add_context(store);
  begin_trial(store, this_process());
  begin_trial(store, this_process());
  const std::int64_t elsewhere = begin_trial(store, this_process(), "elsewhere");
  const std::int64_t gone = begin_trial(store, "boot 1 1");
  sqlite::Database reader(folder.file("a.db"));
  store.forget_process("here", "boot 2 2");
  EXPECT_EQ(reader.integer("SELECT count(*) FROM running"), 4);
  store.forget_process("here", this_process());
  EXPECT_EQ(reader.integer("SELECT count(*) FROM running"), 2);
  EXPECT_EQ(reader.integer("SELECT min(id) FROM running"), elsewhere);
  EXPECT_EQ(reader.integer("SELECT max(id) FROM running"), gone);
  store.forget(gone);
  EXPECT_EQ(store.settle_lost("here"), 0);
  EXPECT_TRUE(store.known_trials(ids.kernel, ids.device, "p1").empty());
  const TrialRecord again = some_trial(ids, 4, "in flight", 0);
  EXPECT_EQ(store.claim(again, ids.device, 0).running, 0) << "elsewhere it is still being measured";
  store.forget(elsewhere);
  EXPECT_NE(store.claim(again, ids.device, 0).running, 0);
}

TEST(StoreRunning, WhatOthersMeasureIsLeftAlone) {
  const TemporaryFolder folder;
  Store store = Store::open(folder.file("a.db"));
  const std::int64_t mine = begin_trial(store, this_process());
  const std::int64_t elsewhere = begin_trial(store, "boot 1 1", "elsewhere");
  EXPECT_EQ(store.settle_lost("here"), 0);
  sqlite::Database(folder.file("a.db")).execute("UPDATE running SET created = '2020-01-01T00:00:00.000Z'");
  EXPECT_EQ(store.settle_lost("here"), 1) << "an hour is enough for any trial of another host";
  const Ids ids = add_context(store);
  store.append(some_trial(ids, 0, "done", 1), mine);
  store.forget(elsewhere);
  EXPECT_EQ(sqlite::Database(folder.file("a.db")).integer("SELECT count(*) FROM running"), 0);
}

TEST(Retry, ByTheKindOfFailure) {
  for (const Status final : {Status::build_error, Status::resource, Status::wrong_result, Status::hang, Status::invalid,
                             Status::illegal_access, Status::guard_hit, Status::build_crash, Status::noop})
    EXPECT_FALSE(worth_another_try(final, 0)) << status_name(final);
  EXPECT_TRUE(worth_another_try(Status::cancelled, 9));
  EXPECT_TRUE(worth_another_try(Status::out_of_memory, 2));
  EXPECT_FALSE(worth_another_try(Status::out_of_memory, 3)) << "retried twice";
  EXPECT_TRUE(worth_another_try(Status::worker_lost, 1));
  EXPECT_FALSE(worth_another_try(Status::worker_lost, 2));
}

// A schedule that hangs does so under every protocol. But times are only compared under the same protocol.
TEST(Retry, DangerIsKnownUnderEveryProtocol) {
  const TemporaryFolder folder;
  Store store = Store::open(folder.file("a.db"));
  const Ids ids = add_context(store);
  const auto add = [&](const std::string& trail, Status status) {
    TrialRecord trial = some_trial(ids, 0, trail, 1);
    trial.status = status;
    store.append(trial);
  };
  add("hangs", Status::hang);
  add("wrong", Status::wrong_result);
  add("runs", Status::ok);
  const auto trials = store.known_trials(ids.kernel, ids.device, "another protocol");
  ASSERT_EQ(trials.size(), 1U);
  EXPECT_EQ(trials[0].trial.trail, "hangs");
}

// Two tuners claim the same candidate.
TEST(StoreClaim, WhoBeginsFirstHasItAndTheOtherGetsTheTrial) {
  const TemporaryFolder folder;
  Store first = Store::open(folder.file("a.db")), second = Store::open(folder.file("a.db"));
  const Ids a = add_context(first);
  Ids b = a;
  b.run = add_context(second).run;
  const std::int64_t before = second.latest_trial();
  const TrialRecord mine = some_trial(a, 0, "x=1", 10), theirs = some_trial(b, 0, "y=1", 11);  // same source
  const Claim held = first.claim(mine, a.device, before);
  ASSERT_NE(held.running, 0);
  const Claim refused = second.claim(theirs, a.device, before);
  EXPECT_EQ(refused.running, 0);
  EXPECT_FALSE(refused.done);
  TrialRecord another = theirs;
  another.digest = "another";
  const Claim free = second.claim(another, a.device, before);
  EXPECT_NE(free.running, 0);
  second.forget(free.running);

  TrialRecord lost = mine;
  lost.status = Status::worker_lost;
  first.append(lost, held.running);
  const Claim mended = second.claim(theirs, a.device, before);
  EXPECT_NE(mended.running, 0) << "the other found nothing out";
  second.forget(mended.running);

  first.append(mine);
  const Claim done = second.claim(theirs, a.device, before);
  EXPECT_EQ(done.running, 0);
  ASSERT_TRUE(done.done);
  EXPECT_EQ(done.done->timing.median_us, 10);
  EXPECT_NE(second.claim(theirs, a.device, second.latest_trial()).running, 0) << "what was known before is no answer";
}

}  // namespace
}  // namespace deplo::measure
