// `deplo db instructions` stores figures of machine code. The store is like one that a tuner writes on an H100.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "apps/run_program.h"
#include "core/file.h"
#include "engine/compile/compiled.h"
#include "engine/loop/kernel.h"
#include "measure/cuda/fixture.h"
#include "measure/cuda/library.h"
#include "measure/store_fixture.h"

namespace deplo::testing {
namespace {

using measure::cuda::Nvrtc;
using ::testing::AllOf;
using ::testing::HasSubstr;
using Json = nlohmann::json;

measure::DeviceInfo h100() {
  return {.backend = "cuda",
          .name = "NVIDIA H100",
          .vendor = "NVIDIA",
          .driver = "580.65",
          .platform = "CUDA 13.0, NVRTC 13.0",
          .units = 132,
          .clock_mhz = 1980,
          .shared_bytes = 232448,
          .max_threads = 1024,
          .cpu = false,
          .architecture = "sm_90",
          .l2_bytes = 50 << 20,
          .memory_bytes = std::int64_t{80} << 30};
}

/// Skips the test if a tool is missing.
#define NEED_MACHINE_CODE()  \
  DEPLO_NEED_NVRTC("sm_90"); \
  if (!measure::cuda::find_program("nvdisasm")) GTEST_SKIP() << "no nvdisasm"

class Instructions : public ::testing::Test {
 protected:
  /// Returns a trial of the kernel's untuned schedule, with the machine code that NVRTC makes here.
  measure::TrialRecord untuned(const measure::Ids& ids, const ir::Program& loop, double us) {
    const Target target = measure::target_of(h100());
    const engine::Compiled compiled = engine::compile(rules::heuristic(loop, target));
    const auto cubin = measure::cuda::compile_cubin(compiled.code.source, "sm_90");
    measure::TrialRecord trial = measure::some_trial(ids, 0, print(compiled.trail), us);
    trial.timing.samples = {us, us, us};
    trial.digest = compiled.digest;
    trial.resources = measure::cuda::with_occupancy(cubin.value().resources, compiled.code.source, target).value();
    return trial;
  }

  /// Makes a store with this trial of a matmul. `change` may edit the trial.
  std::string store_of(const std::string& name, const std::function<void(measure::TrialRecord&)>& change) {
    const ir::Program loop = engine::load_kernel("matmul", {{"M", 512}, {"N", 512}, {"K", 512}}, "");
    measure::Store store = measure::Store::open(folder_.file(name));
    measure::Ids ids{store.add_device(h100()), 0, 0};
    ids.run = store.add_run(
        {.device = ids.device, .revision = "r", .config = "", .searcher = "mcts", .seed = 1, .host = "h"});
    ids.kernel = store.add_kernel({"matmul", print(loop)});
    measure::TrialRecord trial = untuned(ids, loop, 100);
    change(trial);
    store.append(trial);
    return folder_.file(name);
  }

  Ran run(const std::string& store, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"deplo", "db", "instructions", store});
    return run_program(more);
  }

  measure::TemporaryFolder folder_;
};

TEST_F(Instructions, AreMadeOnceAndStayInTheStore) {
  NEED_MACHINE_CODE();
  const std::string store = store_of("s.db", [](auto&) {});
  const std::string report = folder_.file("report.html");
  ASSERT_EQ(run_program({"deplo", "report", store, "-o", report}).code, 0);
  EXPECT_THAT(read_file(report), HasSubstr("deplo db instructions"));
  const Ran first = run(store, {"--json"});
  ASSERT_EQ(first.code, 0) << first.err;
  const Json row = Json::parse(first.out).at(0);
  EXPECT_EQ(row["kernel"], "matmul");
  EXPECT_GT(row["instructions"], row["loop_instructions"]);
  EXPECT_GT(row["loop_instructions"], 100);
  EXPECT_GT(row["arithmetic_share"], 0.5);
  EXPECT_LT(row["arithmetic_share"], 1);
  EXPECT_GE(row["issue_cycles"], row["loop_instructions"]);
  EXPECT_EQ(row["calls"], 0);
  measure::sqlite::Database database(store);
  EXPECT_EQ(database.integer("SELECT count(*) FROM machine_code"), 1);
  EXPECT_EQ(database.integer("SELECT sum(c.value) = m.loop_instructions FROM machine_code m, json_each(m.classes) c"),
            1);
  // Stored figures are not computed again, so the wrong number that the test stores must stay.
  database.execute("UPDATE machine_code SET calls = 77; UPDATE trial SET compiler_notes = 'C7510: serialized'");
  EXPECT_EQ(Json::parse(run(store, {"--json"}).out).at(0)["calls"], 77);
  EXPECT_EQ(Json::parse(run(store, {"--json"}).out).at(0)["compiler_notes"], "C7510: serialized");
  ASSERT_EQ(run_program({"deplo", "report", store, "-o", report}).code, 0);
  EXPECT_THAT(read_file(report), AllOf(HasSubstr("ptxas says: C7510: serialized. "),
                                       HasSubstr("77 calls of slow paths. Hot loop: "), HasSubstr("fp32 ")));
}

TEST_F(Instructions, OfOtherCodeThanTheMeasuredAreNotStored) {
  NEED_MACHINE_CODE();
  const auto refused = [&](const std::string& name, const std::function<void(measure::TrialRecord&)>& change) {
    const std::string store = store_of(name, change);
    const Ran ran = run(store);
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(measure::sqlite::Database(store).integer("SELECT count(*) FROM machine_code"), 0);
    return ran.out;
  };
  EXPECT_THAT(refused("compiler.db", [](auto& trial) { trial.resources.binary_digest = "another"; }),
              HasSubstr("1 trial: another version of NVRTC made the measured code"));
  EXPECT_THAT(refused("source.db", [](auto& trial) { trial.digest = "another"; }),
              HasSubstr("1 trial: this version of deplo generates a source that differs from the measured one"));
  EXPECT_EQ(refused("failed.db", [](auto& trial) { trial.status = Status::hang; }),
            "no valid trials of CUDA devices\n");
}

TEST_F(Instructions, OfAStoreOfOtherDevicesThereAreNone) {
  const std::string store = folder_.file("s.db");
  {
    measure::Store made = measure::Store::open(store);
    const measure::Ids ids = measure::add_context(made);
    made.append(measure::some_trial(ids, 0, "bm=1", 2));
  }
  EXPECT_EQ(run(store).out, "no valid trials of CUDA devices\n");
  EXPECT_EQ(run(folder_.file("missing.db")).code, 1);
  EXPECT_FALSE(std::filesystem::exists(folder_.file("missing.db")));
  const Ran unknown = run(store, {"--kernel", "softmax"});
  EXPECT_EQ(unknown.code, 1);
  EXPECT_THAT(unknown.err, HasSubstr("softmax"));
}

}  // namespace
}  // namespace deplo::testing
