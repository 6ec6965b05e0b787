#include "measure/store/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <tuple>

#include "ir/canonical/canonical.h"
#include "measure/store/file/open.h"
#include "measure/store/file/schema.h"
#include "measure/store/upkeep/report.h"
#include "measure/store_fixture.h"

namespace deplo::measure {
namespace {

using ::testing::HasSubstr;

TEST(Store, KeepsEveryFieldAcrossReopening) {
  const TemporaryFolder folder;
  Ids ids{};
  TrialRecord written;
  {
    Store store = Store::open(folder.file("a.db"));
    ids = add_context(store);
    written = some_trial(ids, 7, "blockify_launch.bm=64 register_tile.fm=12", 123.456789012345678);
    written.message = "odd 'quotes' and \n lines";
    written.timing.fidelity = 0.25;
    written.stage = Stage::confirm;
    written.timing.batch = 17;
    written.timing.sets = 3;
    written.timing.rejected = {99.5};
    written.timing.warm_us = 120.5;
    written.timing.clock_mhz = 1980;
    written.timing.energy_mj = 0.625;
    written.timing.stopped = true;
    written.resources = {168, 8, 16, 1024, 65536, 4096, 0.375, "registers", "abc", "C7510: slow"};
    written.proof = "proved";
    written.fingerprint = "0123456789abcdef", written.row_fingerprint = "unknown: its rows";
    written.id = store.append(written);
  }
  Store store = Store::open(folder.file("a.db"));
  const auto trials = store.known_trials(ids.kernel, ids.device, "p1");
  ASSERT_EQ(trials.size(), 1U);
  const TrialRecord& read = trials[0].trial;
  EXPECT_EQ(read.id, written.id);
  EXPECT_EQ(read.run, ids.run);
  EXPECT_EQ(read.ordinal, 7);
  EXPECT_EQ(read.kernel, ids.kernel);
  EXPECT_EQ(read.trail, written.trail);
  EXPECT_EQ(read.digest, written.digest);
  EXPECT_EQ(read.status, Status::ok);
  EXPECT_EQ(read.message, written.message);
  EXPECT_EQ(read.build_ms, written.build_ms);
  EXPECT_EQ(read.timing.median_us, written.timing.median_us);
  EXPECT_EQ(read.timing.fidelity, 0.25);
  EXPECT_EQ(read.timing.samples, written.timing.samples);
  EXPECT_EQ(read.protocol, "p1");
  EXPECT_EQ(read.stage, Stage::confirm);
  EXPECT_EQ(read.timing.batch, 17);
  EXPECT_EQ(read.timing.sets, 3);
  EXPECT_EQ(read.timing.rejected, written.timing.rejected);
  EXPECT_EQ(read.timing.warm_us, 120.5);
  EXPECT_EQ(read.timing.clock_mhz, 1980);
  EXPECT_EQ(read.timing.energy_mj, 0.625);
  EXPECT_TRUE(read.timing.stopped);
  EXPECT_EQ(read.resources.registers, 168);
  EXPECT_EQ(read.resources.spill_bytes, 8);
  EXPECT_EQ(read.resources.stack_bytes, 16);
  EXPECT_EQ(read.resources.static_shared_bytes, 1024);
  EXPECT_EQ(read.resources.dynamic_shared_bytes, 65536);
  EXPECT_EQ(read.resources.code_bytes, 4096);
  EXPECT_EQ(read.resources.occupancy, 0.375);
  EXPECT_EQ(read.resources.limiter, "registers");
  EXPECT_EQ(read.resources.binary_digest, "abc");
  EXPECT_EQ(read.resources.compiler_notes, "C7510: slow");
  EXPECT_EQ(read.proof, "proved");
  EXPECT_EQ(read.fingerprint, "0123456789abcdef");
  EXPECT_EQ(read.row_fingerprint, "unknown: its rows");
  EXPECT_THAT(read.created, ::testing::MatchesRegex("....-..-..T..:..:......Z"));
}

TEST(Store, TheSameDeviceAndKernelAreOneRow) {
  const TemporaryFolder folder;
  Store store = Store::open(folder.file("a.db"));
  DeviceInfo info = some_device();
  const std::int64_t device = store.add_device(info);
  info.clock_mhz = 1200;  // a CPU reports its current clock: still the same device
  EXPECT_EQ(store.add_device(info), device);
  info.driver = "4.0";
  EXPECT_NE(store.add_device(info), device);
  const std::int64_t kernel = store.add_kernel({"a", "text"});
  EXPECT_EQ(store.add_kernel({"another name", "text"}), kernel);
  EXPECT_NE(store.add_kernel({"a", "other text"}), kernel);
}

// Devices in older stores have no architecture. It is filled in, because schedules may depend on it.
TEST(Store, ADeviceLearnsItsArchitectureOnce) {
  const TemporaryFolder folder;
  Store store = Store::open(folder.file("a.db"));
  sqlite::Database database(folder.file("a.db"));
  DeviceInfo info = some_device();
  info.architecture = "";
  const std::int64_t device = store.add_device(info);
  const auto architecture = [&] {
    sqlite::Statement select(database, "SELECT architecture FROM device WHERE id = ?");
    select.bind(1, device).step();
    return select.text(0);
  };
  EXPECT_EQ(architecture(), "");
  for (const char* later : {"avx512_bf16", ""}) {
    info.architecture = later;
    EXPECT_EQ(store.add_device(info), device);
    EXPECT_EQ(architecture(), "avx512_bf16");
  }
}

TEST(Store, FailuresAndOddSamples) {
  const TemporaryFolder folder;
  Store store = Store::open(folder.file("a.db"));
  const Ids ids = add_context(store);
  TrialRecord trial = some_trial(ids, 0, "a", 1);
  trial.status = Status::implausible;
  trial.timing.samples = {std::nan(""), HUGE_VAL, -1, 1e-300, 0.1};
  store.append(trial);
  trial.timing.samples.clear();
  trial.trail = "b";
  store.append(trial);
  const auto trials = store.known_trials(ids.kernel, ids.device, "p1");
  ASSERT_EQ(trials.size(), 2U);
  EXPECT_EQ(trials[0].trial.status, Status::implausible);
  EXPECT_THAT(trials[0].trial.timing.samples,
              ::testing::ElementsAre(::testing::IsNan(), ::testing::IsNan(), -1, 1e-300, 0.1));
  EXPECT_TRUE(trials[1].trial.timing.samples.empty());
  EXPECT_FALSE(store.best(ids.kernel, ids.device).has_value());
}

TEST(Store, KnownAreTheLatestOfEachTrailOldestFirst) {
  const TemporaryFolder folder;
  Store store = Store::open(folder.file("a.db"));
  const Ids ids = add_context(store);
  store.append(some_trial(ids, 0, "a", 1));
  store.append(some_trial(ids, 1, "b", 2));
  store.append(some_trial(ids, 2, "a", 3));
  TrialRecord other = some_trial(ids, 3, "c", 4);
  other.protocol = "p2";
  store.append(other);
  const auto trials = store.known_trials(ids.kernel, ids.device, "p1");
  ASSERT_EQ(trials.size(), 2U);
  EXPECT_EQ(trials[0].trial.trail, "b");
  EXPECT_EQ(trials[1].trial.timing.median_us, 3);
  EXPECT_TRUE(store.known_trials(ids.kernel, ids.device + 1, "p1").empty());
  EXPECT_TRUE(store.known_trials(ids.kernel + 1, ids.device, "p1").empty());
}

TEST(Store, BestPrefersConfirmedThenFullThenFast) {
  const TemporaryFolder folder;
  Store store = Store::open(folder.file("a.db"));
  const Ids ids = add_context(store);
  const auto best = [&] { return store.best(ids.kernel, ids.device).value().trail; };
  TrialRecord prefix = some_trial(ids, 0, "prefix", 1);
  prefix.timing.fidelity = 0.5;
  store.append(prefix);
  EXPECT_EQ(best(), "prefix");
  store.append(some_trial(ids, 1, "full", 5));
  store.append(some_trial(ids, 2, "slower", 6));
  EXPECT_EQ(best(), "full");
  TrialRecord confirmed = some_trial(ids, 3, "confirmed", 7);
  confirmed.stage = Stage::confirm;
  store.append(confirmed);
  EXPECT_EQ(best(), "confirmed");
  confirmed.status = Status::wrong_result;  // found wrong later: no longer a candidate for the best
  store.append(confirmed);
  EXPECT_EQ(best(), "full");
}

// If times differ by at most 0.5 %, the best is the heuristic's schedule, then the one with fewer changes, then the one
// whose trail comes first in alphabetical order. Reports name the same schedule.
TEST(Store, OfEqualTimesTheOneNearestToTheHeuristicIsTheBest) {
  const TemporaryFolder folder;
  Store store = Store::open(folder.file("a.db"));
  const Ids ids = add_context(store);
  const auto add = [&](const std::string& trail, double us, std::int64_t changes) {
    TrialRecord trial = some_trial(ids, 0, trail, us);
    trial.changes = changes;
    store.append(trial);
  };
  const auto best = [&] {
    const auto database = open_read_only(folder.file("a.db"));
    EXPECT_EQ(sqlite::text_of(upkeep::best_schedules(*database, {}).rows.at(0).back()),
              store.best(ids.kernel, ids.device).value().trail);
    return store.best(ids.kernel, ids.device).value().trail;
  };
  add("old", 100, -1);
  EXPECT_EQ(best(), "old");
  add("older", 100.1, -1);
  EXPECT_EQ(best(), "old") << "without changes only the time counts";
  add("z", 100.3, 2);
  EXPECT_EQ(best(), "z");
  add("b", 100.4, 2);
  EXPECT_EQ(best(), "b");
  add("c", 100.4, 1);
  EXPECT_EQ(best(), "c");
  add("heuristic", 100.6, 0);
  EXPECT_EQ(best(), "c") << "0.6 % slower";
  add("heuristic", 100.49, 0);
  EXPECT_EQ(best(), "heuristic");
  add("fast", 99, 7);
  EXPECT_EQ(best(), "fast");
  TrialRecord confirmed = some_trial(ids, 0, "confirmed", 120);
  confirmed.stage = Stage::confirm;
  confirmed.changes = 9;
  store.append(confirmed);
  EXPECT_EQ(best(), "confirmed");
}

TEST(Store, KnowsWhichSearchesWereFinished) {
  const TemporaryFolder folder;
  Store store = Store::open(folder.file("a.db"));
  const Ids ids = add_context(store);
  store.append(some_trial(ids, 0, "a", 1));
  const char* const text = "=== loop: matmul ===\n";
  const auto state = [&] {
    const auto database = open_read_only(folder.file("a.db"));
    return upkeep::best_schedules(*database, {}).rows.at(0).at(5);
  };
  EXPECT_EQ(state(), sqlite::Cell()) << "nobody knows";
  store.append(SearchRecord{ids.run, ids.kernel, "random", "seconds", false});
  EXPECT_EQ(store.finished_search(text, ids.device, "random"), std::nullopt);
  EXPECT_EQ(state(), sqlite::Cell("unfinished"));
  store.append(SearchRecord{ids.run, ids.kernel, "random", "patience", true});
  store.append(SearchRecord{ids.run, ids.kernel, "random", "cancelled", false});
  EXPECT_EQ(store.finished_search(text, ids.device, "random"), "patience");
  EXPECT_EQ(state(), sqlite::Cell("finished"));
  EXPECT_EQ(store.finished_search(text, ids.device, "other"), std::nullopt);
  EXPECT_EQ(store.finished_search(text, ids.device + 1, "random"), std::nullopt);
  EXPECT_EQ(store.finished_search("another text", ids.device, "random"), std::nullopt);
  store.append(SearchRecord{ids.run, ids.kernel, "other", "seconds", false});
  EXPECT_EQ(state(), sqlite::Cell("unfinished")) << "the latest search counts";
  EXPECT_TRUE(is_intact(folder.file("a.db")));
}

const std::vector<Status> says_nothing = {Status::worker_lost, Status::device_lost,   Status::out_of_memory,
                                          Status::implausible, Status::cancelled,     Status::timeout,
                                          Status::build_crash, Status::build_timeout, Status::no_energy};

// The machine may have caused these failures. So a proven schedule stays the best for every query.
TEST(Store, WhatSaysNothingDemotesNobody) {
  for (const Status status : says_nothing) {
    const TemporaryFolder folder;
    Store store = Store::open(folder.file("a.db"));
    const Ids ids = add_context(store);
    TrialRecord trial = some_trial(ids, 0, "proven", 5);
    trial.stage = Stage::confirm;
    store.append(trial);
    store.append(some_trial(ids, 1, "other", 6));
    for (const Stage stage : {Stage::confirm, Stage::screen}) {
      trial.stage = stage;
      trial.status = status;
      store.append(trial);
    }
    EXPECT_EQ(store.best(ids.kernel, ids.device).value().trail, "proven") << status_name(status);
    const auto known = store.known_trials(ids.kernel, ids.device, "p1");
    ASSERT_EQ(known.size(), 2U);
    EXPECT_EQ(known[0].trial.timing.median_us, 5) << status_name(status);
    const auto database = open_read_only(folder.file("a.db"));
    EXPECT_EQ(sqlite::text_of(upkeep::best_schedules(*database, {}).rows.at(0).back()), "proven");
    EXPECT_EQ(upkeep::ranked_trials(*database, ids.kernel, ids.device).at(0), 1) << "in reports, too";
  }
}

TEST(Store, WhatIsFoundOutLaterDoes) {
  for (int i = 1; i <= static_cast<int>(Status::timeout); ++i) {
    const auto status = static_cast<Status>(i);
    if (std::ranges::count(says_nothing, status) > 0) continue;
    const TemporaryFolder folder;
    Store store = Store::open(folder.file("a.db"));
    const Ids ids = add_context(store);
    TrialRecord trial = some_trial(ids, 0, "proven", 5);
    store.append(trial);
    trial.status = status;
    store.append(trial);
    trial.status = Status::worker_lost;
    store.append(trial);
    EXPECT_FALSE(store.best(ids.kernel, ids.device)) << status_name(status);
    EXPECT_EQ(store.known_trials(ids.kernel, ids.device, "p1").at(0).trial.status, status);
    const auto database = open_read_only(folder.file("a.db"));
    EXPECT_TRUE(upkeep::best_schedules(*database, {}).rows.empty());
  }
}

// An early stop gives only an approximate time, so the stored full time stays. If the trail now becomes another
// source, the earlier trials prove nothing.
TEST(Store, OfAnotherSourceNothingIsProven) {
  const TemporaryFolder folder;
  Store store = Store::open(folder.file("a.db"));
  const Ids ids = add_context(store);
  TrialRecord trial = some_trial(ids, 0, "a", 5);
  store.append(trial);
  trial.timing.stopped = true;
  store.append(trial);
  EXPECT_TRUE(store.best(ids.kernel, ids.device));
  trial.timing.stopped = false;
  trial.status = Status::build_crash;
  trial.digest = "another";
  store.append(trial);
  EXPECT_FALSE(store.best(ids.kernel, ids.device));
  EXPECT_EQ(store.known_trials(ids.kernel, ids.device, "p1").at(0).trial.status, Status::build_crash);
}

TEST(Store, WhatIsNotKnownIsNull) {
  const TemporaryFolder folder;
  Store store = Store::open(folder.file("a.db"));
  const Ids ids = add_context(store);
  TrialRecord trial = some_trial(ids, 0, "a", 1);
  trial.status = Status::build_error;
  trial.timing.samples.clear();
  store.append(trial);
  sqlite::Database database(folder.file("a.db"));
  EXPECT_EQ(
      database.integer("SELECT count(*) FROM trial WHERE median_us IS NULL AND batch IS NULL AND sets IS NULL AND "
                       "warm_us IS NULL AND clock_mhz IS NULL AND registers IS NULL AND spill_bytes IS NULL AND "
                       "stack_bytes IS NULL AND static_shared_bytes IS NULL AND dynamic_shared_bytes IS NULL AND "
                       "occupancy IS NULL"),
      1);
  EXPECT_EQ(store.known_trials(ids.kernel, ids.device, "p1").at(0).trial.resources.registers, -1);
}

// A trial that was stopped early has only an approximate time, so it is never the best.
TEST(Store, BestIsNoneThatWasStopped) {
  const TemporaryFolder folder;
  Store store = Store::open(folder.file("a.db"));
  const Ids ids = add_context(store);
  store.append(some_trial(ids, 0, "full", 5));
  TrialRecord stopped = some_trial(ids, 1, "stopped", 4);
  stopped.timing.stopped = true;
  store.append(stopped);
  EXPECT_EQ(store.best(ids.kernel, ids.device).value().trail, "full");
}

TEST(Store, Baselines) {
  const TemporaryFolder folder;
  Store store = Store::open(folder.file("a.db"));
  const Ids ids = add_context(store);
  const auto add = [&](std::string library, Status status, double us) {
    BaselineRecord one;
    one.run = ids.run;
    one.kernel = ids.kernel;
    one.library = std::move(library);
    one.version = "1.0";
    one.precision = "f32";
    one.threads = 2;
    one.status = status;
    one.message = status == Status::ok ? "" : "no";
    one.median_us = us;
    one.samples = {us, us + 1};
    one.protocol = "p1";
    store.append(one);
  };
  add("eigen", Status::ok, 9);
  add("eigen", Status::ok, 8);
  add("cudnn", Status::launch_error, 0);
  add("onednn", Status::ok, 7);
  const auto all = store.baselines(ids.kernel, ids.device);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].library, "onednn");
  EXPECT_EQ(all[0].samples, (std::vector<double>{7, 8}));
  EXPECT_EQ(all[1].median_us, 8) << "the latest";
  EXPECT_EQ(all[2].status, Status::launch_error);
  EXPECT_EQ(all[2].message, "no");
  EXPECT_TRUE(store.baselines(ids.kernel, ids.device + 1).empty());
}

