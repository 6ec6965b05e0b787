#include "search/records/formats/parts/python_literal.h"

#include <cctype>
#include <string>

namespace deplo::search::records {
namespace {

bool is_name_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.'; }

/// Each function moves past the text that it reads. A false `ok_` ends the reading, also from deep inside.
class LiteralReader {
 public:
  explicit LiteralReader(std::string_view text) : text_(text) {}

  std::optional<Json> call() {
    blanks();
    if (peek() == '{') {
      Json object = value(0);
      return done() ? std::optional(std::move(object)) : std::nullopt;
    }
    name();
    Json object = Json::object();
    if (!take('(')) return std::nullopt;
    while (ok_ && !take(')')) {
      const std::string key = name();
      if (key.empty() || !take('=') || object.size() >= limits.members) return std::nullopt;
      object[key] = value(0);
      if (!take(',') && peek() != ')') return std::nullopt;
    }
    return done() ? std::optional(std::move(object)) : std::nullopt;
  }

 private:
  bool done() {
    blanks();
    return ok_ && at_ == text_.size();
  }
  void blanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  char peek() {
    blanks();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (peek() != c || at_ >= text_.size()) return false;
    ++at_;
    return true;
  }
  std::string name() {
    blanks();
    const std::size_t start = at_;
    while (at_ < text_.size() && is_name_char(text_[at_])) ++at_;
    return std::string(text_.substr(start, at_ - start));
  }
  Json wrong() {
    ok_ = false;
    return {};
  }

  Json value(int depth) {
    constexpr int max_depth = 32;
    const char c = peek();
    if (depth > max_depth) return wrong();
    if (c == '[' || c == '(') return list(c == '[' ? ']' : ')', depth);
    if (c == '{') return dict(depth);
    if (c == '\'' || c == '"') return quoted();
    return word();
  }

  Json list(char end, int depth) {
    ++at_;
    Json items = Json::array();
    while (ok_ && !take(end)) {
      items.push_back(value(depth + 1));
      if (!take(',') && peek() != end) return wrong();
    }
    return items;
  }

  Json dict(int depth) {
    ++at_;
    Json object = Json::object();
    while (ok_ && !take('}')) {
      const Json key = value(depth + 1);
      if (!take(':') || object.size() >= limits.members) return wrong();
      object[key.is_string() ? key.get<std::string>() : compact(key)] = value(depth + 1);
      if (!take(',') && peek() != '}') return wrong();
    }
    return object;
  }

  Json quoted() {
    const char quote = text_[at_++];
    std::string text;
    for (; at_ < text_.size() && text_[at_] != quote; ++at_) {
      // in configurations, only quotes and backslashes are escaped
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      text += text_[at_];
    }
    return take(quote) ? Json(text) : wrong();
  }

  Json word() {
    const std::size_t start = at_;
    while (at_ < text_.size() && (is_name_char(text_[at_]) || text_[at_] == '-' || text_[at_] == '+')) ++at_;
    const std::string_view word = text_.substr(start, at_ - start);
    if (word.empty()) return wrong();
    if (word == "None" || word == "nan" || word == "inf" || word == "-inf") return {};
    if (word == "True" || word == "False") return word == "True";
    const Json number = Json::parse(word, nullptr, false);
    return number.is_number() ? number : Json(std::string(word));  // such as torch.float16
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

}  // namespace

std::optional<Json> parse_python_call(std::string_view text) { return LiteralReader(text).call(); }

}  // namespace deplo::search::records
