// The result of a query as values, for any columns.
#pragma once
#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "measure/sqlite/sqlite.h"

namespace deplo::measure::sqlite {

using Cell = std::variant<std::monostate, std::int64_t, double, std::string>;  // monostate: NULL

struct Rows {
  std::vector<std::string> columns;
  std::vector<std::vector<Cell>> rows;
};

/// Return the value of a cell. Throw Error(environment) if it has another type, which means that the file is damaged.
const std::string& text_of(const Cell&);
std::int64_t integer_of(const Cell&);
double real_of(const Cell&);

/// Binds the values to `?1`, `?2`, …
void bind(Statement&, std::span<const Cell>);
/// Temporaries are refused, because their texts must stay valid until the statement is done.
template <class Cells>
requires(!std::is_lvalue_reference_v<Cells> &&
         !std::same_as<std::remove_cv_t<Cells>, std::span<const Cell>>) void bind(Statement&, Cells&&) = delete;
/// Returns all rows of one statement with these parameters. A BLOB becomes a text of hexadecimal digits. Throws Error.
Rows query(Database&, std::string_view sql, std::span<const Cell> parameters = {});

/// Returns the first column, which holds texts, of all rows.
std::vector<std::string> query_texts(Database&, std::string_view sql);

/// Like query(), but for SQL that a user wrote: without a time limit. Throws Error unless the text is one statement
/// that only reads.
Rows select(Database&, const std::string& sql);

}  // namespace deplo::measure::sqlite
