#include "ir/torch/expression/syntax/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/text/characters.h"
#include "core/text/one_of.h"

namespace deplo::ir::torch::python {
namespace {

// Signs of more than one character, longest first.
constexpr std::array<std::string_view, 24> long_signs = {"**=", "//=", "<<=", ">>=", "...", "**", "//", "<<",
                                                         ">>",  "<=",  ">=",  "==",  "!=",  "->", ":=", "+=",
                                                         "-=",  "*=",  "/=",  "%=",  "@=",  "&=", "|=", "^="};
// Prefixes of strings.
constexpr std::array<std::string_view, 6> string_prefixes = {"r", "R", "u", "U", "f", "F"};
constexpr std::string_view single_signs = "()[]{},:;.+-*/%@&|^~<>=";

class Lexer {
 public:
  Lexer(std::string_view text, std::string_view where) : text_(text), where_(where) {}
  std::vector<Token> run();
  std::vector<Token> run_expression(Place begin);

 private:
  Place place(std::size_t at) const { return {line_, at - line_begin_ + 1}; }
  bool starts(std::string_view s) const { return text_.substr(at_).starts_with(s); }
  void add(Token::Kind kind, std::string_view text, Place p) { tokens_.push_back({kind, text, p}); }
  void end_line();
  void open_line();
  bool skip_blank();
  void indentation(std::size_t width);
  void word();
  void number();
  void string(Token::Kind kind);
  void next();
  void sign();
  void take(Token::Kind kind, std::size_t length);

  std::string_view text_, where_;
  std::size_t at_ = 0, line_ = 1, line_begin_ = 0;
  std::size_t brackets_ = 0;
  Place last_end_;                    // end of the last token of the logical line
  std::vector<std::size_t> indents_;  // widths of the open blocks, the outermost first
  std::vector<Token> tokens_;
};

void Lexer::end_line() {
  ++at_;
  ++line_;
  line_begin_ = at_;
}

// Skips spaces, comments, and a `\` before the end of a line. Returns false at the end of a line or of the text.
bool Lexer::skip_blank() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == ' ' || c == '\t' || c == '\r') {
      ++at_;
    } else if (c == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (starts("\\\n") || starts("\\\r\n")) {
      at_ = text_.find('\n', at_);
      end_line();
    } else {
      return c != '\n';
    }
  }
  return false;
}

// Measures the indentation of a line. A tab advances to the next multiple of 8, as in Python.
void Lexer::open_line() {
  std::size_t width = 0;
  for (; at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t'); ++at_)
    width = text_[at_] == '\t' ? width / 8 * 8 + 8 : width + 1;
  if (skip_blank()) indentation(width);
}

void Lexer::indentation(std::size_t width) {
  if (indents_.empty()) indents_.push_back(width);
  if (width > indents_.back()) {
    if (indents_.size() > max_levels) fail(where_, place(at_), fmt::format("expected at most {} levels", max_levels));
    indents_.push_back(width);
    add(Token::Kind::indent, {}, place(at_));
  }
  while (width < indents_.back() && indents_.size() > 1) {
    indents_.pop_back();
    add(Token::Kind::dedent, {}, place(at_));
  }
  if (width != indents_.back())
    fail(where_, place(at_), fmt::format("expected {} spaces of indentation, found {}", indents_.back(), width));
}

void Lexer::take(Token::Kind kind, std::size_t length) {
  add(kind, text_.substr(at_, length), place(at_));
  at_ += length;
}

void Lexer::word() {
  std::size_t end = at_;
  while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]))) ++end;
  if (end - at_ > max_name_bytes)
    fail(where_, place(at_), fmt::format("expected a name of at most {} letters, found {}", max_name_bytes, end - at_));
  const std::string_view prefix = text_.substr(at_, end - at_);
  const bool quoted = end < text_.size() && (text_[end] == '"' || text_[end] == '\'');
  if (!quoted || !is_one_of(prefix, string_prefixes)) return take(Token::Kind::name, end - at_);
  at_ = end;
  const bool is_raw = prefix == "r" || prefix == "R", is_format = prefix == "f" || prefix == "F";
  string(is_raw ? Token::Kind::raw : is_format ? Token::Kind::format : Token::Kind::string);
}

void Lexer::number() {
  std::size_t end = at_;
  if (text_[at_] == '0' && end + 1 < text_.size() &&
      std::string_view("xXoObB").find(text_[end + 1]) != std::string_view::npos) {
    end += 2;
    while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]))) ++end;
    return take(Token::Kind::integer, end - at_);
  }
  const auto digits = [&] {
    while (end < text_.size() && (is_digit(text_[end]) || text_[end] == '_')) ++end;
  };
  bool real = false;
  digits();
  if (end < text_.size() && text_[end] == '.') {
    real = true;
    ++end;
    digits();
  }
  if (end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
    const std::size_t sign = end + 1 < text_.size() && (text_[end + 1] == '+' || text_[end + 1] == '-') ? 1 : 0;
    if (end + 1 + sign < text_.size() && is_digit(text_[end + 1 + sign])) {
      real = true;
      end += 1 + sign;
      digits();
    }
  }
  const auto is_part_of_name = [&](std::size_t at) {
    return at < text_.size() && (is_letter(text_[at]) || is_digit(text_[at]));
  };
  if (end < text_.size() && (text_[end] == 'j' || text_[end] == 'J') && !is_part_of_name(end + 1))
    return take(Token::Kind::imaginary, end + 1 - at_);
  take(real ? Token::Kind::real : Token::Kind::integer, end - at_);
}

