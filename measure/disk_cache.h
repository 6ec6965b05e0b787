// A disk cache of compilers' outputs, keyed by the content from which they were compiled.
#pragma once
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace deplo::measure {

/// Entries by key, one file each. Any number of threads and processes may use a folder at the same time. An entry
/// appears as a whole (by rename) or not at all. A damaged entry counts as absent and is deleted. If the folder exceeds
/// its bound, the least recently used entries are deleted. Nothing here throws. If the folder cannot be written,
/// nothing is kept.
class DiskCache {
 public:
  /// The default bound, 1 GiB, holds about 50,000 cubins.
  static constexpr std::uint64_t default_bytes = std::uint64_t{1} << 30;
  explicit DiskCache(std::filesystem::path folder, std::uint64_t max_bytes = default_bytes);
  /// Returns the user's cache: $XDG_CACHE_HOME/deplo or ~/.cache/deplo (XDG Base Directory Specification). If neither
  /// is defined, it keeps nothing.
  static DiskCache& of_user();

  /// Returns the entry of `key`; nullopt if there is none. A key consists of letters, digits, '-' and '_'.
  std::optional<std::string> get(const std::string& key);
  /// Writes an entry. Returns true on success. An older entry of the key stays readable until it is replaced.
  bool put(const std::string& key, std::string_view bytes);
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path file_of(const std::string& key) const;
  void trim();
  std::filesystem::path folder_;  // "": the cache keeps nothing
  std::uint64_t max_bytes_;
  std::mutex mutex_;           // protects the two members below
  std::uint64_t written_ = 0;  // bytes written since the folder's size was last checked
  bool looked_ = false;        // this process has checked the folder's size
};

}  // namespace deplo::measure
