// Tables (CSV, RFC 4180, also with tabs or semicolons): one line per configuration.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <optional>
#include <unordered_set>
#include <utility>

#include "core/error.h"
#include "core/text/characters.h"
#include "core/text/number.h"
#include "core/text/text.h"
#include "search/records/formats/formats.h"
#include "search/records/formats/parts/csv.h"
#include "search/records/formats/read.h"
#include "search/records/formats/table.h"
#include "search/records/spelling.h"

namespace deplo::search {
namespace {

/// Returns "ms" for "time (ms)", and "" for a head without a unit in brackets.
std::string_view unit_in_brackets(std::string_view head) {
  for (const std::string_view unit : {"(s)", "(ms)", "(us)", "(µs)", "(ns)"})
    if (head.ends_with(unit)) return unit == "(µs)" ? "us" : unit.substr(1, unit.size() - 2);
  return "";
}

/// Names of the time of a configuration in tables of tools that write no brackets. They precede "_ms" or another unit:
/// Helion writes perf_ms and timing_ms. The clearest names come first.
constexpr std::string_view time_names[] = {"time", "perf", "timing", "runtime", "latency", "duration"};

/// Returns "ms" for the name "perf" and the head "perf_ms", and "" for another head.
std::string_view unit_after(std::string_view name, std::string_view head) {
  if (!head.starts_with(name)) return "";
  const std::string_view rest = head.substr(name.size());
  for (const std::string_view unit : {"_s", "_ms", "_us", "_ns"})
    if (rest == unit) return rest.substr(1);
  return "";
}

std::string_view unit_of(std::string_view head) {
  if (const std::string_view unit = unit_in_brackets(head); !unit.empty()) return unit;
  for (const std::string_view name : time_names)
    if (const std::string_view unit = unit_after(name, head); !unit.empty()) return unit;
  return "";
}

double to_us(std::string_view unit, const std::string& place) {
  if (const auto us = microseconds_in(unit)) return *us;
  throw Error(fmt::format("{}: expected a unit of times (s, ms, us, ns), found '{}'", place, unit));
}

constexpr std::string_view head_start = "objective ", higher_end = " (higher is better)",
                           lower_end = " (lower is better)", duration_end = " (us)";

bool is_own_table(const std::vector<std::string>& heads) {
  constexpr std::string_view own[] = {"status", "message", "build (s)", "run (s)"};
  // not std::ranges::search, because of clang 14
  return std::search(heads.begin(), heads.end(), std::begin(own), std::end(own)) != heads.end();
}

// Whether no program writes such a head for a parameter: columns that KTT and Kernel Tuner add to a configuration,
// counters of NVIDIA's profiler (dram__sectors_read.sum), and quantities with a unit or per something (GFLOP/s, energy
// (J), clock [MHz]).
bool is_result_head(std::string_view head) {
  constexpr std::string_view names[] = {
      "Kernel name",       "Global size",         "Local size",           "Maximum work-group size",
      "Local memory size", "Private memory size", "Constant memory size", "Registers count",
      "device_name",       "kernel_name",         "problem_size",         "timeunit"};
  if (std::ranges::find(names, head) != std::end(names)) return true;
  if (head != "status" && head != "message" && records::is_cache_member(head)) return true;
  if (head.find("__") != std::string_view::npos && head.find('.') != std::string_view::npos) return true;
  if (lower_case(head).ends_with("flops")) return true;
  if (head.ends_with("/s") || head.ends_with("/W") || head.ends_with("/J")) return true;
  if (!unit_of(head).empty()) return true;  // a time other than the chosen one
  for (const std::string_view end : {"_ms", "_us", "_time_s", "_time_ns"})
    if (head.ends_with(end)) return true;
  const std::size_t bracket = head.find_last_of("([");
  if (bracket == std::string_view::npos || bracket == 0 || !(head.ends_with(')') || head.ends_with(']'))) return false;
  constexpr std::string_view units[] = {"J",  "mJ", "W",     "mW",  "kW",     "V",     "mV",     "A",     "mA",
                                        "C",  "°C", "Hz",    "kHz", "MHz",    "GHz",   "B",      "KB",    "kB",
                                        "MB", "GB", "bytes", "%",   "cycles", "FLOPS", "GFLOPS", "TFLOPS"};
  const std::string_view unit = head.substr(bracket + 1, head.size() - bracket - 2);
  return unit.find("/s") != std::string_view::npos || std::ranges::find(units, unit) != std::end(units);
}

/// The first column with a name of times, but without a unit in its name; "" if there is none.
std::string time_without_unit(const std::vector<std::string>& heads) {
  for (const std::string_view part : {"time", "runtime", "latency", "duration", "elapsed", "us", "ms"})
    for (const std::string& head : heads) {
      const std::string lower = lower_case(head);
      if (lower == part || lower.ends_with(fmt::format("_{}", part))) return head;
    }
  return "";
}

NotRecorded no_times(const std::string& place, const std::vector<std::string>& heads) {
  const std::string resembles = records::resemblance_of_table(heads), time = time_without_unit(heads);
  if (resembles.empty() && !time.empty())
    return {place,
            fmt::format("expected a column of times with its unit, such as 'time (ms)', found '{}'; use --time '{}' "
                        "--unit s|ms|us|ns of `deplo db import`, or name another result with --objective",
                        time, time)};
  return {place, fmt::format("expected a column of times, such as 'time (ms)', found none{}; name the column with "
                             "--time of `deplo db import`, or with --objective",
                             resembles)};
}

/// Does the table have times? If not, it is a table of something else, and a chosen objective is not missing in it.
bool has_times(const std::vector<std::string>& heads, const Reading& reading) {
  if (reading.columns != Columns{}) return true;  // the user knows the table
  return std::ranges::any_of(heads, [&](const std::string& head) {
    return !unit_of(head).empty() || parse_objective_head(head) ||
           (reading.objective && reading.objective->name == head);
  });
}

/// True if the next line has this many cells, or if there is no next line.
bool has_cells(records::CsvLines& lines, std::size_t count) {
  std::vector<std::string> cells;
  try {
    return !lines.next(cells) || cells.size() == count;
  } catch (const Error&) {  // too long for a table
    return false;
  }
}

class TableReader {
 public:
  TableReader(const std::string& place, const std::vector<std::string>& heads, const Reading& reading)
      : place_(place), heads_(heads), roles_(heads.size(), Role::none), builder_(place) {
    const Columns columns = merged(reading.columns);
    scale_ = to_us(unit_of_times(columns, reading.columns.unit), place);
    choose_objective(columns, reading.objective);
    for (const std::string& head : columns.launches)
      if (const std::size_t column = *find(head); column != objective_) launches_.push_back(column);
    status_ = find(columns.status);
    message_ = find(columns.message);
    build_ = find(columns.build);
    run_ = find(columns.run);
    for (const std::string& head : columns.ignored) find(head);
    if (!objective_ && launches_.empty()) throw no_times(place, heads);
    choose_parameters(columns);
  }

