#include "engine/learn/recorded.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "apps/compare/strategy_compare.h"
#include "apps/run_program.h"
#include "core/error.h"
#include "core/file.h"
#include "search/records/formats/one_space.h"

namespace deplo::apps {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class Recorded : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("deplo_recorded_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string file(const char* name) const { return (folder_ / name).string(); }
  /// Runs `deplo compare` with random and mcts on a table of 400 configurations.
  testing::Ran compare(const std::vector<std::string>& flags, const testing::How& how = {}) const {
    std::ofstream csv(folder_ / "s.csv");
    csv << "x,y,time (ms)\n";
    for (int x = 0; x < 20; ++x)
      for (int y = 0; y < 20; ++y) csv << x << ',' << y << ',' << 5 + (x - 4) * (x - 4) + y << '\n';
    csv.close();
    std::vector<std::string> words = {"deplo",    "compare",     "--spaces", file("s.csv"),
                                      "--search", "random,mcts", "--quiet"};
    words.insert(words.end(), flags.begin(), flags.end());
    return testing::run_program(words, how);
  }

  std::filesystem::path folder_;
};

search::Records sample() {
  search::RecordsBuilder builder("test");
  builder.add_knob("a b=%", {1, 2, 3});
  builder.add_knob("mode", {"fast one", "", "-", "50%"});
  builder.kernel() = "gemm";
  builder.device() = "A GPU";
  const double launches[] = {10.25, 11.5};
  int i = 0;
  for (const char* mode : {"50%", "fast one", "", "-"})
    builder.add(
        std::vector<Value>{++i, mode},
        {.outcome = {i == 2 ? Status::build_error : Status::ok, i == 2 ? 0 : 10.5 + i, i == 2 ? "no: \"x\"" : ""},
         .build_seconds = 0.5,
         .run_seconds = 21.75e-6},
        i == 2 ? std::span<const double>() : launches);
  return builder.finish();
}

TEST_F(Recorded, WhatIsImportedIsReadAgain) {
  const search::Records records = sample();
  EXPECT_EQ(engine::import_records(records, file("a.db")), 4u);
  EXPECT_TRUE(engine::is_store(file("a.db")));
  const std::vector<search::Records> found = engine::read_store(file("a.db"));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kernel, "gemm");
  EXPECT_EQ(found[0].device, "A GPU");
  ASSERT_EQ(found[0].records.size(), 4u);
  for (std::size_t k = 0; k < 2; ++k) {
    EXPECT_EQ(found[0].knobs[k].name, records.knobs[k].name);
    EXPECT_EQ(found[0].knobs[k].values, records.knobs[k].values);
  }
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(found[0].records[i].outcome.status, records.records[i].outcome.status);
    EXPECT_EQ(found[0].records[i].outcome.message, records.records[i].outcome.message);
    EXPECT_EQ(found[0].records[i].outcome.microseconds, records.records[i].outcome.microseconds);
    EXPECT_EQ(found[0].records[i].build_seconds, 0.5);
    EXPECT_TRUE(std::ranges::equal(found[0].launches_of(found[0].records[i]), records.launches_of(records.records[i])));
    for (std::size_t k = 0; k < 2; ++k) EXPECT_EQ(found[0].value(i, k), records.value(i, k));
  }
  // From a store through each format to another store.
  for (const search::Format format : {search::Format::kernel_tuner, search::Format::t4, search::Format::table}) {
    search::Records again = search::parse_records(search::print_records(found[0], format), "again");
    again.kernel = "gemm";
    again.device = "A GPU";
    const std::string store = file(("b" + std::to_string(static_cast<int>(format)) + ".db").c_str());
    engine::import_records(again, store);
    EXPECT_EQ(search::print_records(engine::read_store(store)[0], format), search::print_records(found[0], format));
  }
}

TEST_F(Recorded, StoresThatAreNotThere) {
  EXPECT_THAT([&] { engine::read_store(file("none.db")); }, ThrowsMessage<Error>(HasSubstr("no such file")));
  EXPECT_FALSE(engine::is_store(file("none.db")));
  EXPECT_FALSE(std::filesystem::exists(file("none.db")));
}

