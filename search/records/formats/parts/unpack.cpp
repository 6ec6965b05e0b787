#include "search/records/formats/parts/unpack.h"

#include <fmt/format.h>
#include <zip.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "core/error.h"
#include "core/text/text.h"
#include "search/records/formats/read.h"

namespace deplo::search::records {
namespace {

// Enough for a cache of a million configurations; a limit for what a small hostile file may unpack to.
constexpr std::size_t max_bytes = std::size_t{1} << 30;
constexpr std::array<std::string_view, 7> endings = {".json", ".jsonl", ".log", ".csv", ".tsv", ".xml", ".wisdom"};
constexpr std::size_t piece = std::size_t{1} << 18;

/// Returns all bytes that `read` gives, piece by piece, until it gives none.
template <class Read>
std::string read_pieces(const std::string& place, Read read) {
  std::string bytes, next(piece, '\0');
  while (const std::size_t count = read(next.data())) {
    if (count > max_bytes - bytes.size()) throw Error(place + ": expected at most 1 GiB when unpacked, found more");
    bytes.append(next, 0, count);
  }
  return bytes;
}

struct Close {
  void operator()(gzFile file) const { gzclose(file); }
  void operator()(zip_t* zip) const { zip_discard(zip); }
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};

// zlib passes on unchanged what is not compressed.
std::string read_gz(const std::string& place) {
  const std::unique_ptr<gzFile_s, Close> file(gzopen(place.c_str(), "rb"));
  if (!file) throw Error(fmt::format("{}: expected a readable file: {}", place, std::strerror(errno)));
  std::string bytes = read_pieces(place, [&](char* to) {
    return static_cast<std::size_t>(std::max(gzread(file.get(), to, static_cast<unsigned>(piece)), 0));
  });
  int error = Z_OK;
  std::string message = gzerror(file.get(), &error);
  if (message.starts_with(place + ": ")) message.erase(0, place.size() + 2);
  if (error != Z_OK && error != Z_STREAM_END)  // also for a cut-off file, whose end was not reached
    throw Error(
        fmt::format("{}: expected a complete gzip file: {}", place, error == Z_ERRNO ? "reading failed" : message));
  return bytes;
}

// Excludes the `._` files that macOS adds to an archive for each file.
bool wanted(std::string_view name) {
  const std::size_t slash = name.rfind('/');
  const std::string_view file = slash == std::string_view::npos ? name : name.substr(slash + 1);
  return !file.starts_with("._") && has_record_ending(file);
}

zip_uint64_t find_entry(zip_t* zip, const std::string& place) {
  zip_int64_t found = -1;
  for (zip_int64_t i = 0; i < zip_get_num_entries(zip, 0); ++i) {
    const char* const name = zip_get_name(zip, static_cast<zip_uint64_t>(i), ZIP_FL_ENC_RAW);
    if (!name || !wanted(name)) continue;
    if (found >= 0)
      throw NotRecorded(place, fmt::format("expected one file in the archive ({}), found several", record_endings()));
    found = i;
  }
  if (found < 0)
    throw NotRecorded(place, fmt::format("expected one file in the archive ({}), found none", record_endings()));
  return static_cast<zip_uint64_t>(found);
}

std::string read_zip(const std::string& archive, const std::string& place) {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* const source = zip_source_buffer_create(archive.data(), archive.size(), 0, &error);
  const std::unique_ptr<zip_t, Close> zip(source ? zip_open_from_source(source, ZIP_RDONLY, &error) : nullptr);
  const std::string message = zip_error_strerror(&error);
  zip_error_fini(&error);
  if (!zip) {
    if (source) zip_source_free(source);
    throw Error(fmt::format("{}: expected a zip archive: {}", place, message));
  }
  const std::unique_ptr<zip_file_t, Close> file(zip_fopen_index(zip.get(), find_entry(zip.get(), place), 0));
  if (!file) throw Error(fmt::format("{}: expected an entry that can be read: {}", place, zip_strerror(zip.get())));
  return read_pieces(place, [&](char* to) {
    const zip_int64_t count = zip_fread(file.get(), to, piece);
    if (count < 0) throw Error(place + ": expected an undamaged zip archive, found a damaged entry");
    return static_cast<std::size_t>(count);
  });
}

}  // namespace

bool has_record_ending(std::string_view name) {
  return std::ranges::any_of(endings, [&](std::string_view ending) { return name.ends_with(ending); });
}

std::string record_endings() { return join(std::vector<std::string>(endings.begin(), endings.end()), ", "); }

std::string read_unpacked(const std::filesystem::path& file) {
  const std::string place = file.string();
  std::error_code failed;
  if (std::filesystem::is_directory(file, failed)) throw Error(place + ": expected a file, found a folder");
  std::string bytes = read_gz(place);
  return bytes.starts_with("PK\x03\x04") ? read_zip(bytes, place) : bytes;
}

}  // namespace deplo::search::records
