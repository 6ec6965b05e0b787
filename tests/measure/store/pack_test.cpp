// Packs: the text that a store exports, and the result of reading any bytes.
#include "measure/store/pack.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "core/error.h"
#include "core/file.h"
#include "core/rng.h"
#include "measure/store/file/open.h"
#include "measure/store/upkeep/export_pack.h"
#include "measure/store/upkeep/report.h"
#include "measure/store_fixture.h"

namespace deplo::measure {
namespace {

using ::testing::HasSubstr;

const char* const twice_kernel = R"(=== loop: twice ===
input x: f32[64]
output y: f32[64]
for a0 in 0..64: # free
  in0 = load x[a0]
  v0 = add(in0, in0)
  y[a0] = v0
)";

class PackOfStore : public ::testing::Test {
 protected:
  /// Fills the store with two kernels, one of which has two schedules, a graph, a family and an imported space.
  PackOfStore() {
    Store store = Store::open(file());
    Ids ids = add_context(store);
    ids.kernel = store.add_kernel({"twice", twice_kernel});
    for (const double us : {3.5, 2.25}) {
      TrialRecord trial = some_trial(ids, 0, fmt::format("tile.bm={}", us > 3 ? 8 : 16), us);
      trial.timing.samples = {us, us, 9.0};
      trial.timing.batch = trial.timing.sets = 1;
      trial.stage = Stage::confirm;
      trial.changes = 1;
      trial.proof = "proved";
      trial.fingerprint = "0123456789abcdef";
      store.append(trial);
    }
    ids.kernel = store.add_kernel({"other \"text\"\n", "no Loop IR"});
    TrialRecord other = some_trial(ids, 1, "", 7);
    other.timing.samples = {7};
    other.timing.batch = other.timing.sets = 1;
    store.append(other);
    ids.kernel = store.add_kernel({"imported", "a space"});
    TrialRecord imported = some_trial(ids, 2, "a=1", 1);
    imported.protocol = "recorded";
    store.append(imported);
    store.append(GraphRecord{ids.run, "key", "graph", "fuse.x=1", "digest", 20, 10});
    store.append(FamilyRecord{.run = ids.run,
                              .kernel = {"twice", twice_kernel},
                              .key = "form",
                              .name = "f",
                              .rule = "{\"nodes\":[]}",
                              .goal = "worst 0.05",
                              .loss = 0.25});
  }
  std::string file() const { return folder_.file("s.db"); }
  Pack pack() const { return upkeep::pack_of(*open_read_only(file()), {}); }

