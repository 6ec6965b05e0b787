// Where a process, and what it runs, puts files that nobody may find after it.
#pragma once
#include <unistd.h>

#include <filesystem>

namespace deplo::measure {

/// A new folder for this process alone, removed with all that is in it when this goes. What a killed process left is
/// removed by the next one that makes a folder. Nothing here throws.
class WorkFolder {
 public:
  /// In `parent`, which is made: "work" in PoCL's cache folder where the user set one, else in the user's cache.
  explicit WorkFolder(const std::filesystem::path& parent = default_parent());
  ~WorkFolder();
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;

  /// "": there can be none.
  const std::filesystem::path& path() const { return path_; }

  /// "" where the user has neither a cache folder nor a home.
  static std::filesystem::path default_parent();

 private:
  std::filesystem::path path_;
  const pid_t owner_ = getpid();  // a fork of it is another
  int lock_ = -1;                 // held as long as this process lives
};

}  // namespace deplo::measure
