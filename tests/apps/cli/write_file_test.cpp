// Files that commands write to paths that users give. A command must never overwrite a store.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <ostream>

#include "apps/run_program.h"
#include "core/file.h"
#include "measure/mount.h"
#include "measure/store_fixture.h"

namespace deplo::testing {
namespace {

using ::testing::HasSubstr;
using Words = std::vector<std::string>;

/// A command line that lacks the name of the file to write.
struct Writer {
  const char* name;
  Words words;
};
void PrintTo(const Writer& one, std::ostream* out) { *out << one.name; }  // for the names of tests
const char* const store = "STORE";  // stands for the store's file in the words below

const Writer writers[] = {
    {"compile", {"compile", "-c", "torch.exp(torch.randn(8))", "--output"}},
    {"export", {"db", "export", "--store", store, "--format", "csv", "-o"}},
    {"points", {"model", "eval", "--store", store, "--points"}},
    {"html", {"report", store, "--output"}},
    {"comparison", {"compare", "--spaces", "SPACE", "--search", "random", "--repeats", "2", "--quiet", "--output"}},
    {"comparison_csv", {"compare", "--spaces", "SPACE", "--search", "random", "--repeats", "2", "--quiet", "--csv"}},
    {"comparison_html", {"compare", "--spaces", "SPACE", "--search", "random", "--repeats", "2", "--quiet", "--html"}},
};

class WriteFile : public ::testing::TestWithParam<Writer> {
 protected:
  WriteFile() {
    make_store("read.db");
    make_store("precious.db");
    std::ofstream csv(file("s.csv"));
    csv << "a,b,time (ms)\n";
    for (int i = 0; i < 30; ++i) csv << i / 5 << ',' << i % 5 << ',' << 10 + i % 7 << '\n';
  }
  void make_store(const std::string& name) {
    measure::Store made = measure::Store::open(file(name));
    measure::Ids ids = measure::add_context(made);
    ids.kernel = made.add_kernel({"twice",
                                  "=== loop: twice ===\ninput x: f32[8]\noutput y: f32[8]\n"
                                  "for a0 in 0..8: # free\n  in0 = load x[a0]\n  v0 = multiply(in0, 2)\n"
                                  "  y[a0] = v0\n"});
    for (int i = 0; i < 5; ++i) made.append(measure::some_trial(ids, i, "a.b=" + std::to_string(i), 10 + i));
  }
  /// Returns the command line without the name of the file to write.
  Words command() const {
    Words words = GetParam().words;
    words.insert(words.begin(), "deplo");
    for (std::string& word : words) word = word == store ? file("read.db") : word == "SPACE" ? file("s.csv") : word;
    return words;
  }
  Ran write_to(const std::string& output) const {
    Words words = command();
    words.push_back(output);
    return run_program(words);
  }
  std::string file(const std::string& name) const { return folder_.file(name); }
  measure::TemporaryFolder folder_;
};

TEST_P(WriteFile, StoresAreLeftAlone) {
  const std::string before = read_file(file("precious.db"));
  const Ran ran = write_to(file("precious.db"));
  EXPECT_EQ(ran.code, 1) << ran.err;
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(ran.err, "deplo: " + file("precious.db") + ": expected a file that may be overwritten, found a database\n");
  EXPECT_EQ(read_file(file("precious.db")), before);
}

TEST_P(WriteFile, OtherFilesAreReplaced) {
  const std::string old(1 << 20, 'x');  // longer than what is written
  write_file(folder_.path(), "old", old);
  write_to(file("old"));
  const std::string text = read_file(file("old"));
  EXPECT_NE(text, "");
  EXPECT_EQ(text.find(old.substr(0, 100)), std::string::npos);
}

TEST_P(WriteFile, TheSystemsReasonIsGiven) {
  for (const auto& [path, reason] : {std::pair(file("none/x"), "No such file or directory"),
                                     std::pair(std::string("/dev/full"), "No space left on device"),
                                     std::pair(folder_.path().string(), "Is a directory")}) {
    const Ran ran = write_to(path);
    EXPECT_EQ(ran.code, 2) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr(path + ": cannot be written: " + reason + "\n"));
  }
}

TEST_P(WriteFile, AFullDiskLeavesTheOldFile) {
  const measure::Mount disk("64k");
  if (!disk.mounted()) GTEST_SKIP() << "no right to mount a tmpfs";
  const std::string old = write_file(disk.path(), "old", std::string(20'000, 'x'));
  disk.fill();
  const Ran ran = write_to(old);
  EXPECT_EQ(ran.code, 2) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr(old + ": cannot be written: No space left on device\n"));
  EXPECT_EQ(read_file(old), std::string(20'000, 'x'));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(disk.path()), {}), 2) << "nothing is left beside it";
}

TEST_P(WriteFile, ModeAndLinksStay) {
  const std::string old = write_file(folder_.path(), "old", "what was there\n");
  std::filesystem::permissions(old, std::filesystem::perms(0640));
  std::filesystem::create_symlink("old", folder_.path() / "link");
  write_to(file("link"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder_.path() / "link"));
  EXPECT_NE(read_file(old), "what was there\n");
  EXPECT_EQ(std::filesystem::status(old).permissions(), std::filesystem::perms(0640));
}

INSTANTIATE_TEST_SUITE_P(Commands, WriteFile, ::testing::ValuesIn(writers),
                         [](const auto& writer) { return std::string(writer.param.name); });

// The command must not read a pipe to find out whether it is a store.
TEST(WriteFilePipe, IsWrittenTo) {
  const measure::TemporaryFolder folder;
  const std::string pipe = folder.file("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  // opened for reading and writing, so that no open waits for the other end
  const int reader = open(pipe.c_str(), O_RDWR | O_NONBLOCK);
  const Words words{"deplo", "compile", "-c", "torch.exp(torch.randn(8))"};
  Words into_pipe = words;
  into_pipe.insert(into_pipe.end(), {"--output", pipe});
  EXPECT_EQ(run_program(into_pipe).code, 0);
  std::string text(1 << 16, ' ');  // the capacity of a pipe
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, read(reader, text.data(), text.size()))));
  close(reader);
  EXPECT_EQ(text, run_program(words).out);
}

}  // namespace
}  // namespace deplo::testing
