#include "measure/work_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/user_cache.h"

namespace deplo::measure {
namespace {

namespace fs = std::filesystem;

/// Locks a file, which the system unlocks when the process ends, however it ends. Returns the file's descriptor; -1 if
/// the file cannot be opened or another process holds the lock.
int lock(const fs::path& file, int how) {
  const int descriptor = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) return -1;
  if (flock(descriptor, how) == 0) return descriptor;
  close(descriptor);
  return -1;
}

fs::path lock_of(const fs::path& folder) { return folder / "lock"; }

/// Removes the folders whose processes are gone: nobody holds their locks.
void remove_abandoned(const fs::path& parent) {
  std::error_code error;
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(parent, error))
    if (entry.is_directory(error)) folders.push_back(entry.path());
  for (const fs::path& folder : folders) {
    const int abandoned = lock(lock_of(folder), LOCK_EX | LOCK_NB);
    if (abandoned < 0) continue;
    fs::remove_all(folder, error);
    close(abandoned);
  }
}

}  // namespace

fs::path WorkFolder::default_parent() {
  if (const char* pocl = std::getenv("POCL_CACHE_DIR"); pocl != nullptr && *pocl != '\0') {
    std::error_code ignored;
    return fs::absolute(pocl, ignored) / "work";
  }
  const fs::path cache = user_cache_folder();
  return cache.empty() ? cache : cache / "work";
}

WorkFolder::WorkFolder(const fs::path& parent) {
  if (parent.empty()) return;
  std::error_code error;
  fs::create_directories(parent, error);
  // Only one process at a time makes a folder, because other processes would remove one that is not locked yet.
  const int making = lock(lock_of(parent), LOCK_EX);
  if (making < 0) return;
  remove_abandoned(parent);
  std::string name = (parent / "XXXXXX").string();
  if (mkdtemp(name.data()) != nullptr) {
    path_ = name;
    lock_ = lock(lock_of(path_), LOCK_EX);
  }
  close(making);
}

WorkFolder::~WorkFolder() {
  std::error_code ignored;
  if (!path_.empty() && owner_ == getpid()) fs::remove_all(path_, ignored);
  if (lock_ >= 0) close(lock_);
}

std::string WorkFolder::write(const std::string& name, const std::string& bytes, const std::string& origin) const {
  const std::string file = (path_ / name).string();
  std::ofstream out(file, std::ios::binary);
  if (!(out << bytes).flush())
    throw Error(fmt::format("{}: the arrays of {} cannot be written", file, origin), Exit::environment);
  return file;
}

}  // namespace deplo::measure
