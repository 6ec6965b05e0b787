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

// The parameters in NAME.T1.json beside NAME.csv; none without such a file.
std::vector<std::string> t1_parameters(const std::filesystem::path& file, const std::string& name) {
  const std::filesystem::path t1 = file.parent_path() / (name + ".T1.json");
  std::error_code none;
  if (!std::filesystem::is_regular_file(t1, none)) return {};
  return parse_t1_parameters(records::read_unpacked(t1), t1.string());
}

}  // namespace

Records parse_records(std::string_view text, const std::string& place, const Reading& reading) {
  const auto no_space = [&](std::string_view found) {
    return Error(fmt::format("{}: expected a recorded space in JSON or CSV, found {}", place, found));
  };
  if (text.starts_with("SQLite format 3")) throw no_space("a database");
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) throw no_space("UTF-16; save it as UTF-8");
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // an editor's byte order mark
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos) throw no_space("nothing");
  if (text[start] == '[') throw no_space("a JSON array; a Kernel Tuner cache and T4 are objects, { … }");
  if (is_tvm_log(text.substr(start))) return parse_tvm_records(text, place);
  if (text[start] == '{') return parse_json_records(text, place, reading);
  return parse_table_records(text, place, reading);
}

std::string_view recorded_formats() {
  return "Kernel Tuner     its cache, of versions 1.0 to 1.5 (JSON)\n"
         "T4               results in the community's schema (JSON)\n"
         "KTT              its own results (JSON)\n"
         "CLBlast          the results of its tuners, clblast_*.json\n"
         "AutoTVM          TVM's tuning log of one task, a JSON object on each line\n"
         "tables           CSV with a header: parameters, times, results\n"
         "All but AutoTVM and tables begin with {. A file may be packed as .gz; a table also as .zip.\n";
}

Records read_records(const std::filesystem::path& file, const Reading& reading) {
  const std::string name = name_of(file);
  Reading own = reading;
  if (own.columns.parameters.empty()) own.columns.parameters = t1_parameters(file, name.substr(name.rfind('/') + 1));
  Records records = parse_records(records::read_unpacked(file), file.string(), own);
  records.name = name;
  return records;
}

}  // namespace deplo::search
