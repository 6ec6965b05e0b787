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

/// A zip archive. The methods throw Error `where: …`. `where`: the file, or the name given with the bytes. An entry
/// that is larger than 16 MiB plus 16 times the archive is not read, so that a small hostile file cannot fill the
/// memory. Not thread-safe.
class Zip {
 public:
  explicit Zip(const std::filesystem::path& file);
  Zip(std::string bytes, std::string where);

  const std::string& where() const { return where_; }
  std::uint64_t size() const { return size_; }  // size of the archive in bytes
  bool has(std::string_view name) const { return entries_.contains(name); }
  /// Returns the names of all entries.
  std::vector<std::string> names() const;
  /// Returns the name of the only entry that ends in `suffix` (as a whole path or after a '/'), or "" if there is none.
  /// Throws Error if there are several.
  std::string find_suffix(std::string_view suffix) const;
  /// Returns the bytes of an entry. Throws Error if the entry does not exist, or is damaged or too large.
  std::string read(std::string_view name) const;
  /// Returns the bytes of the entry NAME.npy of a .npz file. If it does not exist, throws Error with the names that do.
  std::string read_array(const std::string& name) const;

 private:
  struct Handle;
  void list();
  std::string where_;
  std::uint64_t size_ = 0;
  std::shared_ptr<Handle> handle_;
  std::map<std::string, std::uint64_t, std::less<>> entries_;  // name → libzip's number
};

/// Returns the bytes of an archive with these entries (name, bytes). They are not compressed, as in numpy.savez.
std::string zipped(const std::vector<std::pair<std::string, std::string>>& entries);

}  // namespace deplo::ir::torch
