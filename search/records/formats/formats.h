// The formats of recorded files, and how a file's is recognised.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "search/records/formats/read.h"

namespace deplo::search::records {

/// What is read.
struct Source {
  std::string_view text;
  const std::string& place;  // begins messages
  const Reading& reading;
};

/// What a file's first bytes say of its form.
struct Outline {
  enum class Form { object, numbered, array, xml, table };  // numbered: an array of a number and an array
  Form form = Form::table;
  /// Names in the first object, in the table's header, or of the XML's first element.
  std::vector<std::string> members;
  /// Names in the first object inside of that one.
  std::vector<std::string> inner;
};
/// Reads as little as tells it, also of a text that is cut off.
Outline outline_of(std::string_view text);

/// A format is one line of all_formats(), and a reader in a file of its own.
struct RecordFormat {
  std::string_view name, about;  // for people
  Outline::Form form = Outline::Form::object;
  std::vector<std::string_view> members;     // all of them are in each file of this format
  std::vector<std::string_view> inner = {};  // these, too, one level deeper
  std::vector<std::string_view> usual = {};  // often there: a file with these resembles the format
  std::vector<Records> (*parse)(const Source&) = nullptr;
};

/// More telling formats come first: the first that matches is taken.
std::span<const RecordFormat> all_formats();
/// nullptr: none.
const RecordFormat* find_format(const Outline&);
/// "found JSON with 'a', 'b', which resembles T4 but has no 'results'; …", of what no format matches.
std::string unknown_format(const Outline&);
/// " in a table, which resembles Helion log (…) but has no 'config'", of a table with these columns; "": it resembles
/// none.
std::string resemblance_of_table(const std::vector<std::string>& heads);

std::vector<Records> parse_json_source(const Source&);   // Kernel Tuner's caches, T4
std::vector<Records> parse_table_source(const Source&);  // CSV
std::vector<Records> parse_ktt_json(const Source&);
std::vector<Records> parse_ktt_xml(const Source&);
std::vector<Records> parse_clblast_results(const Source&);
std::vector<Records> parse_clblast_database(const Source&);
std::vector<Records> parse_autotvm(const Source&);
std::vector<Records> parse_ansor(const Source&);
std::vector<Records> parse_meta_schedule(const Source&);
std::vector<Records> parse_triton(const Source&);
std::vector<Records> parse_helion_log(const Source&);           // CSV
std::vector<Records> parse_helion_metadata(const Source&);      // JSON lines
std::vector<Records> parse_helion_measurements(const Source&);  // CSV
std::vector<Records> parse_helion_configs(const Source&);       // JSON
std::vector<Records> parse_helion_winners(const Source&);       // JSON
std::vector<Records> parse_cutile(const Source&);
std::vector<Records> parse_looperset(const Source&);

}  // namespace deplo::search::records