  Records read(records::CsvLines& lines) {
    std::vector<std::string> cells;
    while (lines.next(cells)) {
      line_ = lines.line();
      if (cells.size() != heads_.size())
        throw Error(fmt::format("{}:{}: expected {} cells, found {}", place_, line_, heads_.size(), cells.size()));
      add(cells);
    }
    Records records = builder_.finish();
    if (guessed_) ask_about_results(records);
    return records;
  }

 private:
  enum class Role { none, taken, parameter };

  Columns merged(const Columns& said) const {
    if (!said.launches.empty() || !said.time.empty()) return said;
    Columns columns = guess_columns(heads_);
    if (!said.status.empty()) columns.status = said.status;
    columns.parameters = said.parameters;
    columns.ignored = said.ignored;
    return columns;
  }

  // The unit that the heads of the time and the launches name. It must be the user's unit, if there is one.
  std::string unit_of_times(const Columns& columns, const std::string& wanted) const {
    std::vector<std::string> heads = {columns.time};
    heads.insert(heads.end(), columns.launches.begin(), columns.launches.end());
    std::string unit = wanted, first;  // `first`: the column that names the unit, if the user does not
    for (const std::string& head : heads) {
      const std::string_view own = unit_of(head);
      if (own.empty()) continue;
      if (unit.empty()) unit = own, first = head;
      if (to_us(own, place_) == to_us(unit, place_)) continue;
      if (first.empty())
        throw Error(fmt::format("{}: expected times in {}, found the column '{}'", place_, unit, head));
      throw Error(
          fmt::format("{}: expected times of one unit, found the columns '{}' and '{}'; choose one with --time of "
                      "`deplo db import`, or remove the other",
                      place_, first, head));
    }
    return unit.empty() ? "ms" : unit;
  }

