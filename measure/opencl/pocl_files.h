// PoCL loads files of its cache folder without checking them: a file that lost its end (a full disk, a power cut) kills
// the process by SIGBUS, or is another kernel. So PoCL gets a folder that this process alone writes to, and compiled
// code is kept in our own cache (disk_cache.h), where damage is noticed.
#pragma once
#include <string>
#include <utility>

namespace deplo::measure::opencl {

/// Sets PoCL's cache folder to one of this process that goes with it (work_folder.h). To be called before OpenCL is
/// asked for anything; later calls change nothing. Where there can be none, PoCL uses its own.
void use_own_pocl_folder();

/// What PoCL makes of one source: put back where it was kept, and kept when this goes, with all that was compiled
/// meanwhile. Other drivers leave no files there, and nothing is kept. Nothing here throws; not thread-safe.
class PoclFiles {
 public:
  /// Before the program is built. `key`: of the source, the options and the driver; letters, digits, '-'.
  explicit PoclFiles(std::string key);
  /// After it, before the next is begun. What failed is not kept.
  void built(bool well);
  ~PoclFiles();
  PoclFiles(PoclFiles&& other) noexcept : key_(std::exchange(other.key_, "")) {}
  PoclFiles& operator=(PoclFiles&&) = delete;

 private:
  std::string key_;  // "": nothing is kept
};

}  // namespace deplo::measure::opencl
