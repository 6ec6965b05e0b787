// Private to measure/store: whether a store's files are still those that its connection opened. SQLite does not ask: it
// goes on writing to a file that was deleted or overwritten, and says that all went well.
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
  std::string what;         // "was deleted"
  bool readable = false;    // the connection has all of the store still, in files that have no name any more
  bool other_file = false;  // another one stands in its place
};

/// Of one connection in WAL mode. Not thread-safe.
class StoreWatch {
 public:
  explicit StoreWatch(sqlite::Database&);

  /// nullopt: all is as it was. Costs about 10 µs; up to a second where something looks wrong that a checkpoint of
  /// another process would explain.
  std::optional<StoreLoss> look();
  /// This run is in the store from now on: how another store at the same place is told from it.
  void expect_run(std::int64_t id);
  /// What SQLite made beside the file for this connection.
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
  std::array<std::optional<struct stat>, 3> files_;  // as they were opened; nullopt: there was none
  timespec looked_at_{};                             // when the file's contents were changed last, as far as we know
  std::int64_t short_size_ = -1;                     // bytes of a file that ended early and was whole with its log
  std::int64_t frames_ = 0;                          // of the log, when it was looked at last
  std::int64_t run_ = 0;
  std::string run_identity_;
};

}  // namespace deplo::measure
