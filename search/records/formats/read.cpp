#include "search/records/formats/read.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "search/records/formats/formats.h"
#include "search/records/formats/parts/json_text.h"
#include "search/records/formats/parts/unpack.h"

namespace deplo::search {
namespace {

/// How other files begin, and what they are.
constexpr std::pair<std::string_view, std::string_view> starts_of_other_files[] = {
    {"SQLite format 3", "a database"},
    {"BZh", "a file packed by bzip2; unpack it, or pack it as .gz or .zip"},
    {"\xfd\x37zXZ", "a file packed by xz; unpack it, or pack it as .gz or .zip"},
    {"\x28\xb5\x2f\xfd", "a file packed by zstd; unpack it, or pack it as .gz or .zip"},
    {"version https://git-lfs", "a pointer of Git LFS; fetch the file itself with `git lfs pull`"},
};

// convolution_milo/A100.json.gz → convolution_milo/A100
std::string name_of(const std::filesystem::path& file) {
  std::filesystem::path stem = file.filename();
  const auto leave_out = [&](std::initializer_list<std::string_view> endings) {
    if (std::ranges::find(endings, stem.extension().string()) != endings.end()) stem = stem.stem();
  };
  leave_out({".gz", ".zip"});
  if (records::has_record_ending(stem.string())) stem = stem.stem();
  leave_out({".meta", ".autotune"});
  // Normal, because ./x.json is x.json: the seeds of a comparison follow from the name.
  const std::filesystem::path path = std::filesystem::absolute(file).lexically_normal();
  const std::string folder = path.parent_path().filename().string();
  return folder.empty() ? stem.string() : folder + "/" + stem.string();
}

// The parameters in NAME.T1.json next to NAME.csv; empty if there is no such file.
std::vector<std::string> t1_parameters(const std::filesystem::path& file, const std::string& name) {
  const std::filesystem::path t1 = file.parent_path() / (name + ".T1.json");
  std::error_code none;
  if (!std::filesystem::is_regular_file(t1, none)) return {};
  return parse_t1_parameters(records::read_unpacked(t1), t1.string());
}

// The text of NAME.meta.jsonl next to NAME.csv; "" if there is no such file.
std::string helion_metadata(const std::filesystem::path& file, const std::string& stem) {
  const std::filesystem::path metadata = file.parent_path() / (stem + ".meta.jsonl");
  std::error_code none;
  if (metadata == file || !std::filesystem::is_regular_file(metadata, none)) return "";
  return records::read_unpacked(metadata);
}

/// Throws NotRecorded with the syntax error if the text is not valid JSON.
void refuse_broken_json(std::string_view text, const std::string& place) {
  try {
    records::each_json_line(text, "", "a recorded space", [](const records::JsonLine&) {});
  } catch (const Error& e) {
    const std::string message = e.what();  // ":3: expected …"
    throw NotRecorded(place, message.substr(message.find(": ") + 2));
  }
}

}  // namespace

std::vector<Records> parse_spaces(std::string_view text, const std::string& place, const Reading& reading) {
  const auto no_space = [&](std::string_view found) {
    return NotRecorded(place, fmt::format("expected a recorded space, found {}", found));
  };
  for (const auto& [start, found] : starts_of_other_files)
    if (text.starts_with(start)) throw no_space(found);
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))
    throw Error(place + ": expected a recorded space, found UTF-16; save it as UTF-8");
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // an editor's byte order mark
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) throw no_space("nothing");
  const records::Outline outline = records::outline_of(text);
  if (outline.form == records::Outline::Form::table && text.find('\0') != std::string_view::npos)
    throw no_space("binary data");
  if (const records::RecordFormat* const format = records::find_format(outline))
    return format->parse({text, place, reading});
  if (outline.form == records::Outline::Form::object || outline.form == records::Outline::Form::array)
    refuse_broken_json(text, place);
  throw NotRecorded(place, "expected a recorded space, " + records::unknown_format(outline));
}

std::string recorded_formats() {
  std::string text;
  for (const records::RecordFormat& format : records::all_formats())
    text += fmt::format("{:<21}{}\n", format.name, format.about);
  return text + "A file may be packed as .gz, or be the only such file of a .zip. A folder stands for its files.\n";
}

std::vector<Records> read_spaces(const std::filesystem::path& file, const Reading& reading) {
  const std::string name = name_of(file);
  const std::string stem = name.substr(name.rfind('/') + 1);
  Reading own = reading;
  if (own.columns.parameters.empty()) own.columns.parameters = t1_parameters(file, stem);
  if (own.companion.empty()) own.companion = helion_metadata(file, stem);
  std::vector<Records> spaces = parse_spaces(records::read_unpacked(file), file.string(), own);
  for (Records& records : spaces) records.name = spaces.size() == 1 ? name : fmt::format("{}/{}", name, records.kernel);
  return spaces;
}

}  // namespace deplo::search
