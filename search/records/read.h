// Readers and writers of recorded spaces: Kernel Tuner's caches, the community's T4 format, tables (CSV).
//   Kernel Tuner: https://kerneltuner.github.io (cache files); T4: https://github.com/odgaard/TuningSchema
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "search/records/records.h"

namespace deplo::search {

/// The roles of a table's columns. Columns without a role are parameters.
struct Columns {
  std::vector<std::string> launches = {};    // one time each; empty cells are launches that were not made
  std::string time = {};                     // the time that counts; "": the mean of the launches
  std::string unit = "ms";                   // of these times: s, ms, us or ns
  std::string status = {}, message = {};     // a Status by name; what is said of a failure
  std::string build = {}, run = {};          // seconds; both "": the sum of the launches
  std::vector<std::string> parameters = {};  // others without a role are results; none: not known
  std::vector<std::string> ignored = {};
  bool operator==(const Columns&) const = default;
};

/// By their heads: `status`, `message`, `build (s)`, `run (s)`, `time (UNIT)`; other heads that end with (s), (ms),
/// (us), (µs) or (ns) are launches.
Columns guess_columns(const std::vector<std::string>& heads, const std::string& place);

/// What a user says about a file.
struct Reading {
  Columns columns = {};  // of a table. Without launches and time they are guess_columns() besides
  std::optional<ObjectiveChoice> objective = {};  // none: the file's
};

/// The content tells the format. A Kernel Tuner cache may be unfinished: its complete configurations count. Of equal
/// configurations the last counts. Times in seconds, milliseconds and microseconds are told apart as each format allows;
/// Kernel Tuner's costs are in seconds if the benchmark time is a thousandth of the sum of the launches. A cost that a
/// file does not have (a table's, or T4's time of benchmarking) is the sum of the launches. The objective is the file's,
/// by default the time. Where a file has several, or does not tell the direction of one, `reading` chooses. A
/// configuration without the objective is a failure. The text is UTF-8, with a byte order mark or without. A text larger
/// than any recorded space is refused, before it takes more than 2 GiB beside the text. Throws Error, prefixed by
/// `place`; also where a table's parameters cannot be told from its results.
Records parse_records(std::string_view text, const std::string& place, const Reading& reading = {});
Records parse_json_records(std::string_view text, const std::string& place, const Reading& reading);
Records parse_table_records(std::string_view text, const std::string& place, const Reading& reading);

/// The names of the parameters that a T1 definition of a space has. Throws Error, prefixed by `place`.
std::vector<std::string> parse_t1_parameters(std::string_view text, const std::string& place);

/// The file, which may be compressed. Records.name: "folder/stem". The parameters of a table NAME.csv are those of
/// NAME.T1.json beside it, if that is there and `reading` names none.
Records read_records(const std::filesystem::path& file, const Reading& reading = {});

enum class Format { kernel_tuner, t4, table };
/// Reading it again gives the same records. Other results than the objective are not kept.
std::string print_records(const Records&, Format);

}  // namespace deplo::search
