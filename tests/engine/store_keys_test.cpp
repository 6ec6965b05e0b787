// Trials that are read from a store. The guesses of trials with less effort never count, whoever reads the store.
#include "engine/learn/store_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "core/rng.h"
#include "engine/learn/labelled.h"
#include "engine/learn/recorded.h"
#include "engine/loop/kernel.h"
#include "engine/tune/warm_start.h"
#include "measure/store_fixture.h"
#include "rules/lower.h"

namespace deplo::engine {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

ir::Program matmul(std::int64_t rows) { return load_kernel("matmul", {{"M", rows}, {"N", 48}, {"K", 32}}, "test"); }

/// Kernel "whole" was screened with full effort and with less effort. "guessed" was screened only with less effort, so
/// its times are guesses. "broken" has no valid trials.
class Guesses : public ::testing::Test {
 protected:
  Guesses() {
    auto store = measure::Store::open(path());
    measure::Ids ids = measure::add_context(store);
    ids.device = store.add_device(info_);
    ids.run = store.add_run(
        {.device = ids.device, .revision = "", .config = "", .searcher = "hyperband", .seed = 0, .host = ""});
    add(store, ids, "whole", 64, 30, Status::ok, "samples=5");
    add(store, ids, "whole", 64, 30, Status::ok, "samples=1");
    add(store, ids, "guessed", 96, 30, Status::ok, "samples=1");
    add(store, ids, "broken", 128, 3, Status::build_error, "samples=5");
  }
  void add(measure::Store& store, measure::Ids ids, const char* name, std::int64_t rows, int trials, Status status,
           const char* protocol) {
    const ir::Program loop = matmul(rows);
    ids.kernel = store.add_kernel({name, print(loop)});
    Rng rng(5);
    for (int i = 0; i < trials; ++i) {
      rules::Lowering lowering(loop, measure::target_of(info_));
      while (lowering.fork()) lowering.choose(rng.below(lowering.fork()->options.size()));
      measure::TrialRecord trial = measure::some_trial(ids, ordinal_++, print(lowering.trail()), 10.0 + i);
      trial.status = status;
      trial.protocol = protocol;
      trial.timing.stopped = status == Status::ok && trial.protocol == "samples=1";
      store.append(trial);
    }
  }
  std::string path() const { return folder_.file("s.db"); }
  std::vector<std::string> sources(std::int64_t rows) const {
    std::vector<std::string> names;
    for (const WarmSource& source : warm_sources(path(), print(matmul(rows)), 4)) names.push_back(source.kernel);
    return names;
  }

  measure::TemporaryFolder folder_;
  const measure::DeviceInfo info_{"opencl", "a CPU", "vendor", "1", "platform", 2, 2000, 1 << 20, 64, true};
  std::int64_t ordinal_ = 0;
};

TEST_F(Guesses, AreNoKeys) {
  std::vector<std::string> names;
  for (const StoreKey& key : store_keys(path())) {
    names.push_back(key.name);
    EXPECT_EQ(key.protocol, "samples=5");
    EXPECT_EQ(key.info, info_);
    EXPECT_THAT(key.text, HasSubstr("=== loop: matmul ==="));
  }
  EXPECT_THAT(names, ::testing::ElementsAre("whole", "broken"));
}

TEST_F(Guesses, AreNoTimesToLearnFrom) {
  const auto sets = label_store(path(), 1);
  ASSERT_EQ(sets.size(), 1U);
  EXPECT_EQ(sets[0].kernel, "whole");
}

TEST_F(Guesses, StartNoSearch) {
  for (const std::int64_t rows : {64, 96, 40}) EXPECT_THAT(sources(rows), ::testing::ElementsAre("whole")) << rows;
}

TEST_F(Guesses, AreNoSpaces) {
  const auto spaces = read_store(path());
  ASSERT_EQ(spaces.size(), 2U);
  EXPECT_EQ(spaces[0].kernel, "whole");
  EXPECT_EQ(spaces[1].kernel, "broken");
}

TEST_F(Guesses, NoStoreIsMadeWhereThereIsNone) {
  EXPECT_THAT([&] { store_keys(folder_.file("no.db")); }, ThrowsMessage<Error>(HasSubstr("found no such file")));
  EXPECT_FALSE(std::filesystem::exists(folder_.file("no.db")));
}

}  // namespace
}  // namespace deplo::engine
