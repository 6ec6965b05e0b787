// A folder for files of this process alone.
#pragma once
#include <string>

namespace deplo {

/// Made in the system's folder for temporary files; the destructor removes it with all that is in it.
class TemporaryFolder {
 public:
  /// Throws Error(environment).
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace deplo
