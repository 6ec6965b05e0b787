// PoCL loads files from its cache folder without checking them. A truncated file (after a full disk or a power cut)
// kills the process with SIGBUS, or runs as another kernel. So PoCL gets a folder to which only this process writes,
// and compiled code is kept in deplo's own cache (disk_cache.h), which detects damage.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace deplo::measure::opencl {

/// Sets PoCL's cache folder to a folder of this process, which is removed with it (work_folder.h). Must be called
/// before the first use of OpenCL; later calls change nothing. If the folder cannot be created, PoCL uses its own.
void use_own_pocl_folder();

/// PoCL's compiled files for one source. The constructor restores them from the cache; the destructor stores them, with
/// all that was compiled in between. Other drivers leave no files, so nothing is stored. Nothing here throws; not
/// thread-safe.
class PoclFiles {
 public:
  /// Must be called before the program is built. `key`: identifies the source, the options and the driver; letters,
  /// digits, '-'.
  explicit PoclFiles(std::string key);
  /// Must be called after the build, before the next one begins. `well`: it succeeded; a failed build is not stored.
  void built(bool well);
  /// The size in bytes of the machine code that PoCL has made for a kernel of the program by now; nullopt: none.
  std::optional<std::int64_t> code_bytes(const std::string& kernel) const;
  ~PoclFiles();
  PoclFiles(PoclFiles&& other) noexcept : key_(std::exchange(other.key_, "")) {}
  PoclFiles& operator=(PoclFiles&&) = delete;

 private:
  std::string key_;  // "": nothing is stored
};

}  // namespace deplo::measure::opencl
