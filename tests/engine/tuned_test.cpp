// Looking schedules up: what runs is what was measured, or the result says that it is not.
#include "engine/compile/tuned.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "core/error.h"
#include "core/file.h"
#include "core/rng.h"
#include "drawn_seeds.h"
#include "engine/compile/kernel_space.h"
#include "engine/loop/kernel.h"
#include "ir/interpret/interpret.h"
#include "measure/store_fixture.h"

namespace deplo::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

measure::DeviceInfo device(const std::string& name) {
  measure::DeviceInfo info;
  info.backend = "opencl";
  info.name = name;
  info.cpu = true;
  info.units = 2;
  return info;
}

const char* const difference = R"(=== loop: difference ===
input left: f32[64, 48]
input right: f32[64, 48]
output out: f32[64, 48]
for a0 in 0..64: # free
  for a1 in 0..48: # free
    in0 = load left[a0, a1]
    in1 = load right[a0, a1]
    v0 = subtract(in0, in1)
    out[a0, a1] = v0
)";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

class Tuned : public ::testing::Test {
 protected:
  Target target_ = load_target("opencl-cpu");

  // Adds a winner to the store, as a tuning run does: the last option of each fork. Returns its trail.
  std::string add(const ir::Program& loop, const std::string& on = "this", const std::string& digest = "") {
    const KernelSpace space(loop, target_);
    search::PositionPtr at = space.root();
    while (at->fork()) at = at->choose(at->fork()->options.size() - 1);
    measure::Store store = measure::Store::open(file());
    const std::int64_t id = store.add_device(device(on));
    measure::TrialRecord trial;
    trial.run = store.add_run({id, "test", "", "random", 0, "here"});
    trial.kernel = store.add_kernel({loop.name, print(loop)});
    trial.trail = print(at->trail());
    trial.digest = digest.empty() ? compile(KernelSpace::lowering(*at)).digest : digest;
    trial.status = Status::ok;
    trial.timing.median_us = 12.5;
    trial.timing.samples = {12.5};
    trial.timing.fidelity = 1;
    trial.stage = measure::Stage::confirm;
    store.append(trial);
    return trial.trail;
  }
  Schedule find(const ir::Program& kernel, bool nearest = false, const std::string& on = "this") {
    return TunedCache(file(), device(on), target_, nearest).find(kernel);
  }
  std::string file() const { return folder_.file("s.db"); }

 private:
  measure::TemporaryFolder folder_;
};

// The kernel has other names and another order of buffers, but the source is the measured one, byte for byte.
TEST_F(Tuned, RunsTheSourceThatWasMeasured) {
  const ir::Program measured = ir::parse(difference);
  const std::string trail = add(measured);
  ir::Program kernel = ir::parse(replaced(replaced(difference, "left", "p"), " out", " q"));
  std::swap(kernel.buffers[0], kernel.buffers[2]);
  const Schedule found = find(kernel);
  EXPECT_EQ(found.origin, Origin::tuned);
  EXPECT_EQ(found.loop, measured);
  EXPECT_THAT(found.arguments, ElementsAre(2, 1, 0));
  EXPECT_EQ(print(found.compiled.trail), trail);
  EXPECT_EQ(found.measured_us, 12.5);
  EXPECT_EQ(found.note, "");
}

// Expects that what runs in place of the kernel computes the same results.
void expect_same_results(const ir::Program& kernel, const Schedule& schedule) {
  Rng rng(3);
  ir::Memory expected, found;
  for (std::size_t i = 0; i < schedule.arguments.size(); ++i) {
    const ir::Buffer& buffer = kernel.buffers[schedule.arguments[i]];
    std::vector<double> values(static_cast<std::size_t>(span(buffer)));
    for (double& value : values) value = rng.uniform(-1, 1);
    found[schedule.loop.buffers[i].name] = values;
    expected[buffer.name] = std::move(values);
  }
  interpret(kernel, expected);
  interpret(schedule.compiled.code.kernel, found);
  for (std::size_t i = 0; i < schedule.arguments.size(); ++i)
    EXPECT_EQ(expected.at(kernel.buffers[schedule.arguments[i]].name), found.at(schedule.loop.buffers[i].name));
}