// Reads a string. Its escapes stay as they are.
void Lexer::string(Token::Kind kind) {
  const Place begin = place(at_);
  const std::string_view quote = text_.substr(at_, starts("\"\"\"") || starts("'''") ? 3 : 1);
  const std::size_t first = at_ += quote.size();
  for (; !starts(quote); ++at_) {
    const bool is_escape = at_ < text_.size() && text_[at_] == '\\';
    if (is_escape) ++at_;
    if (at_ >= text_.size() || (text_[at_] == '\n' && quote.size() == 1 && !is_escape))
      fail(where_, begin,
           fmt::format("expected {} at the end of the string, found the end of the {}", quote,
                       at_ >= text_.size() ? "text" : "line"));
    if (text_[at_] == '\n') {
      ++line_;
      line_begin_ = at_ + 1;
    }
  }
  add(kind, text_.substr(first, at_ - first), begin);
  at_ += quote.size();
}

void Lexer::sign() {
  const auto* const known = std::find_if(long_signs.begin(), long_signs.end(), [&](auto s) { return starts(s); });
  if (known != long_signs.end()) return take(Token::Kind::sign, known->size());
  const char c = text_[at_];
  if (single_signs.find(c) == std::string_view::npos)
    fail(where_, place(at_),
         fmt::format("expected an expression, found {}", describe({Token::Kind::sign, text_.substr(at_, 1), {}})));
  if (c == '(' || c == '[' || c == '{') ++brackets_;
  if ((c == ')' || c == ']' || c == '}') && brackets_ > 0) --brackets_;
  take(Token::Kind::sign, 1);
}

void Lexer::next() {
  const char c = text_[at_];
  if (is_letter(c)) {
    word();
  } else if (is_digit(c) || (c == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]))) {
    number();
  } else if (c == '"' || c == '\'') {
    string(Token::Kind::string);
  } else {
    sign();
  }
  last_end_ = place(at_);
}

std::vector<Token> Lexer::run_expression(Place begin) {
  line_ = begin.line;
  line_begin_ = 0 - (begin.column - 1);  // may wrap around; place() cancels this
  while (at_ < text_.size()) {
    if (skip_blank()) next();
    if (at_ < text_.size() && text_[at_] == '\n') end_line();
  }
  add(Token::Kind::end, {}, place(at_));
  return std::move(tokens_);
}

std::vector<Token> Lexer::run() {
  open_line();
  while (at_ < text_.size()) {
    if (skip_blank()) {
      next();
    } else if (at_ < text_.size()) {
      const bool blank = tokens_.empty() || tokens_.back().kind == Token::Kind::newline;
      if (brackets_ == 0 && !blank) add(Token::Kind::newline, {}, last_end_);
      end_line();
      if (brackets_ == 0) open_line();
    }
  }
  if (!tokens_.empty() && tokens_.back().kind != Token::Kind::newline) add(Token::Kind::newline, {}, last_end_);
  for (std::size_t i = 1; i < indents_.size(); ++i) add(Token::Kind::dedent, {}, place(at_));
  add(Token::Kind::end, {}, place(at_));
  return std::move(tokens_);
}

}  // namespace

void fail(std::string_view where, Place p, std::string_view message) {
  throw PlacedError(fmt::format("{}:{}:{}: {}", where, p.line, p.column, message));
}

std::vector<Token> tokenize(std::string_view text, std::string_view where) {
  if (text.size() > max_bytes)
    fail(where, {}, fmt::format("expected at most {} bytes, found {}", max_bytes, text.size()));
  return Lexer(text, where).run();
}

std::vector<Token> tokenize_expression(std::string_view text, std::string_view where, Place begin) {
  return Lexer(text, where).run_expression(begin);
}

std::string describe(const Token& t) {
  if (t.kind == Token::Kind::newline) return "the end of the line";
  if (t.kind == Token::Kind::indent) return "a line that is indented more";
  if (t.kind == Token::Kind::dedent) return "a line that is indented less";
  if (t.kind == Token::Kind::end) return "the end of the text";
  if (t.kind == Token::Kind::string || t.kind == Token::Kind::raw || t.kind == Token::Kind::format) return "a string";
  const auto byte = static_cast<unsigned char>(t.text[0]);
  if (byte < 0x20 || byte > 0x7e) return fmt::format("the byte 0x{:02x}", byte);
  return fmt::format("`{}`{}", t.text.substr(0, 40), t.text.size() > 40 ? "…" : "");
}

}  // namespace deplo::ir::torch::python
