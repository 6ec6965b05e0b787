// A folder for files of a process and its children that must not outlive the process.
#pragma once
#include <unistd.h>

#include <filesystem>

namespace deplo::measure {

/// Creates a new folder for this process alone. The destructor removes the folder with its contents. The folder of a
/// killed process is removed by the next process that creates a WorkFolder. Nothing here throws.
class WorkFolder {
 public:
  /// Creates the folder in `parent`, and `parent` if necessary.
  explicit WorkFolder(const std::filesystem::path& parent = default_parent());
  ~WorkFolder();
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;

  /// The folder; "" if it could not be created.
  const std::filesystem::path& path() const { return path_; }

  /// Returns the folder "work" in PoCL's cache folder if the user set one (POCL_CACHE_DIR), else in the user's cache
  /// folder. "" if the user has neither a cache folder nor a home.
  static std::filesystem::path default_parent();

 private:
  std::filesystem::path path_;
  const pid_t owner_ = getpid();  // a forked child does not remove the folder
  int lock_ = -1;                 // held while this process runs
};

}  // namespace deplo::measure
