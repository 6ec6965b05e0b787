#include "ir/torch/pt2/program/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/text/json_builder.h"

namespace deplo::ir::torch::pt2 {
namespace {

using Document = nlohmann::json;

// A large model has some 100,000 values, each a member of one object.
constexpr JsonLimits limits = {.levels = 128, .values = 4'000'000, .members = 4'000'000};

std::string describe(const Document& value) {
  if (value.is_string()) return fmt::format("'{}'", value.get_ref<const std::string&>().substr(0, 64));
  if (value.is_number()) return value.dump();
  return fmt::format("{} {}", value.is_array() || value.is_object() ? "an" : "a", value.type_name());
}

// PyTorch up to 2.7 writes non-finite numbers without quotes, as Python does; later versions write strings. This
// function adds the quotes.
std::string quote_non_finite(const std::string& text) {
  std::string out;
  out.reserve(text.size() + 64);
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i + 1;
    if (text[i] == '"') {
      while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
      end = std::min(end + 1, text.size());
      out.append(text, i, end - i);
    } else if (const std::size_t sign = text[i] == '-' ? 1 : 0; text.compare(i + sign, 8, "Infinity") == 0) {
      end = i + sign + 8;
      out.append("\"").append(text, i, end - i).append("\"");
    } else if (text.compare(i, 3, "NaN") == 0) {
      end = i + 3;
      out.append("\"NaN\"");
    } else {
      out.push_back(text[i]);
    }
    i = end;
  }
  return out;
}

}  // namespace

void Json::fail(std::string_view expected) const { fail(expected, describe(*value_)); }
void Json::fail(std::string_view expected, std::string_view found) const {
  throw Error(fmt::format("{}: {}: expected {}, found {}", *where_, path_.empty() ? "/" : path_, expected, found));
}

Json Json::inner(const Document& value, std::string path) const {
  return {std::shared_ptr<const Document>(value_, &value), *where_, std::move(path)};
}

bool Json::has(std::string_view key) const {
  if (!value_->is_object()) return false;
  const auto found = value_->find(key);
  return found != value_->end() && !found->is_null();
}

Json Json::at(std::string_view key) const {
  if (!value_->is_object()) fail(fmt::format("an object with '{}'", key));
  const auto found = value_->find(key);
  if (found == value_->end()) fail(fmt::format("a member '{}'", key), "none");
  return inner(*found, fmt::format("{}/{}", path_, key));
}

std::string Json::text() const {
  if (!value_->is_string()) fail("a string");
  return value_->get<std::string>();
}

std::int64_t Json::integer() const {
  if (!value_->is_number_integer()) fail("an integer");
  if (value_->is_number_unsigned() && value_->get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max())
    fail("an integer below 2^63");
  return value_->get<std::int64_t>();
}

double Json::number() const {
  if (value_->is_number()) return value_->get<double>();
  if (*value_ == "Infinity") return std::numeric_limits<double>::infinity();
  if (*value_ == "-Infinity") return -std::numeric_limits<double>::infinity();
  if (*value_ == "NaN") return std::numeric_limits<double>::quiet_NaN();
  fail("a number");
}

bool Json::flag() const {
  if (!value_->is_boolean()) fail("true or false");
  return value_->get<bool>();
}

void Json::each(const std::function<void(const Json&)>& element) const {
  if (!value_->is_array()) fail("an array");
  for (std::size_t i = 0; i < value_->size(); ++i) element(inner((*value_)[i], fmt::format("{}/{}", path_, i)));
}

void Json::each_member(const std::function<void(const std::string&, const Json&)>& member) const {
  if (!value_->is_object()) fail("an object");
  for (const auto& [key, value] : value_->items()) member(key, inner(value, fmt::format("{}/{}", path_, key)));
}

std::string Json::alternative() const {
  if (!value_->is_object() || value_->size() != 1) fail("an object with one member");
  return value_->begin().key();
}

Json Json::parse(const std::string& text, const std::string& where) {
  const auto document = std::make_shared<Document>();
  JsonBuilder<Document> builder(*document, limits, where);
  try {
    Document::sax_parse(quote_non_finite(text), &builder);
    return {document, where, ""};
  } catch (const Document::exception& e) {
    throw Error(fmt::format("{}: expected JSON: {}", where, e.what()));
  }
}

}  // namespace deplo::ir::torch::pt2
