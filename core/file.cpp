#include "core/file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "core/error.h"

namespace deplo {
namespace fs = std::filesystem;

std::string read_file(const fs::path& file) {
  std::error_code ignored;
  if (fs::is_directory(file, ignored)) throw Error(file.string() + ": expected a file, found a folder");
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream bytes;
  if (stream) bytes << stream.rdbuf();
  if (!stream || stream.bad())
    throw Error(file.string() + ": expected a readable file: " + (errno ? std::strerror(errno) : "reading failed"));
  return std::move(bytes).str();
}

const fs::path& data_folder() {
  static const fs::path folder = [] {
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    if (!error)
      if (fs::path installed = program.parent_path().parent_path() / "share" / "deplo";
          fs::is_directory(installed / "configs", error))
        return installed;
    return fs::path(DEPLO_SOURCE_DIR);
  }();
  return folder;
}

fs::path find_data(const fs::path& path) {
  std::error_code error;
  if (path.is_relative() && !fs::exists(path, error) && fs::exists(data_folder() / path, error))
    return data_folder() / path;
  return path;
}

std::vector<std::string> list_data(std::string_view folder, std::string_view extension) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(data_folder() / folder, error))
    if (entry.path().extension() == extension) names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace deplo
