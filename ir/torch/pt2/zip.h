// Zip archives: read from a file or from memory, and written to memory.
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace deplo::ir::torch {

/// Throws Error `where: …`. `where`: the file, or the name that was given with the bytes. An entry that is larger than
/// 16 MiB plus 16 times the archive is not read, so that a small hostile file cannot fill the memory. Not
/// thread-safe.
class Zip {
 public:
  explicit Zip(const std::filesystem::path& file);
  Zip(std::string bytes, std::string where);

  const std::string& where() const { return where_; }
  std::uint64_t size() const { return size_; }  // bytes of the archive
  bool has(std::string_view name) const { return entries_.contains(name); }
  /// Of all entries.
  std::vector<std::string> names() const;
  /// The name of the only entry that ends in `suffix` (as a whole path or after a '/'); "" if there is none. Throws
  /// Error if there are several.
  std::string find_suffix(std::string_view suffix) const;
  /// The bytes of an entry. Throws Error if it does not exist, or is damaged or too large.
  std::string read(std::string_view name) const;
  /// The bytes of the entry NAME.npy of a .npz file. Throws Error if it does not exist, with the names that do.
  std::string read_array(const std::string& name) const;

 private:
  struct Handle;
  void list();
  std::string where_;
  std::uint64_t size_ = 0;
  std::shared_ptr<Handle> handle_;
  std::map<std::string, std::uint64_t, std::less<>> entries_;  // name → libzip's number
};

/// The bytes of an archive with these entries (name, bytes), which are not compressed, as numpy.savez writes them.
std::string zipped(const std::vector<std::pair<std::string, std::string>>& entries);

}  // namespace deplo::ir::torch
