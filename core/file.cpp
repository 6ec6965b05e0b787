#include "core/file.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>

#include "core/error.h"

namespace deplo {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t max_bytes = 64 << 20;  // far beyond any experiment or kernel

/// The shared library that contains this code; "" if the program itself contains it.
const fs::path& own_library() {
  static const fs::path library = [] {
    Dl_info info{};
    link_map* map = nullptr;
    // Any address in this file would do.
    const int found = dladdr1(&max_bytes, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP);
    return found == 0 || map->l_name[0] == '\0' ? fs::path() : fs::absolute(map->l_name);
  }();
  return library;
}

/// Looks for `path` one and two folders above the folder of this code's file, because bin/x and lib/x86_64-linux-gnu/x
/// are one and two folders below the prefix. Returns the nearest path that exists, or "".
fs::path find_installed(const fs::path& path) {
  std::error_code error;
  const fs::path own = own_library().empty() ? fs::read_symlink("/proc/self/exe", error) : own_library();
  fs::path prefix = own.parent_path();
  for (int above = 0; above < 2; ++above) {
    prefix = prefix.parent_path();
    if (fs::exists(prefix / path, error)) return prefix / path;
  }
  return {};
}

}  // namespace

std::string read_file(const fs::path& file) {
  std::error_code ignored;
  if (fs::is_directory(file, ignored)) throw Error(file.string() + ": expected a file, found a folder");
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  std::string bytes;
  // Read in pieces: a device has no size, and some devices (/dev/zero) have no end.
  for (char piece[1 << 16]; stream.read(piece, sizeof piece), stream.gcount() > 0;) {
    bytes.append(piece, static_cast<std::size_t>(stream.gcount()));
    if (bytes.size() > max_bytes)
      throw Error(file.string() + ": expected a file of at most 64 MiB, found a larger one");
  }
  if (!stream.eof() || stream.bad())
    throw Error(file.string() + ": expected a readable file: " + (errno ? std::strerror(errno) : "reading failed"));
  return bytes;
}

std::string read_text(const fs::path& file) {
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  std::string text = read_file(file);
  return text.starts_with(byte_order_mark) ? text.substr(byte_order_mark.size()) : text;
}

const fs::path& data_folder() {
  static const fs::path folder = [] {
    const fs::path configs = find_installed("share/deplo/configs");
    return configs.empty() ? fs::path(DEPLO_SOURCE_DIR) : configs.parent_path();
  }();
  return folder;
}

bool is_library() { return !own_library().empty(); }

fs::path worker_program() {
  if (!is_library()) return "/proc/self/exe";
  fs::path program = find_installed("bin/deplo");
  if (program.empty())
    throw Error("expected the program bin/deplo in a folder above " + own_library().string() + ", found none",
                Exit::environment);
  return program;
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
  fs::directory_iterator entries(data_folder() / folder, error);
  if (error)
    throw Error((data_folder() / folder).string() + ": expected the folder of deplo's own data: " + error.message(),
                Exit::environment);
  for (const auto& entry : entries)
    if (entry.path().extension() == extension) names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace deplo
