// A thin owner of SQLite connections and statements: every failure becomes one Error with the file's name in it.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace deplo::measure {

enum class Access : std::uint8_t { create, read };

/// The file's URI for ATTACH, to be read only: also in a folder that is read-only, if nobody writes to the file.
std::string read_only_uri(const std::string& path);

/// One connection. Not thread-safe.
class Database {
 public:
  /// Opens the file; `create`: makes it where there is none. `read`: nothing can be written through this connection.
  explicit Database(std::string path, Access = Access::create);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  void execute(const std::string& sql);
  /// The first value of the first row, as an integer.
  std::int64_t integer(std::string_view sql);
  std::int64_t last_id() const;
  bool in_transaction() const;
  /// The result code of the statement; no exception.
  int try_execute(const std::string& sql) noexcept;
  [[noreturn]] void fail(int code) const;
  sqlite3* handle() const { return handle_; }

 private:
  std::string path_;
  sqlite3* handle_ = nullptr;
  bool tidy_ = false;  // the files beside the store are ours to remove
};

/// A prepared statement. Parameters and columns count from 1 and 0, as in SQLite.
class Statement {
 public:
  Statement(Database& database, std::string_view sql);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Statement& bind(int parameter, std::int64_t value);
  Statement& bind(int parameter, double value);
  /// The text must live until the statement is done.
  Statement& bind(int parameter, std::string_view text);
  Statement& bind_null(int parameter);

  /// True: a row is there. False: done, and ready to be bound and run again.
  bool step();
  std::int64_t integer(int column) const;
  double real(int column) const;
  std::string text(int column) const;
  bool is_null(int column) const;
  int columns() const;
  std::string name(int column) const;
  /// SQLITE_INTEGER, …, of the row's value.
  int type(int column) const;

 private:
  void require(int code) const;
  Database& database_;
  sqlite3_stmt* statement_ = nullptr;
};

/// Takes the write lock at once, so that a later write cannot fail for a reader that became a writer. Rolls back unless
/// committed.
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

}  // namespace deplo::measure
