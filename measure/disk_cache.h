// A disk cache of compilers' outputs, keyed by the content that they were made from.
#pragma once
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace deplo::measure {

/// Entries by key, one file each. Any number of threads and processes may use a folder at a time. An entry appears as a
/// whole (by rename) or not at all. A damaged entry counts as absent and is deleted. If the folder outgrows its bound,
/// the least recently used entries are deleted. Nothing here throws; if the folder cannot be written, nothing is kept.
class DiskCache {
 public:
  /// 1 GiB is about 50,000 cubins.
  static constexpr std::uint64_t default_bytes = std::uint64_t{1} << 30;
  explicit DiskCache(std::filesystem::path folder, std::uint64_t most_bytes = default_bytes);
  /// The user's cache: $XDG_CACHE_HOME/deplo or ~/.cache/deplo (XDG Base Directory Specification). If neither exists,
  /// it keeps nothing.
  static DiskCache& of_user();

  /// `key`: letters, digits, '-' and '_'.
  std::optional<std::string> get(const std::string& key);
  /// Returns true if the entry was written. An entry that it replaces stays readable until then.
  bool put(const std::string& key, std::string_view bytes);
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path file_of(const std::string& key) const;
  void trim();
  std::filesystem::path folder_;  // "": none
  std::uint64_t most_bytes_;
  std::mutex mutex_;           // protects the two members below
  std::uint64_t written_ = 0;  // bytes written since the folder's size was last checked
  bool looked_ = false;        // this process has checked the folder's size
};

}  // namespace deplo::measure
