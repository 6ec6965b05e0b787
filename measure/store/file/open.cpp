#include "measure/store/file/open.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>

#include "core/error.h"
#include "measure/store/file/schema.h"
#include "measure/store/kernel_keys.h"
#include "measure/store/pack.h"
#include "measure/store/soundness.h"

namespace deplo::measure {
namespace {

namespace fs = std::filesystem;
const auto current_version = static_cast<std::int64_t>(migrations().size());

void require_writable(const std::string& path, const fs::path& what, const char* kind) {
  if (access(what.c_str(), W_OK) == 0) return;
  throw Error(fmt::format("store {}: {} '{}' is not writable: {}", path, kind, what.string(), std::strerror(errno)),
              Exit::environment);
}

void check_file(const std::string& path) {
  if (path.empty()) throw Error("store: expected a file name, found an empty one");
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) throw Error(fmt::format("store {}: expected a file, found a directory", path));
  if (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored))
    throw Error(fmt::format("store {}: expected a file, found something else", path));
  // SQLite takes a file of one byte for an empty one, because it writes such files itself on file systems of macOS.
  if (fs::file_size(path, ignored) == 1)
    throw Error(fmt::format("store {}: expected a deplo database, found another kind of file", path));
}

/// Throws an Error that names the reason if the path is wrong. SQLite says "unable to open database file" for all of
/// these reasons.
void check_path(const std::string& path) {
  check_file(path);
  std::error_code ignored;
  fs::path folder = fs::path(path).parent_path();
  if (folder.empty()) folder = ".";
  if (!fs::exists(folder, ignored))
    throw Error(fmt::format("store {}: directory '{}' does not exist", path, folder.string()));
  if (!fs::is_directory(folder, ignored))
    throw Error(fmt::format("store {}: '{}' is not a directory", path, folder.string()));
  require_writable(path, folder, "directory");  // the write-ahead log is created next to the file
  if (fs::exists(path, ignored)) require_writable(path, path, "file");
}

/// Returns the file's version. Throws Error for another program's database and for a version that this deplo does not
/// know.
std::int64_t version_of(sqlite::Database& database, const std::string& path) {
  // The order matters: another process may make the file a store between two of these reads, and then the last read
  // sees it.
  const std::int64_t version = database.integer("PRAGMA user_version");
  const bool empty = database.integer("SELECT count(*) FROM sqlite_schema") == 0;
  const bool ours = database.integer("PRAGMA application_id") == application_id;
  if (!ours && !(empty && version == 0))
    throw Error(fmt::format("store {}: expected a deplo database, found another program's", path));
  if (version < 0) throw Error(fmt::format("store {}: expected a version from 0 on, found {}", path, version));
  if (version > current_version)
    throw Error(
        fmt::format("store {}: has version {}, this deplo knows versions up to {}: use a newer deplo or "
                    "another file",
                    path, version, current_version));
  return version;
}

/// Returns the file's version. Waits up to a second while it is 0, because another process may be creating the store;
/// the file then has no tables yet.
std::int64_t version_when_made(sqlite::Database& database, const std::string& path) {
  using namespace std::chrono;
  const auto end = steady_clock::now() + seconds(1);  // creating takes milliseconds; after that the file is just empty
  std::int64_t version = version_of(database, path);
  for (; version == 0 && steady_clock::now() < end; version = version_of(database, path))
    std::this_thread::sleep_for(milliseconds(10));
  return version;
}

/// Throws Error if a view or a virtual table has the name of one of the store's tables. `all`: also if a table is
/// missing.
void check_tables(sqlite::Database& database, const std::string& path, bool all) {
  std::int64_t tables = 0;
  sqlite::Statement found(
      database,
      "SELECT name, type, rootpage FROM sqlite_schema WHERE lower(name) IN ('device', 'run', 'kernel', "
      "'trial', 'running', 'baseline', 'ceiling')");
  for (; found.step(); ++tables)
    if (found.text(1) != "table" || found.integer(2) <= 0)
      throw Error(fmt::format("store {}: expected '{}' to be a table, found a {}", path, found.text(0),
                              found.text(1) == "table" ? "virtual table" : found.text(1)));
  constexpr std::int64_t count = 7;
  if (all && tables < count)
    throw Error(fmt::format("store {}: expected {} tables of deplo, found {}", path, count, tables));
}

