// What compilers made, on disk, by the content that it was made from.
#pragma once
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace deplo::measure {

/// Entries by key, one file each. Any number of threads and processes may use a folder at a time: an entry appears
/// whole (by rename) or not at all, a damaged one counts as absent and is deleted, and the least recently used go when
/// the folder outgrows its bound. Nothing here throws: where the folder cannot be written, nothing is kept.
class DiskCache {
 public:
  /// 1 GiB is about 50,000 cubins.
  static constexpr std::uint64_t default_bytes = std::uint64_t{1} << 30;
  explicit DiskCache(std::filesystem::path folder, std::uint64_t most_bytes = default_bytes);
  /// The user's: $XDG_CACHE_HOME/deplo or ~/.cache/deplo (XDG Base Directory Specification). Without either it keeps
  /// nothing.
  static DiskCache& of_user();

  /// `key`: letters, digits, '-' and '_'.
  std::optional<std::string> get(const std::string& key);
  /// Was it written? What it replaces stays readable until then.
  bool put(const std::string& key, std::string_view bytes);
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path file_of(const std::string& key) const;
  void trim();
  std::filesystem::path folder_;  // "": none
  std::uint64_t most_bytes_;
  std::mutex mutex_;           // of the two below
  std::uint64_t written_ = 0;  // bytes since the folder was last looked at
  bool looked_ = false;        // at the folder's size, by this process
};

}  // namespace deplo::measure
