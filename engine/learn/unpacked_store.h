// A store that may be compressed, as a file that SQLite can read.
#pragma once
#include <optional>
#include <string>

#include "core/temporary_folder.h"

namespace deplo::engine {

/// Unpacks a .gz file of a store into a temporary folder; any other file stays where it is.
class UnpackedStore {
 public:
  /// Throws Error if the file is damaged, or if it cannot be unpacked.
  explicit UnpackedStore(const std::string& file);
  const std::string& path() const { return path_; }

 private:
  std::optional<TemporaryFolder> folder_;
  std::string path_;
};

/// Is it a regular file that is an SQLite database by its first bytes, compressed or not?
bool is_store(const std::string& file);

}  // namespace deplo::engine
