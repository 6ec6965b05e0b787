#include "search/records/read.h"

#include <fmt/format.h>

#include "core/error.h"
#include "search/records/unpack.h"

namespace deplo::search {
namespace {

// convolution_milo/A100.json.gz → convolution_milo/A100
std::string name_of(const std::filesystem::path& file) {
  std::string stem = file.filename().string();
  for (const std::string_view ending : {".gz", ".zip", ".json", ".csv"})
    if (stem.size() > ending.size() && stem.ends_with(ending)) stem = stem.substr(0, stem.size() - ending.size());
  const std::string folder = std::filesystem::absolute(file).parent_path().filename().string();
  return folder.empty() ? stem : folder + "/" + stem;
}

}  // namespace

Records parse_records(std::string_view text, const std::string& place, const std::optional<Columns>& columns) {
  const auto no_space = [&](std::string_view found) {
    return Error(fmt::format("{}: expected a recorded space in JSON or CSV, found {}", place, found));
  };
  if (text.starts_with("SQLite format 3")) throw no_space("a database");
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) throw no_space("UTF-16; save it as UTF-8");
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // an editor's byte order mark
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos) throw no_space("nothing");
  if (text[start] == '[') throw no_space("a JSON array; a Kernel Tuner cache and T4 are objects, { … }");
  if (text[start] == '{') return parse_json_records(text, place);
  return parse_table_records(text, place, columns);
}

Records read_records(const std::filesystem::path& file, const std::optional<Columns>& columns) {
  Records records = parse_records(records::read_unpacked(file), file.string(), columns);
  records.name = name_of(file);
  return records;
}

}  // namespace deplo::search