  TemporaryFolder folder_;
};

TEST_F(PackOfStore, HasTheBestOfEachKernelAndReadsBackTheSame) {
  const Pack made = pack();
  ASSERT_EQ(made.schedules.size(), 2);
  EXPECT_EQ(made.schedules[0].kernel.name, "other \"text\"\n");
  EXPECT_EQ(made.schedules[1].trial.trail, "tile.bm=16");
  EXPECT_EQ(made.graphs.size(), 1);
  const std::string text = print(made);
  EXPECT_EQ(std::ranges::count(text, '\n'), 6) << text;
  const Pack read = parse_pack(text, "pack");
  EXPECT_EQ(print(read), text);
  EXPECT_EQ(read.devices, made.devices);
  EXPECT_EQ(read.schedules[1].trial.created, made.schedules[1].trial.created);
  EXPECT_EQ(read.schedules[1].trial.proof, "proved");
  EXPECT_EQ(read.schedules[1].trial.fingerprint, "0123456789abcdef");
}

TEST_F(PackOfStore, IsReadWhereAStoreIsRead) {
  const std::string path = folder_.file("a.pack");
  std::ofstream(path) << print(pack());
  EXPECT_TRUE(is_pack(path));
  EXPECT_FALSE(is_pack(file()));
  Store store = Store::open_to_read(path);
  const auto device = store.find_device(some_device());
  ASSERT_TRUE(device);
  const auto best = store.best(*store.find_kernel(twice_kernel), *device);
  ASSERT_TRUE(best);
  EXPECT_EQ(best->trail, "tile.bm=16");
  EXPECT_EQ(best->timing.median_us, 2.25);
  EXPECT_EQ(store.graph("key", *device)->trail, "fuse.x=1");
  EXPECT_EQ(store.family("form", *device)->rule, "{\"nodes\":[]}");
  EXPECT_EQ(store.family("form", *device)->kernel.text, twice_kernel);
  EXPECT_FALSE(store.family("other", *device).has_value());
  EXPECT_EQ(print(upkeep::pack_of(*open_read_only(path), {})), read_file(path));  // exporting it again loses nothing
  EXPECT_THAT([&] { Store::open(path); }, ::testing::ThrowsMessage<Error>(HasSubstr("found a pack")));
}

TEST_F(PackOfStore, TimesThatCannotBeTrueAreNotUsed) {
  Pack forged = pack();
  forged.schedules[1].trial.timing.median_us = 1e-9;
  const auto database = store_of(forged);
  EXPECT_EQ(database->integer("SELECT count(*) FROM trial WHERE deplo_fault(id) IS NOT NULL"), 1);
}

std::string pack_refusal(const std::string& text) {
  try {
    parse_pack(text, "p");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Pack, SaysInOneLineWhatIsWrong) {
  const std::string start = "{\"deplo_pack\":1}\n";
  EXPECT_EQ(pack_refusal(""), "p: expected a pack of deplo, found an empty file");
  EXPECT_THAT(pack_refusal("{}"), HasSubstr("p:1: expected a pack of deplo"));
  EXPECT_THAT(pack_refusal("{\"deplo_pack\":2}"), HasSubstr("p:1: expected a pack of version 1"));
  EXPECT_THAT(pack_refusal(start + "{"), HasSubstr("p:2: expected a line of JSON"));
  EXPECT_THAT(pack_refusal(start + "[1]"), HasSubstr("p:2: expected an object with one object"));
  EXPECT_THAT(pack_refusal(start + "{\"kernel\":{}}"),
              HasSubstr("p:2: expected device, schedule, graph or family, found 'kernel'"));
  EXPECT_THAT(pack_refusal(start + "{\"device\":{\"name\":\"a\"}}"), HasSubstr("p:2: expected 'backend', found none"));
  EXPECT_THAT(pack_refusal(start + R"({"device":{"backend":"opencl","name":"a","units":18446744073709551615}})"),
              HasSubstr("p:2: expected 'units' to be an integer, found another number"));
  EXPECT_THAT(pack_refusal(start + R"({"device":{"backend":"opencl","name":"a","cores":2}})"),
              HasSubstr("found 'cores'"));
  EXPECT_THAT(pack_refusal(start + R"({"graph":{"device":1,"key":"","trail":"","digest":""}})"),
              HasSubstr("p:2: expected 'device' to be the number of a device above this line, found 1"));
}

/// Returns a pack in which some bytes are changed, removed, repeated or replaced by words of JSON.
std::string damaged_pack(std::string text, Rng& rng) {
  const std::string_view words[] = {"null", "-1", "1e999", "[", "{\"a\":", "\"\\u0000\"", "\n", "99999999999999999999",
                                    "\xff"};
  for (std::size_t i = 0, changes = 1 + rng.below(4); i < changes && !text.empty(); ++i) {
    const std::size_t at = rng.below(text.size()), length = rng.below(1 + std::min<std::size_t>(40, text.size() - at));
    switch (rng.below(4)) {
      case 0:
        text.erase(at, length);
        break;
      case 1:
        text.insert(at, text.substr(rng.below(text.size()), length));
        break;
      case 2:
        text[at] = static_cast<char>(rng.below(256));
        break;
      default:
        text.replace(at, length, words[rng.below(std::size(words))]);
    }
  }
  return text;
}

TEST_F(PackOfStore, DamagedBytesAreReadOrRefusedInOneLine) {
  const std::string sound = print(pack());
  constexpr std::uint64_t seed = 11;
  Rng rng(seed);
  int refused = 0;
  for (int i = 0; i < 3000; ++i) {
    const std::string text = damaged_pack(sound, rng);
    try {
      const Pack read = parse_pack(text, "p");
      EXPECT_EQ(print(parse_pack(print(read), "p")), print(read)) << "case " << i << " of seed " << seed;
      if (i % 20 == 0) store_of(read);
    } catch (const Error& error) {
      ++refused;
      EXPECT_EQ(std::ranges::count(std::string(error.what()), '\n'), 0) << error.what();
    }
  }
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace deplo::measure