  std::optional<std::size_t> find(const std::string& head) {
    if (head.empty()) return std::nullopt;
    const auto found = std::ranges::find(heads_, head);
    if (found == heads_.end()) throw Error(fmt::format("{}: expected a column '{}', found none", place_, head));
    const auto i = static_cast<std::size_t>(found - heads_.begin());
    roles_[i] = Role::taken;
    return i;
  }

  // Chooses the column of the objective, if the objective is not the mean of the launches: a column whose head deplo
  // wrote, else the column that the user names, else the time.
  void choose_objective(const Columns& columns, const std::optional<ObjectiveChoice>& choice) {
    Objective& objective = builder_.objective();
    std::string head = columns.time;
    bool own = false;
    for (const std::string& candidate : heads_)
      if (const auto told = parse_objective_head(candidate); told && (!choice || told->name == choice->name)) {
        objective = *told;
        head = candidate;
        own = true;
      }
    const bool has_column = choice && std::ranges::find(heads_, choice->name) != heads_.end();
    if (choice && !own && (has_column || choice->name != "time" || choice->higher_is_better.value_or(false))) {
      objective = named(*choice);
      head = choice->name;
    }
    if (choice && choice->higher_is_better) objective.higher_is_better = *choice->higher_is_better;
    if (objective.higher_is_better) objective.duration = false;
    objective_ = find(head);
    if (head != columns.time) time_ = find(columns.time);
    if (objective.duration) objective_scale_ = unit_of(head).empty() ? scale_ : to_us(unit_of(head), place_);
    if (!own && head == columns.time) objective_scale_ = scale_;
  }

  // The objective of a column whose head deplo did not write.
  Objective named(const ObjectiveChoice& choice) const {
    const std::string_view unit = unit_of(choice.name);
    const std::optional<bool> higher = choice.higher_is_better ? choice.higher_is_better : known_direction(choice.name);
    const bool duration = !higher.value_or(false) && (!unit.empty() || choice.name == "time");
    if (!higher && !duration)
      throw Error(
          fmt::format("{}: expected to know whether a higher '{}' is better; use --objective '{}:max' or ':min'",
                      place_, choice.name, choice.name));
    return {choice.name, "", higher.value_or(false), duration};
  }

  void choose_parameters(const Columns& columns) {
    guessed_ = columns.parameters.empty() && !is_own_table(heads_);
    for (const std::string& name : columns.parameters) {
      const auto found = std::ranges::find(heads_, name);
      if (found == heads_.end())
        throw Error(fmt::format("{}: expected a parameter '{}', found no such column", place_, name));
      Role& role = roles_[static_cast<std::size_t>(found - heads_.begin())];
      if (role == Role::taken)
        throw Error(fmt::format("{}: expected a parameter '{}', found that the column has another role", place_, name));
      role = Role::parameter;
    }
    for (std::size_t i = 0; i < heads_.size(); ++i) {
      if (heads_[i].empty() && columns.parameters.empty()) unnamed_.push_back(i);
      const bool is_parameter = !heads_[i].empty() && !(guessed_ && is_result_head(heads_[i]));
      if (roles_[i] == Role::none && columns.parameters.empty() && is_parameter) roles_[i] = Role::parameter;
      if (roles_[i] != Role::parameter) continue;
      parameters_.push_back(i);
      builder_.add_knob(heads_[i]);
    }
  }

