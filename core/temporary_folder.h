// A temporary folder for the files of this process.
#pragma once
#include <string>

namespace deplo {

/// The folder is created in the system's folder for temporary files. The destructor removes it with its contents.
class TemporaryFolder {
 public:
  /// Throws Error(environment) if the folder cannot be created.
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace deplo
