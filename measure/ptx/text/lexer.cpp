#include "measure/ptx/text/lexer.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>

#include "core/error.h"
#include "core/text/characters.h"
#include "core/text/number.h"

namespace deplo::measure::ptx {
namespace {

bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '$' || c == '%' || c == '.'; }

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(source) {}

  std::vector<Token> run() {
    for (skip_space(); at_ < source_.size(); skip_space()) tokens_.push_back(next());
    tokens_.push_back({.kind = Token::Kind::end, .text = "the end", .line = line_});
    return std::move(tokens_);
  }

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0'; }
  [[noreturn]] void fail(const std::string& what) const { throw Error(fmt::format("PTX line {}: {}", line_, what)); }

  void skip_space() {
    for (;;) {
      if (peek() == '\n') ++line_;
      if (at_ < source_.size() && std::string_view(" \t\r\n\f\v").find(peek()) != std::string_view::npos) {
        ++at_;
      } else if (peek() == '/' && peek(1) == '/') {
        at_ = std::min(source_.find('\n', at_), source_.size());
      } else if (peek() == '/' && peek(1) == '*') {
        skip_comment();
      } else {
        return;
      }
    }
  }

  void skip_comment() {
    const std::size_t end = source_.find("*/", at_ + 2);
    if (end == std::string_view::npos) fail("expected */ after /*, found the end");
    for (; at_ < end + 2; ++at_) line_ += source_[at_] == '\n' ? 1 : 0;
  }

  Token next() {
    if (is_digit(peek())) return number();
    if (is_word(peek())) return word();
    if (peek() == '"') return text();
    const std::string_view mark = source_.substr(at_++, 1);
    if (std::string_view("{}()[]<>,;:@!|+-=").find(mark) == std::string_view::npos)
      fail(fmt::format("expected a word, a number or a mark, found byte {:#04x}", static_cast<unsigned char>(mark[0])));
    return {.kind = Token::Kind::mark, .text = mark, .line = line_};
  }

  // A colon belongs to a word only if a second colon follows: "shared::cluster" is a word, "$L__BB0_2:" a word and a
  // mark.
  Token word() {
    const std::size_t begin = at_;
    while (is_word(peek()) || (peek() == ':' && peek(1) == ':')) at_ += peek() == ':' ? 2 : 1;
    return {.kind = Token::Kind::word, .text = source_.substr(begin, at_ - begin), .line = line_};
  }

  Token text() {
    const std::size_t begin = ++at_;
    while (at_ < source_.size() && peek() != '"' && peek() != '\n') at_ += peek() == '\\' && peek(1) != '\n' ? 2 : 1;
    if (peek() != '"') fail("expected \" at the end of a string");
    return {.kind = Token::Kind::text, .text = source_.substr(begin, at_++ - begin), .line = line_};
  }

  // PTX ISA, "Constants": 0x1f, 017, 0b101, 12U, 0f3F800000 and 0d3FF0000000000000 (the bits of a float), 1.5e3.
  Token number() {
    const std::size_t begin = at_;
    while (is_word(peek()) || ((peek() == '+' || peek() == '-') && is_exponent(begin))) ++at_;
    std::string_view text = source_.substr(begin, at_ - begin);
    Token token{.kind = Token::Kind::number, .text = text, .line = line_};
    const auto prefix = text.size() > 1 && text[0] == '0' ? text[1] | 0x20 : 0;
    if (prefix == 'f' || prefix == 'd') {
      token.float_bits = prefix == 'f' ? 32 : 64;
      token.bits = integer(text.substr(2), 16);
    } else if (prefix == 'x') {
      token.bits = integer(text.substr(2), 16);
    } else if (text.find('.') != std::string_view::npos) {
      token.float_bits = 64;
      token.bits = std::bit_cast<std::uint64_t>(decimal(text));
    } else if (prefix == 'b') {
      token.bits = integer(text.substr(2), 2);
    } else {
      token.bits = integer(text, text.size() > 1 && text[0] == '0' ? 8 : 10);
    }
    return token;
  }

  bool is_exponent(std::size_t begin) const {
    const std::string_view text = source_.substr(begin, at_ - begin);
    return text.find('.') != std::string_view::npos && (text.back() == 'e' || text.back() == 'E');
  }

  std::uint64_t integer(std::string_view digits, int base) const {
    if (!digits.empty() && digits.back() == 'U') digits.remove_suffix(1);
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
    if (error != std::errc() || end != digits.data() + digits.size())
      fail(fmt::format("expected a number of at most 64 bits, found '{}'", digits));
    return value;
  }

  double decimal(std::string_view digits) const {
    const auto value = parse_number<double>(digits);
    if (!value) fail(fmt::format("expected a float, found '{}'", digits));
    return *value;
  }

  std::string_view source_;
  std::size_t at_ = 0;
  int line_ = 1;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokens_of(std::string_view source) { return Lexer(source).run(); }

}  // namespace deplo::measure::ptx