// PyTorch's name of a processor is the end of PoCL's name of the same processor.
TEST(Store, BaselinesOfAnotherProgramOnTheSameDevice) {
  const TemporaryFolder folder;
  Store store = Store::open(folder.file("a.db"));
  const Ids ids = add_context(store);
  const auto add = [&](const char* backend, const char* name, double us) {
    DeviceInfo device;
    device.backend = backend;
    device.name = name;
    BaselineRecord one;
    one.run = store.add_run(
        {.device = store.add_device(device), .revision = "", .config = "", .searcher = "", .seed = 0, .host = ""});
    one.kernel = ids.kernel;
    one.library = std::string(backend) + name;
    one.median_us = us;
    one.batch = 3;
    one.sets = 7;
    one.created = "2026-11-21T11:04:22Z";
    store.append(one);
  };
  add("torch", "Xeon(R)", 2);
  add("torch", "Xeon", 3);
  add("torch", "", 4);
  add("opencl", "Xeon(R)", 5);  // another device of the same backend
  DeviceInfo pocl = some_device();
  pocl.name = "pthread-Xeon(R)";
  const auto found = store.baselines(ids.kernel, store.add_device(pocl));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].library, "torchXeon(R)");
  EXPECT_EQ(found[0].batch, 3);
  EXPECT_EQ(found[0].sets, 7);
  EXPECT_EQ(found[0].created, "2026-11-21T11:04:22Z");
}

