#include "measure/disk_cache.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <vector>

#include "core/error.h"
#include "core/hash.h"
#include "core/user_cache.h"

namespace deplo::measure {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view magic = "deplo cache 1\n";
constexpr std::size_t digest_size = 32;

std::string seal(std::string_view bytes) { return std::string(magic) + digest(bytes) + std::string(bytes); }

// Returns the sealed bytes; nullopt if the file is damaged or has another format.
std::optional<std::string> open_seal(const std::string& file) {
  const std::size_t head = magic.size() + digest_size;
  if (file.size() < head || !file.starts_with(magic)) return std::nullopt;
  const std::string_view bytes = std::string_view(file).substr(head);
  if (digest(bytes) != std::string_view(file).substr(magic.size(), digest_size)) return std::nullopt;
  return std::string(bytes);
}

struct File {
  fs::path path;
  fs::file_time_type used;
  std::uint64_t size = 0;
};

/// Returns true if the temporary file "KEY.PROCESS.NUMBER.tmp" was left unfinished: its process is gone, or it was last
/// written more than an hour ago, perhaps on another machine. A process that loses a file that it is still writing only
/// fails to store that entry.
bool abandoned(const File& file) {
  const std::string process = file.path.stem().stem().extension().string();
  const pid_t number = process.size() > 1 ? std::atoi(process.c_str() + 1) : 0;
  return fs::file_time_type::clock::now() - file.used > std::chrono::hours(1) ||
         (number > 0 && kill(number, 0) != 0 && errno == ESRCH);
}

// Returns the entries. Deletes the unfinished files of killed processes.
std::vector<File> files_of(const fs::path& folder) {
  std::vector<File> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    std::error_code gone;  // another process may delete the file at the same time
    File file{entry.path(), entry.last_write_time(gone), 0};
    if (!gone) file.size = entry.file_size(gone);
    if (gone) continue;
    const bool temporary = file.path.extension() == ".tmp";
    if (temporary && abandoned(file)) fs::remove(file.path, gone);
    if (!temporary) files.push_back(std::move(file));
  }
  return files;
}

}  // namespace

DiskCache::DiskCache(fs::path folder, std::uint64_t max_bytes) : folder_(std::move(folder)), max_bytes_(max_bytes) {}

DiskCache& DiskCache::of_user() {
  static DiskCache cache(user_cache_folder());
  return cache;
}

fs::path DiskCache::file_of(const std::string& key) const { return folder_ / (key + ".bin"); }

std::optional<std::string> DiskCache::get(const std::string& key) {
  if (folder_.empty()) return std::nullopt;
  const fs::path path = file_of(key);
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return std::nullopt;
  std::ostringstream file;
  file << stream.rdbuf();   // does not throw if the disk fails or the path is a folder
  std::error_code ignored;  // the folder may belong to another user and be read-only
  auto bytes = open_seal(file.str());
  if (bytes)
    fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);  // now the most recently used entry
  else
    fs::remove(path, ignored);
  return bytes;
}

bool DiskCache::put(const std::string& key, std::string_view bytes) {
  if (folder_.empty()) return false;
  std::error_code error;
  fs::create_directories(folder_, error);
  static std::atomic<std::uint64_t> count = 0;  // numbers this process's temporary files
  const fs::path temporary = folder_ / fmt::format("{}.{}.{}.tmp", key, getpid(), count++);
  std::ofstream stream(temporary, std::ios::binary);
  stream << seal(bytes);
  stream.close();
  if (stream) fs::rename(temporary, file_of(key), error);
  if (!stream || error) {
    fs::remove(temporary, error);
    return false;
  }
  const std::scoped_lock lock(mutex_);
  written_ += bytes.size();
  // trim() walks over all entries, so it is called only after this process's first entry, and then whenever 1/64 of the
  // bound has been added.
  if (!looked_ || written_ > max_bytes_ / 64) trim();
  return true;
}

void DiskCache::trim() {
  looked_ = true;
  written_ = 0;
  std::vector<File> files = files_of(folder_);
  std::uint64_t size = 0;
  for (const File& file : files) size += file.size;
  if (size <= max_bytes_) return;
  std::sort(files.begin(), files.end(), [](const File& a, const File& b) { return a.used < b.used; });
  for (const File& file : files) {
    if (size <= max_bytes_ - max_bytes_ / 8) return;  // leaves room until the next trim()
    std::error_code ignored;
    fs::remove(file.path, ignored);
    size -= file.size;
  }
}

}  // namespace deplo::measure
