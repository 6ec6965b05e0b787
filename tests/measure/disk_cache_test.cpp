// The cache on disk: lookup, damaged entries, sharing between processes, the size limit.
#include "measure/disk_cache.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>

#include "core/file.h"
#include "core/rng.h"
#include "measure/store_fixture.h"

namespace deplo::measure::disk_cache_test {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
  return files;
}

void write(const fs::path& file, const std::string& text) { std::ofstream(file, std::ios::binary) << text; }

TEST(DiskCache, KeepsBytesByKey) {
  const TemporaryFolder folder;
  DiskCache cache(folder.path() / "deep/er");
  EXPECT_EQ(cache.get("a"), std::nullopt);
  const std::string bytes("with \0 and \n", 12);
  EXPECT_TRUE(cache.put("a", bytes));
  EXPECT_TRUE(cache.put("empty", ""));
  EXPECT_EQ(cache.get("a"), bytes);
  EXPECT_EQ(cache.get("empty"), "");
  EXPECT_EQ(cache.get("b"), std::nullopt);
  EXPECT_TRUE(cache.put("a", "new"));
  EXPECT_EQ(DiskCache(cache.folder()).get("a"), "new") << "another process would see it";
  EXPECT_EQ(files_in(cache.folder()).size(), 2u) << "nothing temporary is left";
}

TEST(DiskCache, KeepsNothingWhereItCannot) {
  DiskCache nowhere((fs::path()));
  EXPECT_FALSE(nowhere.put("a", "x"));
  EXPECT_EQ(nowhere.get("a"), std::nullopt);
  const TemporaryFolder folder;
  write(folder.path() / "file", "");
  DiskCache refused(folder.path() / "file/folder");
  EXPECT_FALSE(refused.put("a", "x"));
  EXPECT_EQ(refused.get("a"), std::nullopt);
}

TEST(DiskCache, DamagedEntriesAreAbsentAndGo) {
  const TemporaryFolder folder;
  DiskCache cache(folder.path());
  Rng rng(3);
  for (int i = 0; i < 200; ++i) {
    cache.put("a", "some bytes that are long enough to be damaged");
    const fs::path file = files_in(folder.path()).at(0);
    std::string text = read_file(file);
    if (i % 3 == 0)
      text.resize(rng.below(text.size()));
    else
      text[rng.below(text.size())] ^= static_cast<char>(1 + rng.below(255));
    write(file, text);
    EXPECT_EQ(cache.get("a"), std::nullopt) << i;
    EXPECT_TRUE(files_in(folder.path()).empty()) << i;
  }
}

TEST(DiskCache, AFolderInPlaceOfAnEntryIsAbsent) {
  const TemporaryFolder folder;
  DiskCache cache(folder.path());
  fs::create_directory(folder.path() / "a.bin");
  EXPECT_EQ(cache.get("a"), std::nullopt);
  EXPECT_TRUE(cache.put("a", "x")) << "an empty one goes";
  EXPECT_EQ(cache.get("a"), "x");
  fs::create_directories(folder.path() / "b.bin/more");
  EXPECT_EQ(cache.get("b"), std::nullopt);
  EXPECT_FALSE(cache.put("b", "x"));
}

TEST(DiskCache, TheLeastRecentlyUsedGo) {
  const TemporaryFolder folder;
  DiskCache cache(folder.path(), 100'000);
  const std::string bytes(1'000, 'x');
  for (int i = 0; i < 90; ++i) cache.put("k" + std::to_string(i), bytes);
  EXPECT_EQ(files_in(folder.path()).size(), 90u);
  const auto age = [&](const std::string& key, int hours) {
    fs::last_write_time(folder.path() / (key + ".bin"), fs::file_time_type::clock::now() - std::chrono::hours(hours));
  };
  for (int i = 0; i < 90; ++i) age("k" + std::to_string(i), 200 - i);
  EXPECT_EQ(cache.get("k0"), bytes) << "used last from now on";
  write(folder.path() / "left.1.2.tmp", "of a process that was killed");
  fs::last_write_time(folder.path() / "left.1.2.tmp", fs::file_time_type::clock::now() - std::chrono::hours(2));
  for (int i = 90; i < 300; ++i) cache.put("k" + std::to_string(i), bytes);
  EXPECT_LE(files_in(folder.path()).size(), 100u);
  EXPECT_GE(files_in(folder.path()).size(), 80u);
  EXPECT_FALSE(fs::exists(folder.path() / "left.1.2.tmp"));
  EXPECT_EQ(cache.get("k1"), std::nullopt);
  EXPECT_EQ(cache.get("k299"), bytes);
}

// Readers never see part of an entry, even while other processes write, delete or damage it.
TEST(DiskCache, ManyProcessesShareAFolder) {
  const TemporaryFolder folder;
  constexpr int processes = 4;
  const auto value = [](int key) {
    return std::string(static_cast<std::size_t>(20'000 + key), static_cast<char>('a' + key));
  };
  std::vector<pid_t> children;
  for (int p = 0; p < processes; ++p) {
    const pid_t child = fork();
    if (child == 0) {
      DiskCache cache(folder.path(), 150'000);  // fits 7 of the 10 entries, so that some are always being deleted
      Rng rng(static_cast<std::uint64_t>(p) + 1);
      bool right = true;
      for (int i = 0; i < 400; ++i) {
        const int key = static_cast<int>(rng.below(10));
        const std::string name = "key" + std::to_string(key);
        if (const auto found = cache.get(name))
          right = right && *found == value(key);
        else
          cache.put(name, value(key));
        if (p == 0 && i % 20 == 0) write(folder.path() / (name + ".bin"), "deplo cache 1\nnot what it was");
      }
      _exit(right ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  for (const fs::path& file : files_in(folder.path())) EXPECT_EQ(file.extension(), ".bin");
}

}  // namespace
}  // namespace deplo::measure::disk_cache_test
