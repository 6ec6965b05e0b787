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
  std::vector<std::string> launches = {};  // one time each; empty cells are launches that were not made
  std::string time = {};                   // the time that counts; "": the mean of the launches
  std::string unit = "ms";                 // of these times: s, ms or us
  std::string status = {}, message = {};   // a Status by name; what is said of a failure
  std::string build = {}, run = {};        // seconds; both "": the sum of the launches
  std::vector<std::string> ignored = {};
};

/// By their heads: `status`, `message`, `build (s)`, `run (s)`, `time (UNIT)`; other heads that end with (s), (ms),
/// (us) or (µs) are launches.
Columns guess_columns(const std::vector<std::string>& heads, const std::string& place);

/// The content tells the format. A Kernel Tuner cache may be unfinished: its complete configurations count. Times in
/// seconds, milliseconds and microseconds are told apart as each format allows; Kernel Tuner's costs are in seconds if
/// the benchmark time is a thousandth of the sum of the launches. A cost that a file does not have (a table's, T4's time
/// of benchmarking) is the sum of the launches. The text is UTF-8, with a byte order mark or without. A text larger than
/// any recorded space is refused, before it takes more than 2 GiB beside the text. Throws Error, prefixed by `place`.
Records parse_records(std::string_view text, const std::string& place, const std::optional<Columns>& columns = {});
Records parse_json_records(std::string_view text, const std::string& place);
Records parse_table_records(std::string_view text, const std::string& place, const std::optional<Columns>& columns);

/// The file, which may be compressed. Records.name: "folder/stem".
Records read_records(const std::filesystem::path& file, const std::optional<Columns>& columns = {});

enum class Format { kernel_tuner, t4, table };
/// Reading it again gives the same records (of the T4 format: their costs in sum, as it tells no time of benchmarking).
std::string print_records(const Records&, Format);

}  // namespace deplo::search
