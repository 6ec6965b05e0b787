#include "measure/worker/build_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cerrno>

#include "measure/faulty.h"
#include "measure/store_fixture.h"
#include "measure/worker/worker_runner.h"

namespace deplo::measure::worker::build_pool_test {
namespace {

using ::testing::HasSubstr;

const Deadlines short_deadlines{.build = 0.4};

/// Returns candidate number `i` of a batch. Candidates differ in their text.
KernelCode numbered(int i, const std::string& what = "none") {
  KernelCode candidate = faulty_candidate(what, "build");
  candidate.source.text += " " + std::to_string(i);
  return candidate;
}

std::vector<KernelCode> batch(int begin, int end) {
  std::vector<KernelCode> candidates;
  for (int i = begin; i < end; ++i) candidates.push_back(numbered(i));
  return candidates;
}

TEST(BuildPool, BuildsWhatIsAskedForInAnyOrder) {
  for (const std::size_t workers : {1, 3}) {
    BuildPool pool(workers, faulty_builder(), short_deadlines);
    const auto all = batch(0, 20);
    pool.prepare(all);
    for (std::size_t i = all.size(); i-- > 0;) {
      const Reply reply = pool.take(all[i], {});
      ASSERT_TRUE(reply.timing.ok());
      EXPECT_EQ(reply.resources.registers, static_cast<std::int64_t>(all[i].source.text.size()));
    }
    EXPECT_TRUE(pool.take(numbered(99), {}).timing.ok()) << "never prepared";
    EXPECT_TRUE(pool.take(all[0], {}).timing.ok()) << "and again";
  }
}

TEST(BuildPool, FaultsAreOneCandidates) {
  BuildPool pool(2, faulty_builder(), short_deadlines);
  std::vector<KernelCode> all;
  const std::vector<std::pair<std::string, Status>> kinds = {
      {"none", Status::ok},           {"no-build", Status::build_error}, {"segfault", Status::build_crash},
      {"exit3", Status::build_crash}, {"memory", Status::out_of_memory}, {"garbage", Status::worker_lost}};
  for (int i = 0; i < 60; ++i) all.push_back(numbered(i, kinds[static_cast<std::size_t>(i) % kinds.size()].first));
  all.push_back(numbered(60, "hang"));
  pool.prepare(all);
  for (std::size_t i = 0; i < 60; ++i) {
    const Reply reply = pool.take(all[i], {});
    const Status expected = kinds[i % kinds.size()].second;
    EXPECT_EQ(reply.timing.ok() ? "ok" : status_name(reply.timing.failure().status), status_name(expected)) << i;
  }
  EXPECT_EQ(pool.take(all.back(), {}).timing.failure().status, Status::build_timeout);
}

TEST(BuildPool, ABuilderThatIsLostIsReplaced) {
  const TemporaryFolder folder;
  BuildPool pool(2, faulty_builder(), short_deadlines);
  std::vector<KernelCode> all;
  for (const std::string fault : {"killed 2", "terminated 2", "segfault 1", "exit3 1"}) {
    const std::string what = fault.substr(0, fault.find(' '));
    all.push_back(faulty_candidate(what, "build", folder.file(what) + fault.substr(fault.find(' '))));
  }
  pool.prepare(all);
  for (const KernelCode& candidate : all) EXPECT_TRUE(pool.take(candidate, {}).timing.ok()) << candidate.source.text;
}

TEST(BuildPool, WhatIsNotTakenIsForgottenAndTheEndWaitsForNothing) {
  {
    BuildPool pool(1, faulty_builder(), Deadlines{});  // a build may take fifteen seconds
    pool.prepare(batch(0, 50));
    pool.prepare(std::vector<KernelCode>{numbered(0, "hang")});
    EXPECT_EQ(pool.take(numbered(0, "hang"), [] { return true; }).timing.failure().status, Status::cancelled);
  }
  EXPECT_TRUE(waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD);
}

TEST(BuildPool, SettlesWhenNothingIsBuiltAnyMore) {
  BuildPool pool(2, faulty_builder(), short_deadlines);
  pool.settle({});  // nothing was asked for
  const auto all = batch(0, 100);
  pool.prepare(all);
  pool.settle({});
  for (const KernelCode& candidate : all)
    EXPECT_TRUE(pool.take(candidate, [] { return true; }).timing.ok()) << "not built when it settled";
  pool.prepare(std::vector<KernelCode>{numbered(0, "hang")});
  pool.settle([] { return true; });  // does not wait if the program is being stopped
}

TEST(BuildPool, NoWorkerIsAnError) {
  BuildPool pool(1, {"/no/such/program", {}}, {});
  try {
    pool.take(numbered(0), {});
    FAIL() << "expected an Error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("No such file"));
  }
}

// The order and the answers do not depend on the number of builders.
TEST(BuildPool, ABenchAnswersTheSameWithAndWithoutOne) {
  const auto outcomes = [](std::unique_ptr<BuildPool> pool) {
    const bool pooled = pool != nullptr;
    WorkerRunner runner({faulty_worker(), short_deadlines, {}});
    runner.build_ahead(std::move(pool));
    EXPECT_EQ(runner.batch() > 1, pooled);
    runner.open(copy_task());
    std::vector<KernelCode> all = batch(0, 6);
    all[2] = numbered(2, "no-build");
    all[4] = numbered(4, "segfault");
    runner.prepare(all);
    std::vector<Status> statuses;
    for (const KernelCode& candidate : all) {
      const Reply reply = runner.screen(candidate, 1e9, 1);
      statuses.push_back(reply.timing.ok() ? Status::ok : reply.timing.failure().status);
    }
    return statuses;
  };
  const auto without = outcomes(nullptr);
  EXPECT_EQ(without[4], Status::build_crash);
  EXPECT_EQ(outcomes(std::make_unique<BuildPool>(1, faulty_builder(), short_deadlines)), without);
  EXPECT_EQ(outcomes(std::make_unique<BuildPool>(4, faulty_builder(), short_deadlines)), without);
}

}  // namespace
}  // namespace deplo::measure::worker::build_pool_test