  // A column looks like a result, not a parameter, if the other columns distinguish the rows without it, and it has
  // numbers that differ from row to row, or the name of a quantity such as power.
  void ask_about_results(const Records& records) const {
    std::vector<bool> left(records.knobs.size(), true);
    std::vector<std::string> results, others;
    for (const Doubt doubt : {Doubt::fractions, Doubt::integers, Doubt::name})
      for (std::size_t k = 0; k < left.size(); ++k) {
        if (!left[k] || doubt_about(records, k) != doubt) continue;
        left[k] = false;
        const std::size_t apart = count_apart(records, left), rows = records.records.size();
        // A configuration may have been measured several times, with different fractions each time.
        left[k] = doubt == Doubt::fractions ? apart < 2 || apart * 4 < rows : apart < rows;
        if (!left[k]) results.push_back(fmt::format("'{}'", records.knobs[k].name));
      }
    if (results.empty()) return;
    for (std::size_t k = 0; k < left.size(); ++k)
      if (left[k]) others.push_back(records.knobs[k].name);
    throw Error(fmt::format(
        "{}: expected parameters, found columns that look like results: {}; name the parameters with --parameters {} "
        "or in a T1 file next to it, or leave columns out with --ignore",
        place_, beginning_of(results, ", "), beginning_of(others, ",")));
  }

  /// As many names as fit on a few lines. Users copy the names into a flag, so the end shows if some are missing.
  static std::string beginning_of(std::vector<std::string> names, std::string_view separator) {
    constexpr std::size_t max_named = 24;
    const std::ptrdiff_t missing = std::ssize(names) - std::min(std::ssize(names), std::ptrdiff_t{max_named});
    if (missing > 0) names.resize(max_named);
    return join(names, separator) + (missing > 0 ? fmt::format("{}… ({} more)", separator, missing) : "");
  }

  enum class Doubt { none, fractions, integers, name };

  // In small tables, the numbers of a parameter may differ from row to row, too. Integers do so more often than
  // fractions.
  static Doubt doubt_about(const Records& records, std::size_t k) {
    constexpr std::size_t least_rows_of_fractions = 3, least_rows_of_integers = 8;
    const auto is_number = [](const std::string& json) { return json[0] == '-' || (json[0] >= '0' && json[0] <= '9'); };
    const auto is_fraction = [](const Value& value) { return std::holds_alternative<std::string>(value); };
    const Knob& knob = records.knobs[k];
    const std::size_t rows = records.records.size(), distinct = knob.values.size();
    if (distinct < 2 || !std::ranges::all_of(knob.json, is_number)) return Doubt::none;
    const bool fractions = std::ranges::any_of(knob.values, is_fraction);
    if (fractions && rows >= least_rows_of_fractions && distinct * 2 > rows) return Doubt::fractions;
    if (!fractions && rows >= least_rows_of_integers && distinct * 10 >= rows * 9) return Doubt::integers;
    return known_direction(knob.name) ? Doubt::name : Doubt::none;
  }

  // The number of distinct rows of values that these knobs have.
  static std::size_t count_apart(const Records& records, const std::vector<bool>& knobs) {
    std::vector<std::vector<std::uint16_t>> rows(records.records.size());
    for (std::size_t row = 0; row < rows.size(); ++row)
      for (std::size_t k = 0; k < knobs.size(); ++k)
        if (knobs[k]) rows[row].push_back(records.options_of(row)[k]);
    std::ranges::sort(rows);
    return static_cast<std::size_t>(std::unique(rows.begin(), rows.end()) - rows.begin());
  }

