// Private to measure/store: detects that a store's files are no longer those that its connection opened. SQLite does
// not check this: it continues to write to a file that was deleted or overwritten, and reports success.
#pragma once
#include <sys/stat.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "measure/sqlite/sqlite.h"

namespace deplo::measure {

/// What happened to the files.
struct StoreLoss {
  std::string what;         // a text such as "was deleted"
  bool readable = false;    // the connection can still read the whole store, from files without a name
  bool other_file = false;  // another file has taken the store's name
};

/// Watches the files of one connection in WAL mode. Not thread-safe.
class StoreWatch {
 public:
  explicit StoreWatch(sqlite::Database&);

  /// Checks the files. Returns nullopt if nothing was lost. Takes about 10 µs, but up to a second if something looks
  /// wrong that another process's checkpoint could explain.
  std::optional<StoreLoss> look();
  /// From now on, expects this run in the store. A store without it is another store with the same name.
  void expect_run(std::int64_t id);
  /// Removes the log and index files that SQLite created for this connection next to the store.
  void remove_log() const;

 private:
  enum class Part { main, log, index };
  std::string name(Part) const;
  std::optional<StoreLoss> missing(Part) const;
  std::optional<StoreLoss> damaged();
  bool is_hole(std::int64_t at) const;
  std::string identity_of_run(sqlite::Database&) const;
  bool has_run() const;
  bool is_whole() const;

  sqlite::Database& database_;
  std::array<std::optional<struct stat>, 3> files_;  // as they were when opened; nullopt: the file did not exist
  timespec looked_at_{};                             // the file's latest known time of change
  std::int64_t short_size_ = -1;                     // size of a file that was too short, but whole with its log
  std::int64_t frames_ = 0;                          // number of frames in the log at the last look
  std::int64_t run_ = 0;
  std::string run_identity_;
};

}  // namespace deplo::measure
