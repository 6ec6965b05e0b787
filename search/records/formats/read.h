// Readers and writers of recorded spaces. search/records/formats/formats.cpp lists the formats.
//   Kernel Tuner: https://kerneltuner.github.io (cache files); T4: https://github.com/odgaard/TuningSchema
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "search/records/records.h"

namespace deplo::search {

/// The error for a file that is not a recorded space, as opposed to a damaged one. In a folder such a file is left out.
class NotRecorded : public Error {
 public:
  NotRecorded(const std::string& place, const std::string& reason) : Error(place + ": " + reason), reason_(reason) {}
  /// The message without the place.
  const std::string& reason() const { return reason_; }

 private:
  std::string reason_;
};

/// The roles of a table's columns. Columns without a role are parameters.
struct Columns {
  std::vector<std::string> launches = {};    // the time of one launch each; an empty cell: no such launch
  std::string time = {};                     // the configuration's time; "": the mean of the launches
  std::string unit = {};                     // unit of these times: s, ms, us or ns; "": as their heads say, else ms
  std::string status = {}, message = {};     // a Status by name; the message of a failure
  std::string build = {}, run = {};          // seconds; both "": the sum of the launches
  std::vector<std::string> parameters = {};  // other columns without a role are then results; empty: not known
  std::vector<std::string> ignored = {};
  bool operator==(const Columns&) const = default;
};

/// Guesses the roles from the heads: `status`, `message`, `build (s)`, `run (s)`, `time (UNIT)`. Other heads that end
/// with (s), (ms), (us), (µs) or (ns) are launches.
Columns guess_columns(const std::vector<std::string>& heads);

/// The user's information about a file.
struct Reading {
  Columns columns = {};  // columns of a table. If launches and time are not set, guess_columns() adds roles
  std::optional<ObjectiveChoice> objective = {};  // nullopt: the file's objective
  std::string companion = {};  // the text of NAME.meta.jsonl, which names the kernels of Helion's log NAME.csv
};

/// Parses a recorded space. The format is detected from the content. A Kernel Tuner cache may be unfinished: its
/// complete configurations are read. If a configuration occurs more than once, the last one counts. The unit of times
/// (seconds, milliseconds or microseconds) is detected as far as each format allows; Kernel Tuner's costs are in
/// seconds if the benchmark time is a thousandth of the sum of the launches. A cost that the file lacks (a table's, or
/// T4's time of benchmarking) is the sum of the launches. The objective is the file's, by default the time. If a file
/// has several objectives, or does not give an objective's direction, `reading` decides. A configuration without the
/// objective is a failure. A file may have several spaces, such as those of several kernels, devices or shapes; the
/// ones without a choice are left out. The text is UTF-8, with or without a byte order mark. A text that is larger than
/// any recorded space is refused before it takes more than 2 GiB in addition to the text. Throws Error, prefixed by
/// `place`, also if a table's parameters cannot be distinguished from its results; NotRecorded if the text is in no
/// format that this reads.
std::vector<Records> parse_spaces(std::string_view text, const std::string& place, const Reading& reading = {});

/// The formats that parse_spaces() reads, one per line, as text for users.
std::string recorded_formats();

/// The names of the parameters in a space's T1 definition. Throws Error, prefixed by `place`.
std::vector<std::string> parse_t1_parameters(std::string_view text, const std::string& place);

/// Reads a file, which may be compressed. Records.name becomes "folder/stem", and for several spaces
/// "folder/stem/kernel". If `reading` names no parameters, those of a table NAME.csv are taken from NAME.T1.json in the
/// same folder, if that file exists; a log of Helion is read together with NAME.meta.jsonl.
std::vector<Records> read_spaces(const std::filesystem::path& file, const Reading& reading = {});

enum class Format { kernel_tuner, t4, table };
/// Prints the records, so that parse_spaces() of the text returns them. Results other than the objective are not kept.
std::string print_records(const Records&, Format);

}  // namespace deplo::search