  std::optional<double> number(const std::string& cell, std::size_t column) const {
    const std::optional<double> value = any_number(cell, column, "a time");
    if (value && !std::isfinite(*value)) return std::nullopt;  // a failure, written as nan or inf
    if (value && (!(*value >= 0) || *value > 1e30)) throw wrong(cell, column, "a time");
    return value;
  }
  std::optional<double> any_number(const std::string& cell, std::size_t column, std::string_view what) const {
    if (records::is_missing(cell)) return std::nullopt;
    const auto value = parse_number<double>(cell);
    if (!value) throw wrong(cell, column, what);
    return value;
  }
  Error wrong(const std::string& cell, std::size_t column, std::string_view what) const {
    return Error(fmt::format("{}:{}: expected {} in column '{}', found '{}'", place_, line_, what, heads_[column],
                             cell.substr(0, 40)));
  }

  // A column without a head must not have parameters: it may be empty, or have pandas' row numbers, which are distinct
  // and come first.
  void check_unnamed(const std::vector<std::string>& cells) {
    for (const std::size_t column : unnamed_) {
      const std::string& cell = cells[column];
      if (cell.empty() || (column == 0 && std::ranges::all_of(cell, is_digit) && row_numbers_.insert(cell).second))
        continue;
      throw Error(
          fmt::format("{}:{}: expected nothing in column {}, which has no name in the first line, found '{}'; name the "
                      "column, or choose the parameters with --parameters",
                      place_, line_, column + 1, cell.substr(0, 40)));
    }
  }

  void add(const std::vector<std::string>& cells) {
    check_unnamed(cells);
    values_.clear();
    for (const std::size_t column : parameters_) values_.push_back(records::json_of_cell(cells[column]));
    made_.clear();
    double sum = 0;
    for (const std::size_t column : launches_)
      if (const auto time = number(cells[column], column)) sum += made_.emplace_back(*time * scale_);
    Record record;
    record.outcome = outcome(cells, made_.empty() ? 0 : sum / static_cast<double>(made_.size()));
    if (build_) record.build_seconds = number(cells[*build_], *build_).value_or(0);
    if (run_) record.run_seconds = number(cells[*run_], *run_).value_or(0);
    if (!build_ && !run_) {
      if (sum == 0 && builder_.objective().duration) sum = record.outcome.microseconds;
      if (sum == 0 && time_) sum = number(cells[*time_], *time_).value_or(0) * scale_;
      record.run_seconds = sum * 1e-6;
    }
    builder_.add_json(values_, std::move(record), made_);
  }

  Outcome outcome(const std::vector<std::string>& cells, double mean) const {
    const std::string message = message_ ? cells[*message_] : "";
    const std::string word = status_ ? cells[*status_] : "";
    const std::optional<Status> known = find_status(word);
    if (known && *known != Status::ok) return {*known, 0, message};
    const Outcome measured = measurement(cells, mean, message);
    if (known || records::is_word_of_success(word)) return measured;
    // The word is another program's. If the row has no time, it is the name of a failure.
    if (measured.ok())
      throw Error(fmt::format("{}:{}: expected 'ok', 'success' or the name of a failure in column '{}', found '{}'",
                              place_, line_, heads_[*status_], word.substr(0, 40)));
    return {records::status_of_failure(word), 0, message.empty() ? word : message};
  }

  Outcome measurement(const std::vector<std::string>& cells, double mean, const std::string& message) const {
    const Objective& objective = builder_.objective();
    const Outcome none{Status::invalid, 0, message.empty() ? "no " + objective.name : message};
    if (!objective.duration) {
      constexpr double nobody_has = 1e20;
      const auto value = any_number(cells[*objective_], *objective_, "a number");
      return value && std::abs(*value) < nobody_has ? Outcome{Status::ok, *value, ""} : none;
    }
    double us = mean;
    if (objective_) us = number(cells[*objective_], *objective_).value_or(0) * objective_scale_;
    return us > 0 ? Outcome{Status::ok, us, ""} : none;
  }

