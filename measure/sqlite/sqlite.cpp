#include "measure/sqlite/sqlite.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/temporary_folder.h"
#include "core/text/text.h"

namespace deplo::measure::sqlite {
namespace {

std::string uri(const std::string& path, std::string_view query) {
  std::error_code error;
  const std::string absolute = std::filesystem::absolute(path, error).string();
  if (error)
    throw Error(fmt::format("store {}: cannot find the current folder: {}", path, error.message()), Exit::environment);
  std::string text = "file://";
  for (const char c : absolute)
    text +=
        c == '%' || c == '?' || c == '#' ? fmt::format("%{:02X}", static_cast<unsigned char>(c)) : std::string(1, c);
  return text.append(query);
}

bool has_log(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path + "-wal", ignored);
}

/// Returns true if no process writes to the file and this process cannot. Then it is read without locks, because SQLite
/// would have to create files next to it for them.
bool is_sealed(const std::string& path) {
  if (has_log(path)) return false;
  const std::filesystem::path folder = std::filesystem::absolute(path).parent_path();
  return access(folder.c_str(), W_OK) != 0 || access(path.c_str(), W_OK) != 0;
}

}  // namespace

std::string read_only_uri(const std::string& path) {
  return uri(path, is_sealed(path) ? "?mode=ro&immutable=1" : "?mode=ro");
}

Database::Database(std::string path, Access access) : path_(std::move(path)) {
  constexpr int read_only = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
  if (access == Access::memory) open(":memory:", SQLITE_OPEN_READWRITE);
  if (access == Access::create)
    open(uri(path_, "?mode=rwc"), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI);
  if (access == Access::sealed) open(uri(path_, "?mode=ro&immutable=1"), read_only);
  if (access != Access::read) return;
  tidy_ = !has_log(path_);
  open(read_only_uri(path_), read_only);
  try {
    if (!is_readable()) read_a_copy();
  } catch (...) {
    close();
    throw;
  }
}

void Database::open(const std::string& name, int flags) {
  const int code = sqlite3_open_v2(name.c_str(), &handle_, flags, nullptr);
  if (handle_ == nullptr) throw Error(fmt::format("store {}: out of memory", path_), Exit::environment);
  if (code == SQLITE_OK) {
    set_up();
    return;
  }
  const std::string reason = explain(code, sqlite3_system_errno(handle_), sqlite3_errmsg(handle_));
  sqlite3_close(handle_);
  throw Error(fmt::format("store {}: {}", path_, reason), Exit::environment);
}

void Database::set_up() {
  constexpr int steps = 10'000;  // of SQLite's virtual machine between two checks of the clock, about 1 ms
  sqlite3_extended_result_codes(handle_, 1);
  sqlite3_busy_handler(
      handle_, [](void* self, int count) { return static_cast<Database*>(self)->wait(count == 0) ? 1 : 0; }, this);
  sqlite3_progress_handler(
      handle_, steps,
      [](void* self) {
        const auto& database = *static_cast<const Database*>(self);
        const bool limited = database.longest_statement_.count() > 0;
        return limited && Clock::now() - database.statement_start_ > database.longest_statement_ ? 1 : 0;
      },
      this);
}

/// Returns false if the file has a write-ahead log that this process cannot read, because the log's index file is
/// missing or not writable.
bool Database::is_readable() {
  const int code = try_execute("SELECT count(*) FROM sqlite_schema") & 0xff;
  return !has_log(path_) || (code != SQLITE_CANTOPEN && code != SQLITE_READONLY && code != SQLITE_PERM);
}

/// Copies the file and its log to a temporary folder, and reads the copy into memory.
void Database::read_a_copy() {
  const TemporaryFolder folder;
  const std::string copy = folder.file("copy");
  std::error_code error;
  for (const char* end : {"", "-wal"})
    if (!error) std::filesystem::copy_file(path_ + end, copy + end, error);
  if (error) throw Error(fmt::format("store {}: cannot be read: {}", path_, error.message()), Exit::environment);
  std::filesystem::permissions(copy, std::filesystem::perms::owner_all);
  std::filesystem::permissions(copy + "-wal", std::filesystem::perms::owner_all);
  const Database source(copy);
  close();
  open(":memory:", SQLITE_OPEN_READWRITE);
  tidy_ = false;
  copy_database(source, *this);
}

