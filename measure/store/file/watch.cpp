#include "measure/store/file/watch.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string_view>
#include <thread>

#include "core/error.h"

namespace deplo::measure {
namespace {

// https://www.sqlite.org/fileformat2.html and walformat.html
constexpr int header_bytes = 100, page_size_at = 16, page_count_at = 28;
constexpr std::string_view magic("SQLite format 3\0", 16);
constexpr std::int64_t log_header_bytes = 32, frame_header_bytes = 24;
constexpr int index_bytes = 32768, index_page_size_at = 14, index_frames_at = 16;

std::int64_t big_endian(const unsigned char* at, int bytes) {
  std::int64_t value = 0;
  for (int i = 0; i < bytes; ++i) value = value << 8 | at[i];
  return value;
}

/// Returns the page size in bytes. SQLite stores 65,536 as 1.
std::int64_t page_size(std::int64_t stored) { return stored == 1 ? 65'536 : stored; }

// Returns SQLite's own handle of a file; null if there is none. The file is not opened again, because closing another
// handle would release SQLite's locks (POSIX).
sqlite3_file* file_of(const sqlite::Database& database, int which) {
  sqlite3_file* file = nullptr;
  sqlite3_file_control(database.handle(), "main", which, &file);
  return file != nullptr && file->pMethods != nullptr ? file : nullptr;
}

std::optional<struct stat> status(const std::string& path) {
  struct stat found {};
  return stat(path.c_str(), &found) == 0 ? std::optional(found) : std::nullopt;
}

bool same_file(const struct stat& a, const struct stat& b) { return a.st_dev == b.st_dev && a.st_ino == b.st_ino; }

bool same_time(const timespec& a, const timespec& b) { return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec; }

}  // namespace

StoreWatch::StoreWatch(sqlite::Database& database) : database_(database) {
  database_.integer("SELECT count(*) FROM sqlite_schema");  // opens the log and its index
  for (const Part part : {Part::main, Part::log, Part::index})
    files_[static_cast<std::size_t>(part)] = status(name(part));
  if (files_[0]) looked_at_ = files_[0]->st_ctim;
}

std::string StoreWatch::name(Part part) const {
  return database_.path() + (part == Part::log ? "-wal" : part == Part::index ? "-shm" : "");
}

/// Returns a loss if the file no longer has its name; else nullopt.
std::optional<StoreLoss> StoreWatch::missing(Part part) const {
  const auto& opened = files_[static_cast<std::size_t>(part)];
  if (!opened) return std::nullopt;
  const auto now = status(name(part));
  if (now && same_file(*now, *opened)) return std::nullopt;
  std::string what = now               ? "was replaced by another file"
                     : errno == ENOENT ? "was deleted"
                                       : fmt::format("can no longer be reached: {}", std::strerror(errno));
  if (part != Part::main) what = fmt::format("lost its file {}, which {}", name(part), what);
  return StoreLoss{std::move(what), true, part == Part::main && now};
}

/// Returns a loss if the contents of the files cannot be what SQLite wrote; else nullopt.
std::optional<StoreLoss> StoreWatch::damaged() {
  sqlite3_file* const main = file_of(database_, SQLITE_FCNTL_FILE_POINTER);
  if (main == nullptr) return std::nullopt;
  std::array<unsigned char, header_bytes> header{};
  sqlite3_int64 size = 0;
  main->pMethods->xFileSize(main, &size);
  if (main->pMethods->xRead(main, header.data(), header_bytes, 0) != SQLITE_OK) return StoreLoss{"was truncated"};
  if (std::memcmp(header.data(), magic.data(), magic.size()) != 0) return StoreLoss{"was overwritten"};
  const std::int64_t bytes = page_size(big_endian(&header[page_size_at], 2)) * big_endian(&header[page_count_at], 4);
  if (size >= bytes) {
    short_size_ = -1;
  } else if (size != short_size_) {
    if (!is_whole()) return StoreLoss{"was truncated"};
    short_size_ = size;
  }

  const auto log = status(name(Part::log));
  void volatile* shared = nullptr;
  if (!log || main->pMethods->iVersion < 2 || main->pMethods->xShmMap(main, 0, index_bytes, 0, &shared) != SQLITE_OK ||
      shared == nullptr)
    return std::nullopt;
  std::uint16_t log_page = 0;  // in this machine's byte order
  std::uint32_t frames = 0;
  const auto* const index = static_cast<const char*>(const_cast<const void*>(shared));
  std::memcpy(&log_page, index + index_page_size_at, sizeof log_page);
  std::memcpy(&frames, index + index_frames_at, sizeof frames);
  const std::int64_t frame_bytes = page_size(log_page) + frame_header_bytes;
  const std::int64_t known = std::min(frames_, std::int64_t{frames});
  const bool is_short = log->st_size < log_header_bytes + frames * frame_bytes;
  // Frames that this connection has written since then follow those that are gone, so only the hole before them shows
  // the loss.
  if (frames > 0 && (is_short || is_hole(0) || (known > 0 && is_hole(log_header_bytes + (known - 1) * frame_bytes))))
    return StoreLoss{fmt::format("lost a part of {}, which was truncated", name(Part::log))};
  frames_ = frames;
  return std::nullopt;
}

/// Returns true if the log has zeros at this offset, where a header or a frame begins with a number that is not zero.
bool StoreWatch::is_hole(std::int64_t at) const {
  sqlite3_file* const log = file_of(database_, SQLITE_FCNTL_JOURNAL_POINTER);
  std::array<unsigned char, 4> number{};
  return log != nullptr && log->pMethods->xRead(log, number.data(), number.size(), at) == SQLITE_OK &&
         big_endian(number.data(), number.size()) == 0;
}

/// Returns a text that distinguishes the run `run_` from all other runs, also from those in other stores; "" if the
/// database has no such run.
std::string StoreWatch::identity_of_run(sqlite::Database& database) const {
  sqlite::Statement run(database, "SELECT host || ' ' || process || ' ' || started FROM run WHERE id = ?");
  return run.bind(1, run_).step() ? run.text(0) : "";
}

/// Returns true if the file itself, as of the last checkpoint, has the run of expect_run().
bool StoreWatch::has_run() const {
  try {
    sqlite::Database file(database_.path(), sqlite::Access::sealed);
    return identity_of_run(file) == run_identity_;
  } catch (const Error&) {
    return false;
  }
}

/// Returns true if the file and the log together have the whole store. The file alone may not: a checkpoint that a
/// reader cuts short writes only pages up to the reader's version, and no page that has a later version. Until the next
/// checkpoint, the file may end early or have pages that do not fit together.
bool StoreWatch::is_whole() const {
  try {
    sqlite::Database store(database_.path(), sqlite::Access::read);
    store.limit_statements(sqlite::longest_statement);
    return store.integer("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'") == 1 &&
           (run_ == 0 || identity_of_run(store) == run_identity_);
  } catch (const Error&) {
    return false;
  }
}

void StoreWatch::expect_run(std::int64_t id) {
  run_ = id;
  run_identity_ = identity_of_run(database_);
  database_.try_execute("PRAGMA wal_checkpoint(PASSIVE)");  // otherwise only the log may have the run for long
}

void StoreWatch::remove_log() const {
  for (const Part part : {Part::log, Part::index}) {
    const auto& opened = files_[static_cast<std::size_t>(part)];
    const auto now = status(name(part));
    if (now && opened && same_file(*now, *opened)) unlink(name(part).c_str());
  }
}

std::optional<StoreLoss> StoreWatch::look() {
  using namespace std::chrono;
  if (auto loss = missing(Part::main)) return loss;
  const auto end = steady_clock::now() + seconds(1);
  for (;;) {
    const auto now = status(name(Part::main));
    auto loss = damaged();
    if (!loss && now && !same_time(now->st_ctim, looked_at_)) {
      // A checkpoint by this or another process changes the file, and so does copying another store over it. Before the
      // first checkpoint that no reader cuts short, only the log has the expected run.
      if (run_ != 0 && !has_run() && !is_whole()) loss = StoreLoss{"was overwritten", false, true};
      if (!loss) looked_at_ = now->st_ctim;
    }
    if (!loss) break;
    if (auto gone = missing(Part::main)) return gone;  // since then, so another file was read by its name
    if (steady_clock::now() > end) return loss;
    std::this_thread::sleep_for(milliseconds(20));  // during a checkpoint, sound files may look damaged
  }
  for (const Part part : {Part::log, Part::index})
    if (auto loss = missing(part)) return loss;
  return std::nullopt;
}

}  // namespace deplo::measure
