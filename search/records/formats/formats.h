// The formats of recorded files, and how the format of a file is recognised.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "search/records/formats/read.h"

namespace deplo::search::records {

/// A text to read.
struct Source {
  std::string_view text;
  const std::string& place;  // prefix of error messages
  const Reading& reading;
};

/// The form of a file, detected from its first bytes.
struct Outline {
  enum class Form { object, numbered, array, xml, table };  // numbered: an array that begins with a number and an array
  Form form = Form::table;
  /// The names in the first object or in the table's header, or the name of the first XML element.
  std::vector<std::string> members;
  /// The names in the first object inside that object.
  std::vector<std::string> inner;
};
/// Reads only as much as determines the outline. The text may be cut off.
Outline outline_of(std::string_view text);

/// A format is one line of all_formats(), and a reader in a file of its own.
struct RecordFormat {
  std::string_view name, about;  // shown to users
  Outline::Form form = Outline::Form::object;
  std::vector<Records> (*parse)(const Source&) = nullptr;
  std::vector<std::string_view> members = {};  // every file of this format has all of them
  std::vector<std::string_view> usual = {};    // frequent names: a file with these resembles the format
  std::vector<std::string_view> inner = {};    // every file has these one level deeper
};

/// The first matching format is used, so the most specific ones come first.
std::span<const RecordFormat> all_formats();
/// nullptr if no format matches.
const RecordFormat* find_format(const Outline&);
/// Describes a file that no format matches: "found JSON with 'a', 'b', which resembles T4 but has no 'results'; …".
std::string unknown_format(const Outline&);
/// Describes a table with these columns that no format matches: " in a table, which resembles Helion log (…) but has no
/// 'config'". "" if the table resembles no format.
std::string resemblance_of_table(const std::vector<std::string>& heads);

std::vector<Records> parse_json_source(const Source&);   // Kernel Tuner's caches, T4
std::vector<Records> parse_table_source(const Source&);  // CSV
std::vector<Records> parse_wisdom(const Source&);
std::vector<Records> parse_ktt_json(const Source&);
std::vector<Records> parse_ktt_xml(const Source&);
std::vector<Records> parse_clblast_results(const Source&);
std::vector<Records> parse_clblast_database(const Source&);
std::vector<Records> parse_autotvm(const Source&);
std::vector<Records> parse_ansor(const Source&);
std::vector<Records> parse_meta_schedule(const Source&);
std::vector<Records> parse_triton(const Source&);
std::vector<Records> parse_cutlass(const Source&);              // CSV
std::vector<Records> parse_helion_log(const Source&);           // CSV
std::vector<Records> parse_helion_metadata(const Source&);      // JSON lines
std::vector<Records> parse_helion_measurements(const Source&);  // CSV
std::vector<Records> parse_helion_configs(const Source&);       // JSON
std::vector<Records> parse_helion_winners(const Source&);       // JSON
std::vector<Records> parse_cutile(const Source&);
std::vector<Records> parse_looperset(const Source&);

}  // namespace deplo::search::records
