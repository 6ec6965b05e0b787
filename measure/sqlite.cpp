#include "measure/sqlite.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "core/error.h"

namespace deplo::measure {
namespace {

/// Two tuners that share a file wait for each other's transactions, which take milliseconds; ten seconds is a stuck
/// one.
constexpr int busy_timeout_ms = 10'000;

std::string explain(int code, int system_error, const char* message) {
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
      return fmt::format("locked by another program for more than {} s", busy_timeout_ms / 1000);
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
      return system_error != 0 ? fmt::format("{}: {}", message, std::strerror(system_error)) : message;
    default:  // the system's last error is an old one
      return message;
  }
}

std::string uri(const std::string& path, std::string_view query) {
  std::error_code error;
  const std::string absolute = std::filesystem::absolute(path, error).string();
  std::string text = "file://";
  for (const char c : error ? path : absolute)
    text +=
        c == '%' || c == '?' || c == '#' ? fmt::format("%{:02X}", static_cast<unsigned char>(c)) : std::string(1, c);
  return text.append(query);
}

bool has_log(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path + "-wal", ignored);
}

}  // namespace

std::string read_only_uri(const std::string& path) {
  // A reader makes the files beside the store that readers and writers meet in. Where it may not and there are none,
  // nobody else has the store open.
  const std::filesystem::path folder = std::filesystem::absolute(path).parent_path();
  const bool sealed = !has_log(path) && access(folder.c_str(), W_OK) != 0;
  return uri(path, sealed ? "?mode=ro&immutable=1" : "?mode=ro");
}

Database::Database(std::string path, Access access) : path_(std::move(path)) {
  const bool read = access == Access::read;
  tidy_ = read && !has_log(path_);
  const std::string name = read ? read_only_uri(path_) : uri(path_, "?mode=rwc");
  const int flags = read ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  const int code = sqlite3_open_v2(name.c_str(), &handle_, flags | SQLITE_OPEN_URI, nullptr);
  if (handle_ == nullptr) throw Error(fmt::format("store {}: out of memory", path_), Exit::environment);
  sqlite3_extended_result_codes(handle_, 1);
  sqlite3_busy_timeout(handle_, busy_timeout_ms);
  if (code == SQLITE_OK) return;
  const std::string reason = explain(code, sqlite3_system_errno(handle_), sqlite3_errmsg(handle_));
  sqlite3_close(handle_);
  throw Error(fmt::format("store {}: {}", path_, reason), Exit::environment);
}

Database::~Database() {
  sqlite3_close(handle_);
  if (!tidy_ || !has_log(path_)) return;
  // A connection that may only read leaves the two files that it made. The last one that may write removes them, under
  // SQLite's own locks.
  sqlite3* writer = nullptr;
  if (sqlite3_open_v2(path_.c_str(), &writer, SQLITE_OPEN_READWRITE, nullptr) == SQLITE_OK)
    sqlite3_exec(writer, "PRAGMA user_version", nullptr, nullptr, nullptr);
  sqlite3_close(writer);
}

void Database::fail(int code) const {
  // Only a file of another kind is a mistake of the one who named it, and SQL of the one who wrote it.
  const int primary = code & 0xff;
  const Exit exit = primary == SQLITE_NOTADB || primary == SQLITE_ERROR ? Exit::user : Exit::environment;
  throw Error(fmt::format("store {}: {}", path_, explain(code, sqlite3_system_errno(handle_), sqlite3_errmsg(handle_))),
              exit);
}

int Database::try_execute(const std::string& sql) noexcept {
  return sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
}

void Database::execute(const std::string& sql) {
  if (const int code = try_execute(sql); code != SQLITE_OK) fail(code);
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
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  sqlite3_reset(statement_);  // gives the locks back also after a failure
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

}  // namespace deplo::measure
