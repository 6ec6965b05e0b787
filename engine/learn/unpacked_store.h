// Makes a store that may be compressed available as a file that SQLite can read.
#pragma once
#include <optional>
#include <string>

#include "core/temporary_folder.h"

namespace deplo::engine {

/// Unpacks a store's .gz file into a temporary folder. Any other file is used in place.
class UnpackedStore {
 public:
  /// Throws Error if the file is damaged or cannot be unpacked.
  explicit UnpackedStore(const std::string& file);
  const std::string& path() const { return path_; }

 private:
  std::optional<TemporaryFolder> folder_;
  std::string path_;
};

/// Returns true for a regular file that begins like an SQLite database, compressed or not.
bool is_store(const std::string& file);

}  // namespace deplo::engine