  const std::string& place_;
  const std::vector<std::string>& heads_;
  std::vector<Role> roles_;  // one per column
  double scale_ = 1, objective_scale_ = 1;
  std::vector<std::size_t> parameters_, launches_;
  std::vector<std::size_t> unnamed_;             // columns without a head, unless the user named the parameters
  std::unordered_set<std::string> row_numbers_;  // cells of the first column, if it has no head
  std::optional<std::size_t> objective_, status_, message_, build_, run_;
  std::optional<std::size_t> time_;  // the column of the time, if it is not the objective
  bool guessed_ = true;              // the parameters were guessed
  RecordsBuilder builder_;
  std::vector<std::string> values_;  // as JSON
  std::vector<double> made_;
  std::size_t line_ = 0;
};

}  // namespace

std::string objective_head(const Objective& objective) {
  if (objective == Objective{}) return "time (us)";
  if (objective.duration) return fmt::format("{}{}{}", head_start, objective.name, duration_end);
  // otherwise a reader would take the bracket for a unit
  const bool unit = !objective.unit.empty() || objective.name.ends_with(']');
  return fmt::format("{}{}{}{}", head_start, objective.name, unit ? fmt::format(" [{}]", objective.unit) : "",
                     objective.higher_is_better ? higher_end : lower_end);
}

std::optional<Objective> parse_objective_head(std::string_view head) {
  if (!head.starts_with(head_start)) return std::nullopt;
  const auto without = [&](std::string_view end) {
    return head.substr(head_start.size(), head.size() - head_start.size() - end.size());
  };
  if (head.ends_with(duration_end)) return Objective{std::string(without(duration_end)), "", false, true};
  const bool higher = head.ends_with(higher_end);
  if (!higher && !head.ends_with(lower_end)) return std::nullopt;
  std::string_view name = without(higher ? higher_end : lower_end), unit;
  if (const std::size_t bracket = name.rfind(" ["); name.ends_with(']') && bracket != std::string_view::npos) {
    unit = name.substr(bracket + 2, name.size() - bracket - 3);
    name = name.substr(0, bracket);
  }
  return Objective{std::string(name), std::string(unit), higher, false};
}

Columns guess_columns(const std::vector<std::string>& heads) {
  Columns columns;
  for (const std::string& head : heads) {
    if (head == "status") columns.status = head;
    if (head == "message") columns.message = head;
    if (head == "build (s)") columns.build = head;
    if (head == "run (s)") columns.run = head;
    if (unit_in_brackets(head).empty() || head == columns.build || head == columns.run || parse_objective_head(head))
      continue;
    if (head.starts_with("time ("))
      columns.time = head;
    else
      columns.launches.push_back(head);
  }
  for (const std::string_view name : time_names)
    for (const std::string& head : heads)
      if (columns.launches.empty() && columns.time.empty() && !unit_after(name, head).empty()) columns.time = head;
  return columns;
}

std::vector<Records> records::parse_table_source(const Source& source) {
  const auto& [text, place, reading] = source;
  records::CsvLines lines(text, place);
  std::vector<std::string> heads;
  if (!lines.next(heads)) throw Error(place + ": expected a table (CSV), found nothing");
  if (!has_times(heads, reading)) {
    if (heads.size() > 1 && has_cells(lines, heads.size())) throw no_times(place, heads);
    throw NotRecorded(place,
                      "expected a recorded space, found text that is not a table; `deplo db import --list-formats` "
                      "lists the supported formats");
  }
  return {TableReader(place, heads, reading).read(lines)};
}

}  // namespace deplo::search