TEST(Entrants, SettingsAreCheckedAndKeptApart) {
  const auto entrants = parse_entrants({"random", "mcts", "mcts:c=0.1"}, {"c=0.3"});
  EXPECT_EQ(entrants[1].options.parameters.at("c"), "0.3");
  EXPECT_EQ(entrants[2].options.parameters.at("c"), "0.1");
  EXPECT_EQ(entrants[2].label, "mcts:c=0.1");
  EXPECT_TRUE(entrants[0].options.parameters.empty());
  const auto says = [](std::vector<std::string> search, std::vector<std::string> set, const char* what) {
    EXPECT_THAT([&] { parse_entrants(search, set); }, ThrowsMessage<Error>(HasSubstr(what)));
  };
  says({"random", "random"}, {}, "'random' twice");
  says({"rendom"}, {}, "--search: expected a strategy (default, ");
  says({"mcts:c"}, {}, "NAME=VALUE");
  says({"mcts:c=1:c=2"}, {}, "expected each hyperparameter once, found 'c' twice");
  says({"random"}, {"c=1"}, "of one of the strategies");
}

TEST_F(Recorded, FoldersOfEachFormatAreComparedAndTheRestIsNamed) {
  std::ofstream(folder_ / "s.csv") << "a,time (ms)\n1,5\n2,4\n3,3\n4,2\n5,8\n6,7\n";
  std::ofstream(folder_ / "notes.json") << "{}";
  CompareFlags flags;
  flags.spaces = {folder_.string()};
  flags.search = {"random"};
  flags.orders = {"recorded"};
  flags.contest.repeats = 2;
  Progress quiet(stderr, true);
  EXPECT_EQ(compare_strategies(flags, quiet).orders[0].spaces.size(), 1u);
  std::filesystem::remove(folder_ / "s.csv");
  EXPECT_THAT([&] { compare_strategies(flags, quiet); },
              ThrowsMessage<Error>(HasSubstr("--spaces: expected recorded spaces, found none in " + folder_.string())));
  flags.spaces.clear();
  EXPECT_THAT([&] { compare_strategies(flags, quiet); }, ThrowsMessage<Error>(HasSubstr("--spaces FILES or FOLDERS")));
}

// The figures of a long comparison are not lost because of a wrong path.
TEST_F(Recorded, AComparisonThatCannotBeWrittenIsPrinted) {
  const testing::Ran ran = compare({"--repeats", "2", "--output", file("no folder/x.json")});
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("x.json: cannot be written"));
  EXPECT_THAT(ran.out, HasSubstr("1 space, 2 repeats"));
}

TEST_F(Recorded, AComparisonDoesNotReplaceItsSpaces) {
  for (const char* flag : {"--output", "--html", "--csv"}) {
    const testing::Ran ran = compare({"--repeats", "2", flag, (folder_ / "." / "s.csv").string()});
    EXPECT_EQ(ran.code, 1) << flag;
    EXPECT_THAT(ran.err, HasSubstr("s.csv: expected a file that may be overwritten, found a space of --spaces"));
    EXPECT_THAT(read_file(file("s.csv")), ::testing::StartsWith("x,y,time (ms)")) << flag;
  }
}

TEST_F(Recorded, AComparisonWithoutResultsKeepsAnEarlierFile) {
  std::ofstream(file("x.json")) << "earlier";
  const testing::Ran ran = compare({"--repeats", "100000", "--output", file("x.json")}, {.signal_after_ms = 1500});
  EXPECT_EQ(ran.code, 130);
  EXPECT_THAT(ran.out, HasSubstr("interrupted before the first space was finished"));
  EXPECT_EQ(read_file(file("x.json")), "earlier");
}