std::string first_bytes(const std::string& file, std::size_t count) {
  std::error_code error;
  const std::string path = std::filesystem::absolute(file, error).string();
  if (error || !std::filesystem::is_regular_file(path, error)) return "";
  sqlite3_vfs* const system = sqlite3_vfs_find(nullptr);
  std::vector<std::max_align_t> memory(static_cast<std::size_t>(system->szOsFile) / sizeof(std::max_align_t) + 1);
  auto* const opened = reinterpret_cast<sqlite3_file*>(memory.data());
  constexpr auto free_name = [](const char* name) { sqlite3_free_filename(const_cast<char*>(name)); };  // SQLite < 3.40
  const std::unique_ptr<const char, decltype(free_name)> name(
      sqlite3_create_filename(path.c_str(), "", "", 0, nullptr));
  int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_MAIN_DB;
  const int code = system->xOpen(system, name.get(), opened, flags, &flags);
  sqlite3_int64 size = 0;
  std::string bytes;
  if (code == SQLITE_OK && opened->pMethods->xFileSize(opened, &size) == SQLITE_OK) {
    bytes.resize(std::min(count, static_cast<std::size_t>(size)));
    if (opened->pMethods->xRead(opened, bytes.data(), static_cast<int>(bytes.size()), 0) != SQLITE_OK) bytes.clear();
  }
  if (opened->pMethods != nullptr) opened->pMethods->xClose(opened);
  return bytes;
}

void copy_database(const Database& from, Database& to) {
  sqlite3_backup* const backup = sqlite3_backup_init(to.handle(), "main", from.handle(), "main");
  if (backup == nullptr) to.fail(sqlite3_extended_errcode(to.handle()));
  const int code = sqlite3_backup_step(backup, -1);
  sqlite3_backup_finish(backup);
  if (code != SQLITE_DONE) to.fail(code);
}

void Database::close() {
  kept_.clear();
  sqlite3_close(handle_);
  handle_ = nullptr;
}

Database::~Database() {
  close();
  if (!tidy_ || !has_log(path_)) return;
  // A read-only connection leaves the two files that it created. A connection that may write removes them when it is
  // the last to close, under SQLite's own locks. So open one here.
  sqlite3* writer = nullptr;
  if (sqlite3_open_v2(path_.c_str(), &writer, SQLITE_OPEN_READWRITE, nullptr) == SQLITE_OK)
    sqlite3_exec(writer, "PRAGMA user_version", nullptr, nullptr, nullptr);
  sqlite3_close(writer);
}

bool Database::wait(bool begin) {
  constexpr auto pause = std::chrono::milliseconds(5), silent = std::chrono::milliseconds(2000);
  const auto now = Clock::now();
  if (begin) {
    wait_start_ = now;
    told_ = false;
  }
  const auto waited = now - wait_start_;
  if (waited >= longest_wait_) return false;
  if (waited >= silent && !told_) {
    const char* const clear = isatty(STDERR_FILENO) != 0 ? "\r\x1b[K" : "";  // clears a line that is rewritten in place
    std::fprintf(stderr, "%sdeplo: waiting for another process that holds %s\n", clear, printable(path_).c_str());
    told_ = true;
  }
  std::this_thread::sleep_for(pause);
  statement_start_ += Clock::now() - now;  // the wait does not count as the statement's time
  return true;
}

void Database::write_nothing_at_close() { sqlite3_db_config(handle_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr); }

