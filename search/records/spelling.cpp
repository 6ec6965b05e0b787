#include "search/records/spelling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "core/error.h"
#include "core/text/json.h"
#include "core/text/number.h"
#include "core/text/text.h"

namespace deplo::search::records {
namespace {

std::optional<double> number_in(std::string_view text) {
  const auto number = parse_number<double>(text);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

std::optional<std::string> string_in(std::string_view json) {
  if (!json.starts_with('"')) return std::nullopt;
  const nlohmann::json parsed = nlohmann::json::parse(json, nullptr, false);
  if (!parsed.is_string()) return std::nullopt;
  return parsed.get<std::string>();
}

}  // namespace

std::string json_of(double number) {
  CHECK(std::isfinite(number));
  std::string text = fmt::format("{}", number);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string json_of(const Value& value) { return deplo::Json(value).print(); }

std::string json_of_cell(std::string_view cell) {
  if (cell == "True" || cell == "true") return "true";
  if (cell == "False" || cell == "false") return "false";
  if (cell == "null") return "null";
  const Value value = parse_value(cell);
  // an integer beyond 64 bits stays text
  const bool digits = cell.find_first_not_of("-0123456789") == std::string_view::npos;
  if (std::holds_alternative<std::string>(value) && !digits)
    if (const auto number = number_in(cell)) return json_of(*number);
  if (const auto text = string_in(cell)) return deplo::Json(*text).print();
  return json_of(value);
}

Value value_of_json(std::string_view json) {
  if (json == "true" || json == "false") return std::int64_t{json == "true"};
  if (const auto text = string_in(json)) return parse_value(*text);
  const Value value = parse_value(json);
  if (std::holds_alternative<std::int64_t>(value)) return value;
  constexpr double exact_limit = 0x1p53;  // integers up to here are exact
  const auto number = number_in(json);
  if (number && std::floor(*number) == *number && std::abs(*number) < exact_limit)
    return static_cast<std::int64_t>(*number);
  return value;
}

std::string python_of_json(std::string_view json) {
  if (json == "true") return "True";
  if (json == "false") return "False";
  if (json == "null") return "None";
  return string_in(json).value_or(std::string(json));
}

Status status_of_failure(std::string_view word) {
  if (const std::optional<Status> own = find_status(word); own && *own != Status::ok) return *own;
  constexpr std::pair<std::string_view, Status> parts[] = {{"compil", Status::build_error},
                                                           {"runtime", Status::launch_error},
                                                           {"correct", Status::wrong_result},
                                                           {"wrong", Status::wrong_result},
                                                           {"timeout", Status::timeout}};
  const std::string lower = lower_case(word);
  for (const auto& [part, status] : parts)
    if (lower.find(part) != std::string::npos) return status;
  return Status::invalid;
}

bool is_word_of_success(std::string_view word) {
  constexpr std::string_view words[] = {"", "ok", "success", "succeeded", "pass", "passed", "correct", "valid"};
  return std::ranges::find(words, lower_case(word)) != std::end(words);
}

bool is_cache_member(std::string_view name) {
  constexpr std::string_view names[] = {"times",         "compile_time",   "verification_time", "benchmark_time",
                                        "strategy_time", "framework_time", "timestamp",         "status",
                                        "message",       "__error__"};
  return std::ranges::find(names, name) != std::end(names);
}

std::string cell_of_json(std::string_view json) {
  std::string cell = json == "null" ? "null" : python_of_json(json);
  return json_of_cell(cell) == json ? cell : std::string(json);
}

}  // namespace deplo::search::records
