// A store that may be compressed, as a file that SQLite can read.
#pragma once
#include <string>

namespace deplo::engine {

/// Unpacks a .gz file of a store into a temporary file, which the destructor removes; any other file stays where it is.
class UnpackedStore {
 public:
  /// Throws Error if the file is damaged, or if there is no room for the temporary file.
  explicit UnpackedStore(const std::string& file);
  ~UnpackedStore();
  UnpackedStore(const UnpackedStore&) = delete;
  UnpackedStore& operator=(const UnpackedStore&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool temporary_ = false;
};

/// Is it a regular file that is an SQLite database by its first bytes, compressed or not?
bool is_store(const std::string& file);

}  // namespace deplo::engine