TEST(Store, CeilingsAreTheHighestOfTheDevice) {
  const TemporaryFolder folder;
  Store store = Store::open(folder.file("a.db"));
  const Ids ids = add_context(store);
  EXPECT_EQ(store.ceilings(ids.device), rules::Ceilings{});
  store.add_ceilings(ids.run, {10, 12, 100});
  store.add_ceilings(ids.run, {11, 9, 90});
  EXPECT_EQ(store.ceilings(ids.device), (rules::Ceilings{11, 12, 100}));
  EXPECT_EQ(store.ceilings(ids.device + 1), rules::Ceilings{});
}

// 2^25 FLOPs in 5 µs are faster than the measured fp32 ceiling of 1,000 GFLOP/s.
TEST(Store, TensorCoresMayBeFasterThanFp32) {
  const std::string text =
      "=== loop: matmul ===\ninput a: bf16[256, 256]\ninput b: bf16[256, 256]\noutput c: f32[256, 256]\n"
      "for a0 in 0..256: # free\n  for a1 in 0..256: # free\n    for a2 in 0..256: # reduce\n"
      "      in0 = load a[a0, a2]\n      in1 = load b[a2, a1]\n      v0 = multiply(in0, in1)\n"
      "      acc0 <- add(acc0, v0)\n    c[a0, a1] = acc0\n";
  for (const auto& [backend, architecture, faults] :
       {std::tuple("cuda", "sm_90", 0U), std::tuple("opencl", avx512_bf16, 0U), std::tuple("opencl", "", 1U)}) {
    const TemporaryFolder folder;
    Store store = Store::open(folder.file("a.db"));
    Ids ids = add_context(store);
    DeviceInfo info = some_device();
    info.backend = backend;
    info.name = "another";
    info.architecture = architecture;
    info.l2_bytes = 1 << 20;
    ids.device = store.add_device(info);
    ids.run =
        store.add_run({.device = ids.device, .revision = "v0.1", .config = "", .searcher = "mcts", .host = "here"});
    ids.kernel = store.add_kernel({.name = "matmul", .text = text});
    store.add_ceilings(ids.run, {100, 100, 1000});
    TrialRecord trial = some_trial(ids, 0, "a", 5);
    trial.timing.samples = {5};
    trial.timing.batch = trial.timing.sets = 1;
    trial.protocol = "v2 plausible=0.9";
    store.append(trial);
    EXPECT_EQ(store.faulty_trials(ir::structural_keys(ir::parse(text)).schedule, ids.device).size(), faults)
        << backend << " " << architecture;
  }
}

TEST(Store, ABatchIsAllOrNothing) {
  const TemporaryFolder folder;
  Store store = Store::open(folder.file("a.db"));
  const Ids ids = add_context(store);
  std::vector<TrialRecord> batch = {some_trial(ids, 0, "a", 1), some_trial(ids, 1, "b", 2)};
  store.append(batch);
  batch[0].trail = "c";
  batch[1].kernel = 999;  // no such kernel
  EXPECT_THROW(store.append(batch), Error);
  EXPECT_EQ(store.known_trials(ids.kernel, ids.device, "p1").size(), 2U);
  store.append(some_trial(ids, 2, "d", 3));  // and the connection still works
  EXPECT_EQ(store.known_trials(ids.kernel, ids.device, "p1").size(), 3U);
}

}  // namespace
}  // namespace deplo::measure