std::string Database::explain(int code, int system_error, const char* message) const {
  const bool full = (code & 0xff) == SQLITE_FULL || ((code & 0xff) == SQLITE_IOERR && system_error == ENOSPC);
  if (full) return "no space left on its disk; everything stored before is intact";
  switch (code & 0xff) {
    case SQLITE_NOTADB:
      return "expected a deplo database, found another kind of file";
    case SQLITE_CORRUPT:
      return "the database is damaged (truncated or overwritten); `sqlite3 FILE .recover` saves what can be read";
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return "the file or its directory is read-only";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return fmt::format("locked by another program for more than {:.3g} s",
                         std::chrono::duration<double>(longest_wait_).count());
    case SQLITE_INTERRUPT:
      return fmt::format("a query took more than {:.3g} s, which no store written by deplo needs",
                         std::chrono::duration<double>(longest_statement_).count());
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
      return system_error != 0 ? fmt::format("{}: {}", message, std::strerror(system_error)) : message;
    default:  // the system's last error is from an earlier call
      return message;
  }
}

void Database::fail(int code) const {
  // Only a wrong kind of file and wrong SQL are errors of the user.
  const int primary = code & 0xff;
  const Exit exit = primary == SQLITE_NOTADB || primary == SQLITE_ERROR ? Exit::user : Exit::environment;
  const std::string message =
      fmt::format("store {}: {}", path_, explain(code, sqlite3_system_errno(handle_), sqlite3_errmsg(handle_)));
  if (primary == SQLITE_CORRUPT) throw Damaged(message);
  throw Error(message, exit);
}

int Database::try_execute(const std::string& sql) noexcept {
  start_clock();
  return sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
}

void Database::execute(const std::string& sql) {
  if (const int code = try_execute(sql); code != SQLITE_OK) fail(code);
}

void Database::execute_when_free(const std::string& sql) {
  for (bool begin = true;; begin = false) {
    const int code = try_execute(sql);
    if (code == SQLITE_OK) return;
    if ((code & 0xff) != SQLITE_BUSY || !wait(begin)) fail(code);
  }
}

std::int64_t Database::integer(std::string_view sql) {
  Statement statement(*this, sql);
  CHECK(statement.step());
  return statement.integer(0);
}

std::int64_t Database::last_id() const { return sqlite3_last_insert_rowid(handle_); }
bool Database::in_transaction() const { return sqlite3_get_autocommit(handle_) == 0; }

Statement::Statement(Database& database, std::string_view sql) : database_(database) {
  require(sqlite3_prepare_v3(database.handle(), sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT,
                             &statement_, nullptr));
}

Statement::~Statement() { sqlite3_finalize(statement_); }

void Statement::require(int code) const {
  if (code != SQLITE_OK) database_.fail(code);
}

Statement& Statement::bind(int parameter, std::int64_t value) {
  require(sqlite3_bind_int64(statement_, parameter, value));
  return *this;
}

Statement& Statement::bind(int parameter, double value) {
  require(sqlite3_bind_double(statement_, parameter, value));
  return *this;
}

Statement& Statement::bind(int parameter, std::string_view text) {
  const char* data = text.data() != nullptr ? text.data() : "";  // a null pointer would bind NULL
  require(sqlite3_bind_text64(statement_, parameter, data, text.size(), SQLITE_STATIC, SQLITE_UTF8));
  return *this;
}

Statement& Statement::bind_null(int parameter) {
  require(sqlite3_bind_null(statement_, parameter));
  return *this;
}

bool Statement::step() {
  if (sqlite3_stmt_busy(statement_) == 0) database_.start_clock();
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  sqlite3_reset(statement_);  // releases the locks, even after a failure
  if (code != SQLITE_DONE) database_.fail(code);
  return false;
}

std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_, column); }
double Statement::real(int column) const { return sqlite3_column_double(statement_, column); }
int Statement::columns() const { return sqlite3_column_count(statement_); }
std::string Statement::name(int column) const { return sqlite3_column_name(statement_, column); }
int Statement::type(int column) const { return sqlite3_column_type(statement_, column); }
bool Statement::is_null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }

std::string Statement::text(int column) const {
  const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  return data == nullptr ? "" : std::string(data, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)));
}

}  // namespace deplo::measure::sqlite
