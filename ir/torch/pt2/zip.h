// Reading zip archives, from a file or from memory.
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace deplo::ir::torch {

/// Errors are thrown as `where: …`, where `where` is the file, or what was given with the bytes. No entry is read that
/// is larger than 16 MiB and 16 times the archive: a small hostile file cannot fill the memory. Not thread-safe.
class Zip {
 public:
  explicit Zip(const std::filesystem::path& file);
  Zip(std::string bytes, std::string where);

  const std::string& where() const { return where_; }
  std::uint64_t size() const { return size_; }  // of the archive, in bytes
  bool has(std::string_view name) const { return entries_.contains(name); }
  /// The name of the only entry that ends so (as a whole path or after a '/'); "" where there is none.
  std::string find_suffix(std::string_view suffix) const;
  /// The entry's bytes. Throws Error where there is none, or it is damaged or too large.
  std::string read(std::string_view name) const;

 private:
  struct Handle;
  void list();
  std::string where_;
  std::uint64_t size_ = 0;
  std::shared_ptr<Handle> handle_;
  std::map<std::string, std::uint64_t, std::less<>> entries_;  // name → libzip's number
};

}  // namespace deplo::ir::torch
