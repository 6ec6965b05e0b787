// A folder for files of a process and its children that must not outlive the process.
#pragma once
#include <unistd.h>

#include <filesystem>
#include <string>

namespace deplo::measure {

/// Creates a new folder for this process alone. The destructor removes the folder with its contents. The folder of a
/// killed process is removed by the next process that creates a WorkFolder. Only write() throws.
class WorkFolder {
 public:
  /// Creates the folder in `parent`, and `parent` if necessary.
  explicit WorkFolder(const std::filesystem::path& parent = default_parent());
  ~WorkFolder();
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;

  /// The folder; "" if it could not be created.
  const std::filesystem::path& path() const { return path_; }
  /// Writes a file of arrays in the folder, and returns its path. Throws Error(environment) that names their `origin`.
  std::string write(const std::string& name, const std::string& bytes, const std::string& origin) const;

  /// Returns the folder "work" in PoCL's cache folder if the user set one (POCL_CACHE_DIR), else in the user's cache
  /// folder. "" if the user has neither a cache folder nor a home.
  static std::filesystem::path default_parent();

 private:
  std::filesystem::path path_;
  const pid_t owner_ = getpid();  // a forked child does not remove the folder
  int lock_ = -1;                 // held while this process runs
};

}  // namespace deplo::measure
