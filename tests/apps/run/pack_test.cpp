// Packs through the command line: on the device that measured them, and on another device.
#include "measure/store/pack.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "apps/run_program.h"
#include "core/file.h"
#include "measure/store/file/open.h"
#include "measure/store/upkeep/export_pack.h"
#include "measure/store_fixture.h"

namespace deplo::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Json = nlohmann::json;

constexpr const char* packed = "F.softmax(torch.randn(6, 20), dim=-1)";

/// A kernel that was tuned on the interpreter, whose times are the same in every run.
class PackRun : public ::testing::Test {
 protected:
  PackRun() {
    const std::string config = write_file(
        folder_.path(), "e.yaml",
        fmt::format("device: interpreter\nsearch: {{strategy: random}}\nbudget: {{time: 60, trials: 6}}\nkernels:\n"
                    "  - {{expression: \"{}\", name: s}}\n",
                    packed));
    EXPECT_EQ(deplo({"tune", "--config", config, "--store", file("s.db"), "--quiet"}).code, 0);
    pack_ = measure::upkeep::pack_of(*measure::open_read_only(file("s.db")), {});
    EXPECT_EQ(pack_.schedules.size(), 1);
  }

  Ran deplo(std::vector<std::string> words) const {
    words.insert(words.begin(), "deplo");
    return run_program(words, {.environment = {"XDG_CACHE_HOME=" + file("cache")}});
  }
  std::string write(const measure::Pack& pack) const { return write_file(folder_.path(), "a.pack", print(pack)); }
  Ran run(const std::string& pack, std::vector<std::string> flags = {}) const {
    flags.insert(flags.begin(), {"run", "-c", packed, "--device", "interpreter", "--tuned", pack, "--json"});
    return deplo(flags);
  }
  /// Returns the only kernel of a run's report.
  Json kernel(const std::string& pack, const std::vector<std::string>& flags = {}) const {
    const Ran ran = run(pack, flags);
    EXPECT_EQ(ran.code, 0) << ran.err;
    return Json::parse(ran.out)["kernels"][0];
  }
  /// Returns the trail of the store's fastest valid trial, or of the slowest one if `place` is negative.
  std::string trail(int place) const {
    measure::sqlite::Database database(file("s.db"));
    measure::sqlite::Statement row(
        database, fmt::format("SELECT trail FROM trial WHERE status = 'ok' AND changes > 0 GROUP BY trail ORDER BY "
                              "min(median_us) {} LIMIT 1",
                              place < 0 ? "DESC" : ""));
    EXPECT_TRUE(row.step());
    return row.text(0);
  }
  measure::Pack from_elsewhere(const std::string& trail) const {
    measure::Pack pack = pack_;
    pack.devices[0].name = "elsewhere";
    pack.schedules[0].trial.trail = trail;
    return pack;
  }
  std::int64_t own_trials() const {
    return measure::open_read_only(file("cache/deplo/tuned.db"))->integer("SELECT count(*) FROM trial");
  }
  std::string file(const std::string& name) const { return folder_.file(name); }

  measure::TemporaryFolder folder_;
  measure::Pack pack_;
};

TEST_F(PackRun, IsAStoreOnItsOwnDevice) {
  const Ran exported = deplo({"db", "export", "--store", file("s.db"), "--pack", file("a.pack")});
  EXPECT_EQ(exported.out, file("a.pack") + ": 1 schedule of 1 device\n") << exported.err;
  EXPECT_EQ(read_file(file("a.pack")), print(pack_));
  const Json kernel = this->kernel(file("a.pack"), {"--require-tuned"});
  EXPECT_EQ(kernel["schedule"], "tuned");
  EXPECT_EQ(kernel["trail"], pack_.schedules[0].trial.trail);
  EXPECT_FALSE(std::filesystem::exists(file("cache/deplo/tuned.db"))) << "nothing was timed";
  EXPECT_THAT(deplo({"db", "best", file("a.pack")}).out, HasSubstr(pack_.schedules[0].kernel.name));
  EXPECT_EQ(deplo({"report", file("a.pack"), "-o", file("r.html")}).code, 0);
  EXPECT_THAT(deplo({"db", "export", "--store", file("s.db"), "--kernel", "nothing", "--pack", file("b.pack")}).err,
              HasSubstr("expected a kernel of the store"));
}