TEST_F(Tuned, SharesTheScheduleOfAnOperationOfTheSameCluster) {
  const std::string trail = add(ir::parse(difference));
  const ir::Program sum = ir::parse(replaced(replaced(difference, "subtract(in0, in1)", "add(in1, in0)"), "left", "x"));
  const Schedule found = find(sum);
  EXPECT_EQ(found.origin, Origin::shared);
  EXPECT_EQ(print(found.compiled.trail), trail);
  EXPECT_EQ(found.from, "difference");
  expect_same_results(sum, found);
}

TEST_F(Tuned, TakesTheNearestExtentsOnlyWhereItIsAllowed) {
  add(ir::parse(difference));
  add(ir::parse(replaced(replaced(difference, "64", "4096"), "difference", "far")));
  const ir::Program kernel = ir::parse(replaced(difference, "64", "128"));
  EXPECT_EQ(find(kernel).origin, Origin::heuristic);
  const Schedule found = find(kernel, true);
  EXPECT_EQ(found.origin, Origin::nearest);
  EXPECT_EQ(found.from, "difference");
  expect_same_results(kernel, found);
  EXPECT_THAT(find(load_kernel("softmax", {{"M", 8}, {"N", 16}}, "test"), true).note,
              HasSubstr("not tuned with other extents"));
}

TEST_F(Tuned, AnotherSourceThanWasMeasuredIsStale) {
  add(ir::parse(difference), "this", std::string(32, '0'));
  const Schedule found = find(ir::parse(difference));
  EXPECT_EQ(found.origin, Origin::heuristic);
  EXPECT_THAT(found.note, HasSubstr("stale: the trail of trial 1 of difference now gives a different source"));
  EXPECT_THAT(found.note, HasSubstr("deplo tune --store"));
  EXPECT_EQ(find(ir::parse(replaced(difference, "subtract", "add"))).origin, Origin::heuristic);
}

TEST_F(Tuned, AnotherDevicesTimesDoNotCount) {
  add(ir::parse(difference), "other");
  const Schedule found = find(ir::parse(difference), true);
  EXPECT_EQ(found.origin, Origin::heuristic);
  EXPECT_THAT(found.note, HasSubstr("tuned on other ()"));
}

class RequireTuned : public Tuned {
 protected:
  /// Returns the error message for these kernels, or "" if all are tuned.
  std::string missing(const std::vector<ir::Program>& kernels, const std::string& on = "this",
                      double tolerance = measure::default_tolerance) {
    TunedCache cache(file(), device(on), target_, false, tolerance);
    for (const ir::Program& kernel : kernels) cache.find(kernel);
    try {
      cache.require_tuned("--require-tuned");
    } catch (const Error& error) {
      EXPECT_EQ(error.exit(), Exit::user);
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
      return error.what();
    }
    return "";
  }
  static ir::Program with(const std::string& from, const std::string& to) {
    return ir::parse(replaced(difference, from, to));
  }
};

TEST_F(RequireTuned, AcceptsWhatWasMeasured) {
  add(ir::parse(difference));
  EXPECT_EQ(missing({ir::parse(difference)}), "");
  EXPECT_EQ(missing({ir::parse(difference), with("subtract(in0, in1)", "add(in1, in0)")}), "") << "shared";
}

TEST_F(RequireTuned, NamesEachKernelThatIsMissing) {
  add(ir::parse(difference));
  const std::string text = missing({with("64", "128"), ir::parse(difference), with("48", "96")});
  EXPECT_THAT(text, HasSubstr("--require-tuned: 2 kernels have no schedules that were measured on this for opencl-cpu "
                              "in " +
                              file() + ": "));
  EXPECT_THAT(text,
              HasSubstr("difference: the nearest entry is difference: its sizes are (64, 48), (64, 48), (64, 48), "
                        "not (128, 48), (128, 48), (128, 48); difference: the nearest"));
}

