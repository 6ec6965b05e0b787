#include "search/records/formats/parts/json_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/error.h"
#include "core/text/json_builder.h"
#include "core/text/number.h"
#include "search/records/spelling.h"

namespace deplo::search::records {

namespace {

constexpr std::array<std::string_view, 4> no_numbers = {"NaN", "Infinity", "nan", "inf"};

}  // namespace

bool may_have_nan(std::string_view text) {
  return std::ranges::any_of(no_numbers,
                             [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

std::string without_nan(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = text.substr(i);
    const auto word =
        std::ranges::find_if(no_numbers, [&](std::string_view spelling) { return rest.starts_with(spelling); });
    if (!quoted && word != no_numbers.end()) {
      if (out.ends_with('-')) out.pop_back();
      out += "null";
      i += word->size() - 1;
      continue;
    }
    if (text[i] == '"') quoted = !quoted;
    out += text[i];
    if (text[i] == '\\' && quoted && i + 1 < text.size()) out += text[++i];
  }
  return out;
}

bool is_cut_off(std::string_view text, std::size_t byte) {
  if (byte > text.size()) return true;
  const std::size_t begin = text.find_last_of(" \t\r\n:,[-") + 1;  // of the last word; 0 if it is the only one
  const auto is_begun = [&](std::string_view word) { return word.starts_with(text.substr(begin)); };
  return byte > begin && std::ranges::any_of(no_numbers, is_begun);
}

Json parse_json(std::string_view text, const std::string& place, std::string_view what) {
  const bool is_clean = !may_have_nan(text);
  const std::string clean = is_clean ? std::string() : without_nan(text);
  Json document;
  JsonBuilder<Json> builder(document, limits, place);
  try {
    Json::sax_parse(is_clean ? text : std::string_view(clean), &builder);
    return document;
  } catch (const Json::exception& e) {
    throw not_json(place, what, e);
  }
}

Error not_json(const std::string& place, std::string_view what, const Json::exception& e) {
  // Keeps what follows the bracket in nlohmann's "[json.exception.parse_error.101] parse error at line 1, column 1: …".
  const std::string_view message = e.what();
  const std::size_t bracket = message.find("] ");
  return Error(fmt::format("{}: expected {} in JSON: {}", place, what,
                           message.substr(bracket == std::string_view::npos ? 0 : bracket + 2).substr(0, 200)));
}

Json json_in(std::string_view text) {
  try {
    return parse_json(text, "", "");
  } catch (const Error&) {
    return {};
  }
}

Json json_in_cell(const std::string& cell) {
  Json json = Json::parse(json_of_cell(cell), nullptr, false);
  return json.is_discarded() ? Json(cell) : json;
}

std::string value_json(const Json& json) {
  if (json.is_number_float()) return json_of(json.get<double>());
  const std::string text = compact(json);
  return json.is_structured() ? compact(Json(text)) : text;
}

std::string text_of(const Json& json, const char* key) {
  const Json& member = member_of(json, key);
  return member.is_string() ? member.get<std::string>() : "";
}

const Json& member_of(const Json& json, const std::string& key) {
  static const Json none;
  if (!json.is_object()) return none;
  const auto found = json.find(key);
  return found == json.end() ? none : *found;
}

std::optional<double> number_of(const Json& json) {
  if (json.is_number()) return json.get<double>();
  if (!json.is_string()) return std::nullopt;
  const auto number = parse_number<double>(json.get_ref<const std::string&>());
  return number && std::isfinite(*number) ? number : std::nullopt;
}

std::string excerpt(const Json& json) { return compact(json).substr(0, 40); }

std::string compact(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

void each_json_line(std::string_view text, const std::string& place, std::string_view what,
                    const std::function<void(JsonLine)>& take) {
  std::size_t number = 0;
  bool taken = false;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    const std::string_view line = text.substr(start, end - start);
    start = end + 1;
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos || line.starts_with('#')) continue;
    const std::string at = fmt::format("{}:{}", place, number);
    if (taken && text.find_first_not_of(" \t\r\n", end) == std::string_view::npos && !Json::accept(without_nan(line)))
      return;
    if (!taken && !Json::accept(without_nan(line))) return take({parse_json(text, place, what), place});
    take({parse_json(line, at, what), at});
    taken = true;
  }
}

}  // namespace deplo::search::records