TEST_F(PackRun, IsMergedIntoStoresAndPacks) {
  const std::string pack = write(pack_);
  const auto added = [&](const std::string& into) {
    const Ran ran = deplo({"db", "merge", into, pack, "--json"});
    EXPECT_EQ(ran.code, 0) << ran.err;
    std::int64_t sum = 0;
    for (const Json& row : Json::parse(ran.out)) sum += row["added"].get<std::int64_t>();
    return sum;
  };
  EXPECT_EQ(added(file("s.db")), 0) << "it was made of this store";
  EXPECT_EQ(added(file("m.db")), 4) << "a device, a run, a kernel and a trial";
  EXPECT_EQ(added(file("m.db")), 0);
  EXPECT_EQ(print(measure::upkeep::pack_of(*measure::open_read_only(file("m.db")), {})), print(pack_));
  EXPECT_EQ(kernel(file("m.db"), {"--require-tuned"})["schedule"], "tuned");
  EXPECT_EQ(deplo({"db", "import", pack, "--store", file("i.db")}).out, pack + ": 1 schedule of 1 device; 1 is new\n");
  EXPECT_EQ(deplo({"db", "import", pack, "--store", file("i.db")}).out,
            pack + ": 1 schedule of 1 device; nothing is new\n");

  const std::string other = write_file(folder_.path(), "b.pack", print(from_elsewhere(trail(0)))), all = file("c.pack");
  EXPECT_EQ(deplo({"db", "merge", all, pack, other}).out, all + ": 2 schedules of 2 devices\n");
  EXPECT_EQ(kernel(all, {"--require-tuned"})["schedule"], "tuned");
  const std::string before = read_file(all);
  EXPECT_EQ(deplo({"db", "merge", all, file("s.db")}).code, 0);
  EXPECT_EQ(read_file(all), before) << "nothing is new";
  const std::string damaged = write_file(folder_.path(), "d.pack", print(pack_) + "{}\n");
  EXPECT_THAT(deplo({"db", "merge", all, damaged}).err, HasSubstr("d.pack:4: expected an object"));
  EXPECT_EQ(read_file(all), before);
}

TEST_F(PackRun, TimesAScheduleOfAnotherMachineOnce) {
  const std::string fast = trail(0), pack = write(from_elsewhere(fast));
  const Json first = kernel(pack, {"--require-tuned"});
  EXPECT_EQ(first["schedule"], "tuned");
  EXPECT_EQ(first["trail"], fast);
  EXPECT_THAT(first["note"].get<std::string>(), AllOf(HasSubstr("measured on elsewhere"), HasSubstr("; kept it")));
  const std::int64_t trials = own_trials();
  EXPECT_EQ(trials, 2);
  EXPECT_EQ(kernel(pack), first);
  EXPECT_EQ(own_trials(), trials) << "the store remembers";
  EXPECT_EQ(kernel(file("cache/deplo/tuned.db"))["trail"], fast);
}

TEST_F(PackRun, RequiresASchedulePerKernelBeforeItTimesAny) {
  const std::string pack = write(from_elsewhere(trail(0)));
  const Ran missing = deplo({"run", "-c", fmt::format("{}, torch.exp(torch.randn(3, 4))", packed), "--device",
                             "interpreter", "--tuned", pack, "--require-tuned"});
  EXPECT_EQ(missing.code, 1) << missing.out;
  EXPECT_THAT(missing.err, HasSubstr("--require-tuned: a kernel has no schedule that was measured"));
  EXPECT_FALSE(std::filesystem::exists(file("cache/deplo/tuned.db"))) << "the other kernel was not timed";
  // A schedule that is equal to the heuristic's needs no timing.
  const Json untuned = Json::parse(deplo({"run", "-c", packed, "--device", "interpreter", "--json"}).out)["kernels"][0];
  const Json same = kernel(write(from_elsewhere(untuned["trail"])), {"--require-tuned"});
  EXPECT_EQ(same["schedule"], "foreign");
  EXPECT_EQ(same["note"], "measured on elsewhere; it is the same as the heuristic's");
  EXPECT_FALSE(std::filesystem::exists(file("cache/deplo/tuned.db")));
}

TEST_F(PackRun, KeepsTheHeuristicsScheduleIfItIsFaster) {
  const std::string slow = trail(-1), pack = write(from_elsewhere(slow));
  const Json kernel = this->kernel(pack);
  const Json untuned = Json::parse(deplo({"run", "-c", packed, "--device", "interpreter", "--json"}).out)["kernels"][0];
  EXPECT_NE(kernel["trail"], slow);
  EXPECT_EQ(kernel["trail"], untuned["trail"]);
  EXPECT_THAT(kernel["note"].get<std::string>(), HasSubstr("kept the heuristic's"));
  EXPECT_LE(kernel["microseconds"], untuned["microseconds"]);
}

TEST_F(PackRun, IsNamedWhereNothingIsTimedAndRefusedForAnotherTarget) {
  const std::string pack = write(from_elsewhere(trail(-1)));
  const Json kernel = this->kernel(pack, {"--no-measure"});
  EXPECT_EQ(kernel["schedule"], "foreign");
  EXPECT_EQ(kernel["trail"], trail(-1));
  EXPECT_EQ(kernel["note"], "measured on elsewhere, not on this device");
  const Ran required = run(pack, {"--no-measure", "--require-tuned"});
  EXPECT_EQ(required.code, 1);
  EXPECT_THAT(required.err, HasSubstr("it was measured on elsewhere"));
  measure::Pack other = from_elsewhere(trail(0));
  other.devices[0].backend = "opencl";
  other.devices[0].cpu = !other.devices[0].cpu;
  const Ran refused = run(write(other));
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("a.pack: expected schedules for"), HasSubstr("(elsewhere)")));
  EXPECT_EQ(std::ranges::count(refused.err, '\n'), 1);
}

TEST_F(PackRun, AScheduleThatIsNotLegalHereIsNotUsed) {
  const Json kernel = this->kernel(write(from_elsewhere("made.up=1")));
  EXPECT_EQ(kernel["schedule"], "heuristic");
  EXPECT_EQ(kernel["note"], "the schedule measured on elsewhere is not legal here");
}

}  // namespace
}  // namespace deplo::testing
