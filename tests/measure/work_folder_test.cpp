// Work folders are removed after their process has ended, however it ends.
#include "measure/work_folder.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "core/error.h"
#include "measure/store_fixture.h"

namespace deplo::measure {
namespace {

namespace fs = std::filesystem;

std::ptrdiff_t folders_in(const fs::path& parent) {
  const auto all = fs::directory_iterator(parent);
  return std::count_if(begin(all), end(all), [](const auto& entry) { return entry.is_directory(); });
}

/// Starts a process that makes a folder with files in it and waits to be killed.
pid_t start_owner(const fs::path& parent) {
  int ready[2];
  CHECK(pipe(ready) == 0);
  const pid_t owner = fork();
  if (owner == 0) {
    const WorkFolder folder(parent);
    fs::create_directories(folder.path() / "deep");
    std::ofstream(folder.path() / "deep/file") << "x";
    if (write(ready[1], "x", 1) != 1) _exit(1);
    for (;;) pause();
  }
  char one = 0;
  CHECK(read(ready[0], &one, 1) == 1);
  close(ready[0]);
  close(ready[1]);
  return owner;
}

TEST(WorkFolder, GoesWithItsOwner) {
  const TemporaryFolder parent;
  {
    const WorkFolder one(parent.path() / "new"), two(parent.path() / "new");
    ASSERT_NE(one.path(), two.path());
    std::ofstream(one.path() / "file") << "x";
    EXPECT_EQ(folders_in(parent.path() / "new"), 2);
    if (fork() == 0) exit(0);  // the forked copy of the process does not own the folder
    wait(nullptr);
    EXPECT_TRUE(fs::exists(one.path() / "file"));
  }
  EXPECT_EQ(folders_in(parent.path() / "new"), 0);
}

TEST(WorkFolder, OfAKilledProcessGoesWhenTheNextIsMade) {
  const TemporaryFolder parent;
  const pid_t lives = start_owner(parent.path()), dies = start_owner(parent.path());
  EXPECT_EQ(folders_in(parent.path()), 2);
  kill(dies, SIGKILL);
  waitpid(dies, nullptr, 0);
  {
    const WorkFolder own(parent.path());
    EXPECT_EQ(folders_in(parent.path()), 2) << "its own and that of the one that lives";
  }
  kill(lives, SIGKILL);
  waitpid(lives, nullptr, 0);
  { const WorkFolder own(parent.path()); }
  EXPECT_EQ(folders_in(parent.path()), 0);
}

TEST(WorkFolder, IsNowhereWhereNoneCanBe) {
  EXPECT_TRUE(WorkFolder(fs::path()).path().empty());
  const TemporaryFolder folder;
  std::ofstream(folder.file("file")) << "x";
  EXPECT_TRUE(WorkFolder(folder.path() / "file/below").path().empty());
}

}  // namespace
}  // namespace deplo::measure