TEST_F(RequireTuned, SaysHowTheNearestEntryDiffers) {
  add(ir::parse(difference), "other");
  EXPECT_THAT(missing({ir::parse(difference)}),
              HasSubstr("the nearest entry is difference: it was measured on other, not on this"));
  EXPECT_THAT(missing({with("64", "128")}), HasSubstr("not (128, 48), (128, 48), (128, 48); it was measured on other"));
  // An entry of this device with other sizes counts as near as an entry of another device with these sizes.
  add(ir::parse(replaced(replaced(difference, "64", "4096"), "difference", "far")));
  EXPECT_THAT(missing({ir::parse(difference)}), HasSubstr("the nearest entry is far: its sizes are (4096, 48)"));
  add(ir::parse(replaced(replaced(difference, "64", "256"), "difference", "near")));
  EXPECT_THAT(missing({ir::parse(difference)}), HasSubstr("the nearest entry is near: its sizes are (256, 48)"));
}

TEST_F(RequireTuned, TellsDtypesAndRoundingFromSizes) {
  add(ir::parse(difference));
  for (const char* dtype : {"f16", "bf16"})
    EXPECT_THAT(missing({with("f32", dtype)}), HasSubstr(fmt::format("the nearest entry is difference: its dtypes are "
                                                                     "f32, f32, f32, not {0}, {0}, {0}",
                                                                     dtype)));
  ir::Program rounded = ir::parse(difference);
  rounded.allow_tf32 = true;
  EXPECT_THAT(missing({rounded}), HasSubstr("the nearest entry is difference: it may not round to tf32"));
}

TEST_F(RequireTuned, NamesTheNearestComputationWhereNoneIsTheSame) {
  EXPECT_THAT((measure::Store::open(file()), missing({ir::parse(difference)})), HasSubstr("the store has no times"));
  add(ir::parse(difference));
  add(load_kernel("softmax", {{"M", 8}, {"N", 16}}, "test"));
  EXPECT_THAT(missing({load_kernel("matmul", {{"M", 8}, {"N", 16}, {"K", 4}}, "test")}),
              HasSubstr("it computes something else"));
}

TEST_F(RequireTuned, AStaleScheduleIsTheNearest) {
  add(ir::parse(difference), "this", std::string(32, '0'));
  EXPECT_THAT(missing({ir::parse(difference)}),
              HasSubstr("difference: stale: the trail of trial 1 of difference now gives a different source"));
}

TEST_F(RequireTuned, TimesOfALaxerCheckDoNotCount) {
  add(ir::parse(difference));
  EXPECT_THAT(missing({ir::parse(difference)}, "this", 1e-9), HasSubstr("checked with a larger tolerance"));
}

// Whatever bytes of the file change, the answer is the measured source, the heuristic's source or one line of error.
TEST_F(Tuned, DamagedStoresNeverGiveAnotherSource) {
  add(ir::parse(difference));
  add(ir::parse(replaced(replaced(difference, "64", "4096"), "difference", "far")));
  const ir::Program kernel = ir::parse(difference);
  const std::string intact = read_file(file());
  const std::string measured = find(kernel).compiled.digest;
  const std::string untuned = TunedCache(std::nullopt, device("none"), target_, false).find(kernel).compiled.digest;
  int tuned = 0, refused = 0;
  for (const std::uint64_t seed : drawn_seeds(1000)) {
    Rng rng(seed);
    std::string bytes = intact;
    for (std::size_t flips = rng.below(16) + 1; flips > 0; --flips)
      bytes[rng.below(bytes.size())] ^= static_cast<char>(1 + rng.below(255));
    if (rng.below(10) == 0) bytes.resize(rng.below(bytes.size()));
    for (const char* suffix : {"-wal", "-shm"}) std::filesystem::remove(file() + suffix);
    std::ofstream(file(), std::ios::binary) << bytes;
    try {
      const Schedule found = find(kernel);
      const bool is_tuned = found.origin == Origin::tuned;
      EXPECT_EQ(found.compiled.digest, is_tuned ? measured : untuned) << "seed " << seed;
      tuned += is_tuned;
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << "seed " << seed << ": " << error.what();
      ++refused;
    }
  }
  EXPECT_GT(tuned, 100);
  EXPECT_GT(refused, 10);
}

TEST_F(Tuned, AFileThatIsNamedMustBeThere) {
  EXPECT_THROW(find(ir::parse(difference)), Error);
  measure::Store::open(file());
  EXPECT_EQ(find(ir::parse(difference)).origin, Origin::heuristic);
}

}  // namespace
}  // namespace deplo::engine
