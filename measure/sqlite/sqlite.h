// A thin owner of SQLite connections and statements: every failure becomes one Error with the file's name in it.
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace deplo::measure::sqlite {

/// `create`: makes the file where there is none. `read`: nothing can be written through this connection; also where the
/// user has no right to write, to the file or beside it. `sealed`: read as the file was at its last checkpoint, without
/// locks. `memory`: no file.
enum class Access : std::uint8_t { create, read, sealed, memory };

/// The file's URI for ATTACH, to be read only: also in a folder that is read-only, if nobody writes to the file.
std::string read_only_uri(const std::string& path);

/// Two tuners that share a file wait for each other's transactions, which take milliseconds; a merge or a backup holds
/// it for seconds to minutes. Longer is a stuck program.
inline constexpr std::chrono::seconds longest_lock{300};
/// No statement of ours takes a hundredth of it on a store of 58 MB (85,000 trials). One that does is not of this
/// store: others may put endless queries into a file, as views and triggers.
inline constexpr std::chrono::seconds longest_statement{60};

/// One connection. Waits up to longest_lock for others' locks and says so on standard error after two seconds. Not
/// thread-safe.
class Database {
 public:
  /// Throws Error(environment).
  explicit Database(std::string path, Access = Access::create);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  void execute(const std::string& sql);
  /// The same of a statement for which SQLite does not always wait.
  void execute_when_free(const std::string& sql);
  void wait_for_locks(std::chrono::milliseconds most) { longest_wait_ = most; }
  /// A statement that takes longer from its first step to its last throws Error(environment); 0: never.
  void limit_statements(std::chrono::milliseconds most) { longest_statement_ = most; }
  /// When it is closed nothing is written to the file any more: it is not ours now.
  void write_nothing_at_close();
  /// Lives until shortly before the connection is closed: what SQL functions keep.
  void keep(std::shared_ptr<void> kept) { kept_.push_back(std::move(kept)); }
  /// The first value of the first row, as an integer.
  std::int64_t integer(std::string_view sql);
  std::int64_t last_id() const;
  bool in_transaction() const;
  /// The result code of the statement; no exception.
  int try_execute(const std::string& sql) noexcept;
  [[noreturn]] void fail(int code) const;
  sqlite3* handle() const { return handle_; }
  const std::string& path() const { return path_; }
  /// The clock of limit_statements() begins.
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
  bool tidy_ = false;  // the files beside the store are ours to remove
  std::chrono::milliseconds longest_wait_ = longest_lock, longest_statement_{0};
  Clock::time_point statement_start_{}, wait_start_{};
  bool told_ = false;  // that it waits
  std::vector<std::shared_ptr<void>> kept_;
};

/// All of one database into another, which must be empty. Throws Error(environment).
void copy_database(const Database& from, Database& to);

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

}  // namespace deplo::measure::sqlite
