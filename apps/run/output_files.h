// The arrays that `deplo run --outputs` writes.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace deplo::apps {

/// Writes arrays as NumPy files to the folder `path`, or to one NumPy archive if `path` ends in ".npz". Writes nothing
/// without a path. Not thread-safe.
class OutputFiles {
 public:
  /// Creates the folder. Throws Error(environment) if that fails; Error if the path ends in ".npy".
  explicit OutputFiles(const std::optional<std::string>& path);

  bool wanted() const { return !path_.empty(); }
  /// Adds the file NAME.npy with these bytes. In a folder, the file is written at once.
  void add(const std::string& name, std::string bytes);
  /// Writes the archive, after all arrays were added. Throws Error as write_file() does.
  void finish();

 private:
  bool is_archive() const { return path_.ends_with(".npz"); }
  std::string path_;
  std::vector<std::pair<std::string, std::string>> entries_;
};

}  // namespace deplo::apps