// The table has one device, and one launch of each configuration.
TEST_F(Recorded, FlagsWithoutAnEffectAreRefused) {
  const testing::Ran warm = compare({"--repeats", "2", "--warm-start", "4"});
  EXPECT_EQ(warm.code, 1);
  EXPECT_THAT(warm.err, HasSubstr("--warm-start: expected --spaces of one kernel on several devices"));
  const testing::Ran noisy = compare({"--repeats", "2", "--noise"});
  EXPECT_EQ(noisy.code, 1);
  EXPECT_THAT(noisy.err, HasSubstr("--noise: expected --spaces with several launches of a configuration, found none"));

  std::ofstream csv(folder_ / "launches.csv");
  csv << "x,y,Run1 (ms),Run2 (ms)\n";
  for (int x = 0; x < 20; ++x)
    for (int y = 0; y < 20; ++y) csv << x << ',' << y << ',' << 5 + x + y << ',' << 6 + x + y << '\n';
  csv.close();
  const testing::Ran ran = compare({"--repeats", "2", "--noise", "--spaces", file("launches.csv")});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("launches resampled"));
}

TEST_F(Recorded, AMisspeltOrderIsRefused) {
  EXPECT_THAT(compare({"--order", "recoded"}).err,
              HasSubstr("--order: expected an order (recorded, importance, reversed, shuffled), found 'recoded'"));
}

// Nobody writes to the pipe.
TEST_F(Recorded, ASignalEndsTheReadingOfSpaces) {
  ASSERT_EQ(mkfifo(file("pipe").c_str(), 0600), 0);
  const testing::Ran ran =
      testing::run_program({"deplo", "compare", "--spaces", file("pipe")}, {.signal_after_ms = 300, .signal = SIGTERM});
  EXPECT_EQ(ran.code, 128 + SIGTERM);
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(ran.err, "interrupted while reading --spaces\n");
}

TEST_F(Recorded, ATableOfSpacesIsTheSameTwice) {
  std::ofstream csv(folder_ / "s.csv");
  csv << "a,b,c,time (ms)\n";
  for (int a = 0; a < 12; ++a)
    for (int b = 0; b < 12; ++b)
      for (int c = 0; c < 6; ++c)
        csv << a << ',' << b << ',' << c << ',' << 5 + (a - 4) * (a - 4) + 2 * b + c % 3 << '\n';
  csv.close();
  CompareFlags flags;
  flags.spaces = {file("s.csv")};
  flags.search = {"random", "mcts"};
  flags.orders = {"recorded", "reversed"};
  flags.contest.repeats = 10;
  flags.contest.regret = true;
  Progress progress(stderr, true);
  const Comparison one = compare_strategies(flags, progress);
  flags.contest.threads = 3;
  const Comparison three = compare_strategies(flags, progress);
  EXPECT_EQ(print_comparison(one, true, 0), print_comparison(three, true, 0));
  EXPECT_EQ(print_comparison_json(one), print_comparison_json(three));
  EXPECT_EQ(print_comparison_csv(one), print_comparison_csv(three));
  EXPECT_THAT(print_comparison(one, true, 0),
              ::testing::AllOf(HasSubstr("random"), HasSubstr("864 configurations"), HasSubstr("score by order"),
                               HasSubstr("1 space, 10 repeats")));
  EXPECT_THAT(print_comparison(one, true, 0), HasSubstr("trial 1 is the default configuration on 0 of 1 space"));
  std::istringstream lines(print_comparison(one, true, 60));
  for (std::string line; std::getline(lines, line) && !line.empty() && !line.starts_with("1 space");)
    EXPECT_LE(line.size(), 60u) << line;
  // Numbers that are wider than their columns make the columns wider.
  Comparison poor = one;
  const search::compare::Interval wide{-22345.678, 10345.678};
  for (Ordered& ordered : poor.orders) {
    for (search::compare::Standing& standing : ordered.standings) {
      standing.score = standing.median_score = standing.short_score = -12345.678;
      standing.score_interval = standing.median_interval = standing.regret->selection_interval = wide;
      standing.regret->intervals.fill(wide);
      standing.regret->selection = 12345.678;
    }
    for (search::compare::SpaceResult& space : ordered.spaces)
      for (search::compare::Cell& cell : space.cells) cell.score = cell.short_score = -12345.678;
  }
  EXPECT_THAT(print_comparison(poor, true, 0),
              ::testing::AllOf(HasSubstr("mcts         -12345.678 [-22345.678, 10345.678]"),
                               ::testing::Not(::testing::ContainsRegex("[]0-9a-z]-[0-9]|[0-9]\\["))));
}

}  // namespace
}  // namespace deplo::apps
