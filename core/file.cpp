#include "core/file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "core/error.h"

namespace deplo {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t most_bytes = 64 << 20;  // far beyond any experiment or kernel

}  // namespace

std::string read_file(const fs::path& file) {
  std::error_code ignored;
  if (fs::is_directory(file, ignored)) throw Error(file.string() + ": expected a file, found a folder");
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  std::string bytes;
  // Piece by piece: a device has no size, and some (/dev/zero) no end.
  for (char piece[1 << 16]; stream.read(piece, sizeof piece), stream.gcount() > 0;) {
    bytes.append(piece, static_cast<std::size_t>(stream.gcount()));
    if (bytes.size() > most_bytes)
      throw Error(file.string() + ": expected a file of at most 64 MiB, found a larger one");
  }
  if (!stream.eof() || stream.bad())
    throw Error(file.string() + ": expected a readable file: " + (errno ? std::strerror(errno) : "reading failed"));
  return bytes;
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
