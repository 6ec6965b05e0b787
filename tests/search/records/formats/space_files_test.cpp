#include "search/records/formats/space_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "search/records/formats/read.h"

namespace deplo::search::space_files_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr const char* trial = R"({"config_id": "A=1", "outcome": {"Measured": {"median_ms": 0.5}}})";

class SpaceFolder : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void write(const std::string& name, const std::string& text = "{}") const {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }
  /// Returns the paths of the files, relative to the folder.
  std::vector<std::string> names(const SpaceFiles& files) const {
    std::vector<std::string> names;
    for (const SpaceFile& file : files.files()) names.push_back(std::filesystem::relative(file.path, folder_).string());
    return names;
  }

  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("deplo_space_files_" + std::to_string(::getpid()));
};

TEST_F(SpaceFolder, HasTheFilesOfEachFormatInTheOrderOfTheirPaths) {
  for (const char* name : {"x.json", "x_T4.json", "y_T4.json", "b.csv", "b.T1.json", "b.meta.jsonl", "c.meta.jsonl",
                           "z.T1.json", "t.log.gz", "w.wisdom", "k.autotune.json", "deep/er/a.xml", "deep/p.zip",
                           "lines.jsonl", ".hidden.json", ".git/a.json", "notes.txt"})
    write(name);
  EXPECT_THAT(names(SpaceFiles({folder_.string()})),
              ElementsAre("b.csv", "c.meta.jsonl", "deep/er/a.xml", "deep/p.zip", "k.autotune.json", "lines.jsonl",
                          "t.log.gz", "w.wisdom", "x.json", "y_T4.json", "z.T1.json"));
  EXPECT_THAT(SpaceFiles({folder_.string()}).left_out().lines(),
              ElementsAre("left out " + (folder_ / "notes.txt").string() +
                          ": expected a file that ends in .json, .jsonl, .log, .csv, .tsv, .xml, .wisdom or .zip"));
  EXPECT_THAT(
      names(SpaceFiles({(folder_ / "x.json").string(), (folder_ / "deep").string(), folder_ / "deep/../x.json"})),
      ElementsAre("x.json", "deep/er/a.xml", "deep/p.zip"));
}

// Regression test: the name of ./x.csv was "./x", and a comparison had other seeds.
TEST_F(SpaceFolder, HasSpacesWhoseNamesDoNotDependOnTheSpellingOfTheirPaths) {
  write("deep/x.csv", "a,time (ms)\n1,2\n2,3\n");
  for (const char* path : {"deep/x.csv", "deep/./x.csv", "deep/../deep/x.csv", "./deep//x.csv"})
    EXPECT_EQ(read_spaces(folder_ / path).at(0).name, "deep/x") << path;
}

TEST_F(SpaceFolder, LeavesOutWhatIsNoSpaceAndRefusesWhatIsDamaged) {
  write("a.jsonl", trial);
  write("a.csv", "name,age\nA,3\n");
  write("b.csv", "name,age\nB,4\n");
  write("binary.json", std::string("\0\1", 2));
  write("empty.log", "");
  write("settings.json", "{ // comment\n}");
  write("text.log", "2024-01-01 the build begins\nand ends\n");
  SpaceFiles files({folder_.string()});
  std::vector<Records> spaces;
  for (const SpaceFile& file : files.files())
    for (Records& records : files.read(file)) spaces.push_back(std::move(records));
  ASSERT_EQ(spaces.size(), 1u);
  EXPECT_EQ(spaces[0].records.size(), 1u);
  const std::string at = "left out " + folder_.string() + "/";
  EXPECT_THAT(files.left_out().lines(),
              ElementsAre(::testing::AllOf(::testing::StartsWith(at + "a.csv, "), HasSubstr("b.csv: "),
                                           HasSubstr("expected a column of times")),
                          at + "binary.json: expected a recorded space, found binary data",
                          at + "empty.log: expected a recorded space, found nothing",
                          HasSubstr("settings.json: expected a recorded space in JSON: "),
                          HasSubstr("text.log: expected a recorded space, found text that is not a table; ")));
  EXPECT_THAT([] { SpaceFiles({""}); }, ThrowsMessage<Error>(HasSubstr("found an empty one")));
  write("b.jsonl", std::string(trial) + "\n{\"config_id\": 3}\n{}\n");
  SpaceFiles damaged({folder_.string()});
  const auto read_all = [&] {
    for (const SpaceFile& file : damaged.files()) damaged.read(file);
  };
  EXPECT_THAT(read_all, ThrowsMessage<Error>(HasSubstr("b.jsonl:2: expected the config_id of a trial of cutile-rs")));
  // A file that the user names must be a recorded space.
  SpaceFiles named({(folder_ / "a.csv").string()});
  EXPECT_THAT([&] { named.read(named.files()[0]); }, ThrowsMessage<NotRecorded>(HasSubstr("a.csv: expected a column")));
}

TEST_F(SpaceFolder, NamesTheFirstOfManyThatAreLeftOut) {
  for (int i = 0; i < 9; ++i) write("file" + std::to_string(i) + ".txt");
  write("a.jsonl", trial);
  for (int i = 0; i < 13; ++i) write("j" + std::to_string(i) + ".json", "{\"k" + std::to_string(i) + "\": 1}");
  SpaceFiles files({folder_.string()});
  for (const SpaceFile& file : files.files()) files.read(file);
  const std::vector<std::string> lines = files.left_out().lines();
  ASSERT_EQ(lines.size(), 11u);
  EXPECT_THAT(lines[0], HasSubstr("file2.txt and 6 others: "));
  EXPECT_EQ(lines[10], "left out 4 more");
}

TEST_F(SpaceFolder, MustHaveFilesOfSpaces) {
  const auto says = [&](const char* what) {
    EXPECT_THAT([&] { SpaceFiles({folder_.string()}); }, ThrowsMessage<Error>(HasSubstr(what)));
  };
  says("expected recorded spaces (.json, .jsonl, .log, .csv, .tsv, .xml, .wisdom or .zip), found an empty folder");
  write("notes.txt");
  says("found only 1 other file");
}

}  // namespace
}  // namespace deplo::search::space_files_test
