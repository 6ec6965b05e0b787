#include "ir/torch/pt2/zip.h"

#include <fmt/format.h>
#include <zip.h>

#include <array>

#include "core/error.h"
#include "core/text/nearest.h"
#include "core/text/text.h"

namespace deplo::ir::torch {
namespace {

constexpr std::uint64_t max_bytes(std::uint64_t archive) { return (std::uint64_t{16} << 20) + 16 * archive; }

struct CloseFile {
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};

}  // namespace

struct Zip::Handle {
  std::string bytes;  // the archive, if it is read from memory
  zip_t* zip = nullptr;

  Handle() = default;
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (zip) zip_discard(zip);
  }
  // Opens the archive and takes ownership of the source. Throws Error.
  void open(zip_source_t* source, const std::string& where, zip_error_t& error) {
    if (source) zip = zip_open_from_source(source, ZIP_RDONLY, &error);
    if (zip) return;
    const std::string what = zip_error_strerror(&error);
    if (source) zip_source_free(source);
    zip_error_fini(&error);
    throw Error(fmt::format("{}: expected a zip archive: {}", where, what));
  }
};

Zip::Zip(const std::filesystem::path& file) : where_(file.string()), handle_(std::make_shared<Handle>()) {
  std::error_code failed;
  if (std::filesystem::is_directory(file, failed)) throw Error(where_ + ": expected a file, found a folder");
  size_ = std::filesystem::file_size(file, failed);
  if (failed) throw Error(fmt::format("{}: expected a readable file: {}", where_, failed.message()));
  zip_error_t error;
  zip_error_init(&error);
  handle_->open(zip_source_file_create(where_.c_str(), 0, -1, &error), where_, error);
  list();
}

Zip::Zip(std::string bytes, std::string where)
    : where_(std::move(where)), size_(bytes.size()), handle_(std::make_shared<Handle>()) {
  handle_->bytes = std::move(bytes);
  zip_error_t error;
  zip_error_init(&error);
  handle_->open(zip_source_buffer_create(handle_->bytes.data(), size_, 0, &error), where_, error);
  list();
}

void Zip::list() {
  const zip_int64_t entries = zip_get_num_entries(handle_->zip, 0);
  for (zip_int64_t i = 0; i < entries; ++i) {
    const char* name = zip_get_name(handle_->zip, static_cast<zip_uint64_t>(i), ZIP_FL_ENC_RAW);
    if (name) entries_.emplace(name, static_cast<std::uint64_t>(i));
  }
}

std::vector<std::string> Zip::names() const {
  std::vector<std::string> names;
  for (const auto& [name, index] : entries_) names.push_back(name);
  return names;
}

std::string Zip::read_array(const std::string& name) const {
  constexpr std::string_view suffix = ".npy";
  if (has(name + std::string(suffix))) return read(name + std::string(suffix));
  std::vector<std::string> arrays;
  for (const auto& [entry, index] : entries_)
    if (entry.ends_with(suffix)) arrays.push_back(entry.substr(0, entry.size() - suffix.size()));
  throw Error(fmt::format("{}: expected an array '{}', found {}{}", where_, name,
                          arrays.empty() ? "none" : join(arrays, ", "), did_you_mean(name, arrays)));
}

std::string Zip::find_suffix(std::string_view suffix) const {
  std::string found;
  for (const auto& [name, index] : entries_) {
    if (!name.ends_with(suffix)) continue;
    const std::size_t before = name.size() - suffix.size();
    if (before != 0 && name[before - 1] != '/') continue;
    if (!found.empty()) throw Error(fmt::format("{}: expected one '{}', found '{}' too", where_, found, name));
    found = name;
  }
  return found;
}

std::string Zip::read(std::string_view name) const {
  const auto found = entries_.find(name);
  if (found == entries_.end()) throw Error(fmt::format("{}: expected an entry '{}', found none", where_, name));
  const std::uint64_t index = found->second;
  const auto damaged = [&](std::string_view what) {
    return Error(fmt::format("{}: entry '{}': expected readable data: {}", where_, name, what));
  };
  zip_stat_t stat;
  zip_stat_init(&stat);
  if (zip_stat_index(handle_->zip, index, 0, &stat) != 0 || !(stat.valid & ZIP_STAT_SIZE))
    throw damaged(zip_strerror(handle_->zip));
  if (stat.size > max_bytes(size_))
    throw Error(fmt::format("{}: entry '{}': expected at most {} bytes (for this archive), found {}", where_, name,
                            max_bytes(size_), stat.size));
  const std::unique_ptr<zip_file_t, CloseFile> file(zip_fopen_index(handle_->zip, index, 0));
  if (!file) throw damaged(zip_strerror(handle_->zip));
  std::string bytes;
  std::array<char, 1 << 16> piece;
  // Reads past the stated size, because libzip compares the checksum only at the end of the data.
  for (zip_int64_t n = 0; (n = zip_fread(file.get(), piece.data(), piece.size())) != 0;) {
    if (n < 0) throw damaged(zip_file_strerror(file.get()));
    bytes.append(piece.data(), static_cast<std::size_t>(n));
    if (bytes.size() > stat.size) throw damaged("more than the stated size");
  }
  if (bytes.size() != stat.size) throw damaged("less than the stated size");
  return bytes;
}

std::string zipped(const std::vector<std::pair<std::string, std::string>>& entries) {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* const archive = zip_source_buffer_create(nullptr, 0, 0, &error);
  CHECK(archive);
  zip_source_keep(archive);  // zip_close() would free it
  zip_t* const zip = zip_open_from_source(archive, ZIP_CREATE | ZIP_TRUNCATE, &error);
  CHECK(zip);
  for (const auto& [name, bytes] : entries) {
    const zip_int64_t index =
        zip_file_add(zip, name.c_str(), zip_source_buffer(zip, bytes.data(), bytes.size(), 0), ZIP_FL_ENC_UTF_8);
    CHECK(index >= 0);
    zip_set_file_compression(zip, static_cast<zip_uint64_t>(index), ZIP_CM_STORE, 0);
    constexpr zip_uint16_t date = (1 << 5) + 1;  // 1 January 1980, so that equal entries always give equal bytes
    zip_file_set_dostime(zip, static_cast<zip_uint64_t>(index), 0, date, 0);
  }
  CHECK(zip_close(zip) == 0);
  zip_stat_t stat;
  CHECK(zip_source_stat(archive, &stat) == 0 && zip_source_open(archive) == 0);
  std::string bytes(stat.size, '\0');
  CHECK(zip_source_read(archive, bytes.data(), bytes.size()) == static_cast<zip_int64_t>(bytes.size()));
  zip_source_close(archive);
  zip_source_free(archive);
  return bytes;
}

}  // namespace deplo::ir::torch
