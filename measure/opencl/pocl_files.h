// PoCL loads files from its cache folder without checking them. A truncated file (after a full disk or a power cut)
// kills the process with SIGBUS, or runs as another kernel. So PoCL gets a folder to which only this process writes,
// and deplo's own cache (disk_cache.h), which detects damage, keeps the compiled code.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace deplo::measure::opencl {

/// Sets PoCL's cache folder to a folder of this process, which is removed when the process ends (work_folder.h). Must
/// be called before the first use of OpenCL; later calls have no effect. If the folder cannot be created, PoCL uses its
/// own.
void use_own_pocl_folder();

/// Returns the folder of use_own_pocl_folder() and why this process cannot write a file there, such as "/x: No space
/// left on device"; "" if it can, or if there is no such folder.
std::string why_unwritable();

/// Returns why this process cannot write files as long as PoCL's, or "". LLVM ends the process if a file becomes longer
/// than the limit.
std::string why_too_short();

/// PoCL's compiled files for one source. The constructor restores them from the cache; the destructor stores them, with
/// all that was compiled in between. Other drivers write no such files, so nothing is stored for them. No function
/// throws. Not thread-safe.
class PoclFiles {
 public:
  /// Must be called before the program is built. `key`: identifies the source, the options and the driver; it consists
  /// of letters, digits and '-'.
  explicit PoclFiles(std::string key);
  /// Must be called after the build, before the next build begins. `well`: the build succeeded; a failed build is not
  /// stored.
  void built(bool well);
  /// Returns the size in bytes of the machine code that PoCL has generated so far for a kernel of the program; nullopt
  /// if there is none.
  std::optional<std::int64_t> code_bytes(const std::string& kernel) const;
  ~PoclFiles();
  PoclFiles(PoclFiles&& other) noexcept : key_(std::exchange(other.key_, "")) {}
  PoclFiles& operator=(PoclFiles&&) = delete;

 private:
  std::string key_;  // "": nothing is stored
};

}  // namespace deplo::measure::opencl
