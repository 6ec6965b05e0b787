// Tables (CSV, RFC 4180): one line per configuration.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "core/error.h"
#include "search/records/read.h"

namespace deplo::search {
namespace {

constexpr std::size_t most_cells = 10'000;          // of a line: 1,000 parameters and their launches
constexpr std::size_t most_cell_bytes = 1'000'000;  // a compiler's message

/// The cells of one line after the other; quotes may hold commas, line ends and doubled quotes.
class Lines {
 public:
  Lines(std::string_view text, const std::string& place) : text_(text), place_(place) {}

  /// False: no line is left. Empty lines are passed over.
  bool next(std::vector<std::string>& cells) {
    cells.clear();
    for (; at_ < text_.size() && (text_[at_] == '\n' || text_[at_] == '\r'); ++at_) line_ += text_[at_] == '\n';
    if (at_ >= text_.size()) return false;
    for (;;) {
      cells.push_back(cell());
      if (cells.size() > most_cells || cells.back().size() > most_cell_bytes)
        throw Error(fmt::format("{}:{}: expected at most {} cells of at most {} bytes each, found more", place_, line_,
                                most_cells, most_cell_bytes));
      if (at_ >= text_.size() || text_[at_] != ',') break;
      ++at_;
    }
    return true;
  }
  /// Of the cells; lines inside quotes are not counted.
  std::size_t line() const { return line_; }

 private:
  std::string cell() {
    if (at_ < text_.size() && text_[at_] == '"') return quoted();
    const std::size_t end = std::min(text_.find_first_of(",\r\n", at_), text_.size());
    std::string cell(text_.substr(at_, end - at_));
    at_ = end;
    return cell;
  }

  std::string quoted() {
    std::string cell;
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '"' && !(at_ + 1 < text_.size() && text_[at_ + 1] == '"')) break;
      if (text_[at_] == '"') ++at_;
      cell += text_[at_];
    }
    at_ = std::min(text_.find_first_of(",\r\n", at_), text_.size());
    return cell;
  }

  std::string_view text_;
  const std::string& place_;
  std::size_t at_ = 0, line_ = 1;
};

std::string_view unit_of(std::string_view head) {
  for (const std::string_view unit : {"(s)", "(ms)", "(us)", "(µs)"})
    if (head.ends_with(unit)) return unit == "(µs)" ? "us" : unit.substr(1, unit.size() - 2);
  return "";
}

double to_us(std::string_view unit, const std::string& place) {
  if (unit == "s") return 1e6;
  if (unit == "ms") return 1e3;
  if (unit == "us") return 1;
  throw Error(fmt::format("{}: expected a unit of times (s, ms, us), found '{}'", place, unit));
}

class Reader {
 public:
  Reader(const std::string& place, const std::vector<std::string>& heads, const Columns& columns)
      : place_(place), heads_(heads), scale_(to_us(columns.unit, place)), builder_(place) {
    std::vector<bool> taken(heads.size(), false);
    for (const std::string& head : columns.launches) launches_.push_back(*find(head, taken));
    time_ = find(columns.time, taken);
    status_ = find(columns.status, taken);
    message_ = find(columns.message, taken);
    build_ = find(columns.build, taken);
    run_ = find(columns.run, taken);
    for (const std::string& head : columns.ignored) find(head, taken);
    if (launches_.empty() && !time_)
      throw Error(place + ": expected a column of times, such as 'time (ms)', found none");
    for (std::size_t i = 0; i < heads.size(); ++i) {
      if (taken[i]) continue;
      parameters_.push_back(i);
      builder_.add_knob(heads[i]);
    }
  }

  Records read(Lines& lines) {
    std::vector<std::string> cells;
    while (lines.next(cells)) {
      line_ = lines.line();
      if (cells.size() != heads_.size())
        throw Error(fmt::format("{}:{}: expected {} cells, found {}", place_, line_, heads_.size(), cells.size()));
      add(cells);
    }
    return builder_.finish();
  }

 private:
  std::optional<std::size_t> find(const std::string& head, std::vector<bool>& taken) const {
    if (head.empty()) return std::nullopt;
    const auto found = std::ranges::find(heads_, head);
    if (found == heads_.end()) throw Error(fmt::format("{}: expected a column '{}', found none", place_, head));
    const auto i = static_cast<std::size_t>(found - heads_.begin());
    taken[i] = true;
    return i;
  }

  std::optional<double> number(const std::string& cell, std::size_t column) const {
    if (cell.empty()) return std::nullopt;
    double value = 0;
    const auto [stop, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (error != std::errc() || stop != cell.data() + cell.size() || !(value >= 0) || value > 1e30)
      throw Error(fmt::format("{}:{}: expected a time in column '{}', found '{}'", place_, line_, heads_[column],
                              cell.substr(0, 40)));
    return value;
  }

  void add(const std::vector<std::string>& cells) {
    values_.clear();
    for (const std::size_t column : parameters_) values_.push_back(parse_value(cells[column]));
    made_.clear();
    double sum = 0;
    for (const std::size_t column : launches_)
      if (const auto time = number(cells[column], column)) sum += made_.emplace_back(*time * scale_);
    Record record;
    record.outcome = outcome(cells, made_.empty() ? 0 : sum / static_cast<double>(made_.size()));
    if (build_) record.build_seconds = number(cells[*build_], *build_).value_or(0);
    if (run_) record.run_seconds = number(cells[*run_], *run_).value_or(0);
    if (!build_ && !run_) record.run_seconds = (sum > 0 ? sum : record.outcome.microseconds) * 1e-6;
    builder_.add(values_, std::move(record), made_);
  }

  Outcome outcome(const std::vector<std::string>& cells, double mean) const {
    const std::string message = message_ ? cells[*message_] : "";
    if (status_ && cells[*status_] != "ok") return {parse_status(cells[*status_]), 0, message};
    double us = mean;
    if (time_) us = number(cells[*time_], *time_).value_or(0) * scale_;
    if (us > 0) return {Status::ok, us, ""};
    return {Status::invalid, 0, message.empty() ? "no time" : message};
  }

  const std::string& place_;
  const std::vector<std::string>& heads_;
  double scale_;
  std::vector<std::size_t> parameters_, launches_;
  std::optional<std::size_t> time_, status_, message_, build_, run_;
  RecordsBuilder builder_;
  std::vector<Value> values_;
  std::vector<double> made_;
  std::size_t line_ = 0;
};

}  // namespace

Columns guess_columns(const std::vector<std::string>& heads, const std::string& place) {
  Columns columns;
  std::string unit;
  for (const std::string& head : heads) {
    const std::string_view own = unit_of(head);
    if (head == "status") columns.status = head;
    if (head == "message") columns.message = head;
    if (head == "build (s)") columns.build = head;
    if (head == "run (s)") columns.run = head;
    if (own.empty() || head == columns.build || head == columns.run) continue;
    if (!unit.empty() && own != unit) throw Error(place + ": expected one unit of times, found several");
    unit = own;
    if (head.starts_with("time ("))
      columns.time = head;
    else
      columns.launches.push_back(head);
  }
  if (!unit.empty()) columns.unit = unit;
  return columns;
}

Records parse_table_records(std::string_view text, const std::string& place, const std::optional<Columns>& columns) {
  Lines lines(text, place);
  std::vector<std::string> heads;
  if (!lines.next(heads)) throw Error(place + ": expected a table (CSV), found nothing");
  return Reader(place, heads, columns ? *columns : guess_columns(heads, place)).read(lines);
}

}  // namespace deplo::search
