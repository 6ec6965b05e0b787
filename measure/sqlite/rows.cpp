#include "measure/sqlite/rows.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include "core/error.h"
#include "core/mapped.h"

namespace deplo::measure::sqlite {
namespace {

void bind(Statement& statement, int parameter, const Cell& cell) {
  if (const auto* integer = std::get_if<std::int64_t>(&cell))
    statement.bind(parameter, *integer);
  else if (const auto* real = std::get_if<double>(&cell))
    statement.bind(parameter, *real);
  else if (const auto* text = std::get_if<std::string>(&cell))
    statement.bind(parameter, std::string_view(*text));
  else
    statement.bind_null(parameter);
}

Cell cell_of(const Statement& row, int column) {
  switch (row.type(column)) {
    case SQLITE_INTEGER:
      return row.integer(column);
    case SQLITE_FLOAT:
      return row.real(column);
    case SQLITE_NULL:
      return {};
    case SQLITE_BLOB: {
      std::string digits;
      for (const char byte : row.text(column)) digits += fmt::format("{:02x}", static_cast<unsigned char>(byte));
      return digits;
    }
    default:
      return row.text(column);
  }
}

template <class T>
const T& value_of(const Cell& cell, const char* expected) {
  if (const T* value = std::get_if<T>(&cell)) return *value;
  throw Error(fmt::format("store: the database is damaged: expected {}, found another type", expected),
              Exit::environment);
}

int allow_reading(void* /*context*/, int action, const char* table, const char* /*b*/, const char* /*c*/,
                  const char* /*d*/) {
  const bool reads =
      action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_FUNCTION || action == SQLITE_RECURSIVE;
  // Functions such as json_each() declare their columns in this way. Nothing else gets through: creating a table needs
  // SQLITE_INSERT first, and an update returns no rows, which behind_first() refuses.
  const bool declares = action == SQLITE_UPDATE && table != nullptr && std::string_view(table) == "sqlite_master";
  return reads || declares ? SQLITE_OK : SQLITE_DENY;
}

/// Returns the text after its first statement; null if that statement cannot be prepared or returns no rows. Sets
/// `code` to SQLite's result, and `empty` if there is no statement.
const char* behind_first(sqlite3* handle, const char* sql, int& code, bool& empty) {
  sqlite3_stmt* statement = nullptr;
  const char* tail = nullptr;
  code = sqlite3_prepare_v2(handle, sql, -1, &statement, &tail);
  empty = statement == nullptr;
  if (!empty && sqlite3_column_count(statement) == 0) code = SQLITE_AUTH;  // VACUUM asks only when it runs
  sqlite3_finalize(statement);
  return code == SQLITE_OK ? tail : nullptr;
}

}  // namespace

const std::string& text_of(const Cell& cell) { return value_of<std::string>(cell, "a text"); }
std::int64_t integer_of(const Cell& cell) { return value_of<std::int64_t>(cell, "an integer"); }
double real_of(const Cell& cell) { return value_of<double>(cell, "a real number"); }

void bind(Statement& statement, std::span<const Cell> parameters) {
  for (std::size_t i = 0; i < parameters.size(); ++i) bind(statement, static_cast<int>(i) + 1, parameters[i]);
}

Rows query(Database& database, std::string_view sql, std::span<const Cell> parameters) {
  Statement statement(database, sql);
  bind(statement, parameters);
  Rows result;
  for (int c = 0; c < statement.columns(); ++c) result.columns.push_back(statement.name(c));
  while (statement.step()) {
    auto& row = result.rows.emplace_back();
    for (int c = 0; c < statement.columns(); ++c) row.push_back(cell_of(statement, c));
  }
  return result;
}

std::vector<std::string> query_texts(Database& database, std::string_view sql) {
  return mapped(query(database, sql).rows, [](const auto& row) { return text_of(row[0]); });
}

Rows select(Database& database, const std::string& sql) {
  constexpr const char* expected = "sql: expected one statement that only reads, such as SELECT, found ";
  sqlite3_set_authorizer(database.handle(), allow_reading, nullptr);
  database.limit_statements({});  // no limit: the statement is the user's, who can end it by Ctrl-C
  int code = SQLITE_OK;
  bool empty = false;
  const char* tail = behind_first(database.handle(), sql.c_str(), code, empty);
  if (code == SQLITE_AUTH) throw Error(fmt::format("{}'{}'", expected, sql));
  if (code != SQLITE_OK) throw Error(fmt::format("sql: {}", sqlite3_errmsg(database.handle())));
  if (empty) throw Error(fmt::format("{}none", expected));
  const std::string rest = tail;
  behind_first(database.handle(), rest.c_str(), code, empty);  // spaces and comments are not statements
  if (code != SQLITE_OK || !empty) throw Error(fmt::format("{}more: '{}'", expected, rest));
  return query(database, std::string_view(sql).substr(0, sql.size() - rest.size()));
}

}  // namespace deplo::measure::sqlite
