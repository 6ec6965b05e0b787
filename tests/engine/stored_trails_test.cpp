// Trails in stores of every version can be replayed after a rule is added, wherever in the pipeline it comes.
#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

#include "core/file.h"
#include "engine/learn/store_keys.h"
#include "engine/loop/kernel.h"
#include "measure/device.h"
#include "measure/store/store.h"
#include "measure/store_fixture.h"
#include "rules/lower.h"
#include "rules/newer_rule.h"

namespace deplo::engine {
namespace {

namespace fs = std::filesystem;

/// Replays the trails of a kernel on a device, each with today's pipeline and with every pipeline that has a new rule.
void replay(const StoreKey& key, measure::Store& store, int& trails) {
  const ir::Program loop = parse_kernel(key.text, {}, key.name);
  const Target target = measure::target_of(key.info);
  for (const measure::KnownTrial& known : store.known_trials(key.kernel, key.device, key.protocol)) {
    const Trail trail = parse_trail(known.trial.trail);
    if (trail[0].knob == "made.up") continue;  // failures that were written by hand
    const auto today = rules::follow(loop, target, trail, rules::TrailIs::whole);
    ASSERT_TRUE(today.ok()) << known.trial.trail << ": " << today.failure().message;
    ++trails;
    for (std::size_t place = 1; place <= rules::pipeline().size(); ++place) {
      const auto rules = rules::with_newer_rule(place);
      const auto then = rules::follow(rules::Lowering(loop, target, {}, rules), trail, rules::TrailIs::whole);
      ASSERT_TRUE(then.ok()) << place << ": " << then.failure().message;
      EXPECT_EQ(then.value().program(), today.value().program()) << place << ": " << print(trail);
    }
  }
}

TEST(StoredTrails, OutliveANewRule) {
  for (const char* name : {"store_v1.sqlite", "store_v2.sqlite", "store_v3.sqlite", "store_v4.sqlite",
                           "store_v5.sqlite", "store_v6.sqlite"}) {
    const measure::TemporaryFolder folder;
    const std::string file = folder.file(name);  // a copy, because opening it migrates it to today's version
    fs::copy_file(fs::path(DEPLO_SOURCE_DIR) / "tests" / "fixtures" / name, file);
    measure::Store store = measure::Store::open(file);
    int trails = 0;
    for (const StoreKey& key : store_keys(file)) replay(key, store, trails);
    EXPECT_GT(trails, 0) << name;
  }
}

}  // namespace
}  // namespace deplo::engine