void migrate(sqlite::Database& database, const std::string& path) {
  sqlite::Transaction transaction(database);
  // The version is read again under the lock, because another process may have migrated the file in the meantime.
  for (std::int64_t version = version_of(database, path); version < current_version; ++version)
    database.execute(std::string(migrations()[static_cast<std::size_t>(version)]));
  database.execute(fmt::format("PRAGMA application_id = {}", application_id));
  database.execute(fmt::format("PRAGMA user_version = {}", current_version));
  transaction.commit();
}

}  // namespace

std::unique_ptr<sqlite::Database> open_database(const std::string& path, std::chrono::milliseconds longest_wait) {
  check_path(path);
  if (is_pack(path))
    throw Error(fmt::format(
        "store {}: expected a store, which deplo can write to, found a pack (see `deplo db export`)", path));
  auto database = std::make_unique<sqlite::Database>(path);
  database->wait_for_locks(longest_wait);
  const std::int64_t version = version_of(*database, path);
  check_tables(*database, path, version == current_version);
  database->limit_statements(sqlite::longest_statement);
  add_key_functions(*database);
  add_fault_function(*database);
  database->execute_when_free("PRAGMA journal_mode = WAL");
  // A kill of the process loses nothing that was committed. Only a power cut may lose the last commits. Neither damages
  // the file.
  database->execute("PRAGMA synchronous = NORMAL");
  database->execute("PRAGMA foreign_keys = ON");
  if (version < current_version) migrate(*database, path);
  return database;
}

namespace {

/// Opens an existing store for reading and sets `version`. Checks only that the file is a store.
std::unique_ptr<sqlite::Database> open_existing(const std::string& path, std::int64_t& version) {
  check_file(path);
  std::error_code error;
  if (!fs::exists(path, error)) throw Error(fmt::format("store {}: expected a store, found no such file", path));
  if (access(path.c_str(), R_OK) != 0)
    throw Error(fmt::format("store {}: cannot be read: {}", path, std::strerror(errno)), Exit::environment);
  auto database = std::make_unique<sqlite::Database>(path, sqlite::Access::read);
  version = version_when_made(*database, path);
  if (version == 0) throw Error(fmt::format("store {}: expected a deplo database, found an empty file", path));
  return database;
}

/// Checks the tables of a store of the current version, and lets the connection only read.
void prepare_to_read(sqlite::Database& database, const std::string& path) {
  check_tables(database, path, true);
  database.limit_statements(sqlite::longest_statement);
  add_key_functions(database);
  add_fault_function(database);
  database.execute("PRAGMA query_only = ON");
}

/// Returns a copy in memory of a store of an older version, migrated to the current version.
std::unique_ptr<sqlite::Database> migrated_copy(sqlite::Database& older, const std::string& path) {
  check_tables(older, path, false);
  auto copy = std::make_unique<sqlite::Database>(path, sqlite::Access::memory);
  sqlite::copy_database(older, *copy);
  copy->limit_statements(sqlite::longest_statement);
  add_key_functions(*copy);
  migrate(*copy, path);
  return copy;
}

}  // namespace

std::unique_ptr<sqlite::Database> open_read_only(const std::string& path) {
  if (is_pack(path)) {
    auto pack = open_pack(path);
    pack->execute("PRAGMA query_only = ON");
    return pack;
  }
  std::int64_t version = 0;
  auto database = open_existing(path, version);
  if (version < current_version)
    throw Error(fmt::format("store {}: has version {}, expected {}: `deplo db info --migrate {}` brings it up to date",
                            path, version, current_version, path));
  prepare_to_read(*database, path);
  return database;
}

std::unique_ptr<sqlite::Database> open_to_read(const std::string& path) {
  if (is_pack(path)) return open_read_only(path);
  std::int64_t version = 0;
  auto database = open_existing(path, version);
  if (version < current_version) database = migrated_copy(*database, path);
  prepare_to_read(*database, path);
  return database;
}

std::unique_ptr<sqlite::Database> open_in_memory() {
  auto database = std::make_unique<sqlite::Database>("in memory", sqlite::Access::memory);
  add_key_functions(*database);
  add_fault_function(*database);
  migrate(*database, database->path());
  return database;
}

}  // namespace deplo::measure
