// Private to measure/store. The columns of a table are listed once, by a function list_…(record, column), which calls
// column("name", member) or column("name", member, known). A member that is not known is stored as NULL, and NULL reads
// as the member's default. `column` is one of the classes below, which name, bind and read columns.
#pragma once
#include <concepts>
#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <vector>

#include "core/outcome.h"
#include "measure/sqlite/sqlite.h"
#include "measure/store/rows/records.h"

namespace deplo::measure {

/// Returns the samples as a JSON array. Values that JSON cannot express as numbers (an implausible NaN) become null.
std::string print_samples(const std::vector<double>& samples);
std::vector<double> parse_samples(std::string_view text);

/// Collects the names of columns: "t.run, t.ordinal".
class ColumnNames {
 public:
  /// `table`: the name of the table in the query, or "".
  explicit ColumnNames(std::string_view table = "") : prefix_(table.empty() ? "" : std::string(table) + ".") {}
  void operator()(std::string_view name, const auto& /*member*/, bool /*known*/ = true) {
    ((text_ += text_.empty() ? "" : ", ") += prefix_) += name;
    marks_ += marks_.empty() ? "?" : ", ?";
  }
  const std::string& text() const { return text_; }
  /// Returns "INSERT INTO table (…) VALUES (?, ?)".
  std::string insert_into(std::string_view table) const;

 private:
  std::string prefix_, text_, marks_;
};

/// Binds members to a statement's parameters, starting with the first. The members and this object must live until the
/// statement is done.
class ColumnBinder {
 public:
  explicit ColumnBinder(sqlite::Statement& statement) : statement_(statement) {}
  template <class T>
  void operator()(std::string_view /*name*/, const T& member, bool known = true) {
    ++parameter_;
    if (known)
      bind(member);
    else
      statement_.bind_null(parameter_);
  }

 private:
  void bind(std::integral auto value) { statement_.bind(parameter_, static_cast<std::int64_t>(value)); }
  void bind(double value) { statement_.bind(parameter_, value); }
  void bind(const std::string& text) { statement_.bind(parameter_, std::string_view(text)); }
  void bind(Status status) { statement_.bind(parameter_, status_name(status)); }
  void bind(Stage stage) { statement_.bind(parameter_, name(stage)); }
  void bind(const std::vector<double>& samples) { bind(texts_.emplace_back(print_samples(samples))); }

  sqlite::Statement& statement_;
  std::list<std::string> texts_;
  int parameter_ = 0;
};

/// Reads a row's columns into members.
class ColumnReader {
 public:
  explicit ColumnReader(const sqlite::Statement& row, int first = 0) : row_(row), column_(first) {}
  template <class T>
  void operator()(std::string_view /*name*/, T& member, bool /*known*/ = true) {
    if (!row_.is_null(column_)) read(member);
    ++column_;
  }

 private:
  template <std::integral T>
  void read(T& value) {
    value = static_cast<T>(row_.integer(column_));
  }
  void read(double& value) { value = row_.real(column_); }
  void read(std::string& text) { text = row_.text(column_); }
  void read(Status& status) { status = parse_status(row_.text(column_)); }
  void read(Stage& stage) { stage = row_.text(column_) == name(Stage::confirm) ? Stage::confirm : Stage::screen; }
  void read(std::vector<double>& samples) { samples = parse_samples(row_.text(column_)); }

  const sqlite::Statement& row_;
  int column_;
};

}  // namespace deplo::measure
