// Thin owners of SQLite connections and statements. Every failure becomes an Error that names the file.
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"

struct sqlite3;
struct sqlite3_stmt;

namespace deplo::measure::sqlite {

/// Thrown if SQLite finds the file damaged.
class Damaged : public Error {
 public:
  explicit Damaged(const std::string& message) : Error(message, Exit::environment) {}
};

/// How a database is opened. `create`: reads and writes, and creates the file if it does not exist. `read`: the
/// connection cannot write, and the user needs no right to write to the file or its folder. `sealed`: reads the file's
/// state at its last checkpoint, without locks. `memory`: no file.
enum class Access : std::uint8_t { create, read, sealed, memory };

/// Returns a read-only URI of the file for ATTACH. It also works in a read-only folder, if nobody writes to the file.
std::string read_only_uri(const std::string& path);

/// The longest wait for a lock. Two tuners that share a file wait for each other's transactions, which take
/// milliseconds. A merge or a backup locks the file for seconds to minutes. A program that locks it for longer is
/// stuck.
inline constexpr std::chrono::seconds longest_lock{300};
/// The time limit of a statement. No statement of deplo takes a hundredth of this on a store of 58 MB (85,000 trials).
/// A longer one comes from the file: others may have put endless queries into it, as views and triggers.
inline constexpr std::chrono::seconds longest_statement{60};

/// One connection to a database. Waits up to longest_lock for locks of other connections, and reports the wait on
/// standard error after two seconds. Half of its methods wrap SQLite's functions for a connection; the other half opens
/// the database and waits for locks. Not thread-safe.
class Database {
 public:
  /// Throws Error(environment) if the database cannot be opened.
  explicit Database(std::string path, Access = Access::create);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  void execute(const std::string& sql);
  /// Like execute(), for statements for which SQLite itself does not always wait for locks.
  void execute_when_free(const std::string& sql);
  void wait_for_locks(std::chrono::milliseconds limit) { longest_wait_ = limit; }
  /// A statement that takes longer than this from its first step to its last throws Error(environment). 0: no limit.
  void limit_statements(std::chrono::milliseconds limit) { longest_statement_ = limit; }
  /// Closing the connection will write nothing to the file (no checkpoint), because the file is no longer this store's.
  void write_nothing_at_close();
  /// Keeps an object (data of SQL functions) alive until just before the connection is closed.
  void keep(std::shared_ptr<void> kept) { kept_.push_back(std::move(kept)); }
  /// Returns the first value of the first row, as an integer.
  std::int64_t integer(std::string_view sql);
  std::int64_t last_id() const;
  bool in_transaction() const;
  /// Like execute(), but returns the result code instead of throwing.
  int try_execute(const std::string& sql) noexcept;
  [[noreturn]] void fail(int code) const;
  sqlite3* handle() const { return handle_; }
  const std::string& path() const { return path_; }
  /// Restarts the clock of limit_statements().
  void start_clock() { statement_start_ = Clock::now(); }

 private:
  using Clock = std::chrono::steady_clock;
  void open(const std::string& name, int flags);
  void close();
  void set_up();
  bool is_readable();
  void read_a_copy();
  bool wait(bool begin);
  std::string explain(int code, int system_error, const char* message) const;

  std::string path_;
  sqlite3* handle_ = nullptr;
  bool tidy_ = false;  // this connection removes SQLite's files next to the store when it is closed
  std::chrono::milliseconds longest_wait_ = longest_lock, longest_statement_{0};
  Clock::time_point statement_start_{}, wait_start_{};
  bool told_ = false;  // the wait was reported
  std::vector<std::shared_ptr<void>> kept_;
};

/// Returns the first bytes of a regular file, at most `count`; "" for anything else, because reading a pipe could
/// block and would consume its data. Any file that may be a database is read in this way: closing a file that SQLite
/// did not open releases the locks of all connections of this process to it
/// (https://www.sqlite.org/howtocorrupt.html, section 2.2).
std::string first_bytes(const std::string& file, std::size_t count);

/// Copies a whole database into another, which must be empty. Throws Error(environment).
void copy_database(const Database& from, Database& to);

/// A prepared statement. As in SQLite, parameters count from 1 and columns from 0.
class Statement {
 public:
  Statement(Database& database, std::string_view sql);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Statement& bind(int parameter, std::int64_t value);
  Statement& bind(int parameter, double value);
  /// The text must stay valid until the statement is done.
  Statement& bind(int parameter, std::string_view text);
  Statement& bind_null(int parameter);

  /// Returns true if there is a row. Otherwise the statement is done, and can be bound and run again.
  bool step();
  std::int64_t integer(int column) const;
  double real(int column) const;
  std::string text(int column) const;
  bool is_null(int column) const;
  int columns() const;
  std::string name(int column) const;
  /// Returns the type of the value in the current row: SQLITE_INTEGER, …
  int type(int column) const;

 private:
  void require(int code) const;
  Database& database_;
  sqlite3_stmt* statement_ = nullptr;
};

/// A transaction that takes the write lock at its start. Otherwise a later write could fail, because SQLite cannot
/// always turn a reader into a writer. Rolls back unless committed.
class Transaction {
 public:
  explicit Transaction(Database& database) : database_(database) { database_.execute("BEGIN IMMEDIATE"); }
  ~Transaction() {
    if (database_.in_transaction()) database_.try_execute("ROLLBACK");
  }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit() { database_.execute("COMMIT"); }

 private:
  Database& database_;
};

}  // namespace deplo::measure::sqlite
