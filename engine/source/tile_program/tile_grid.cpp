#include "engine/source/tile_program/tile_grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "core/error.h"
#include "core/text/characters.h"
#include "core/text/nearest.h"
#include "ir/tile_program/interpret/interpret.h"

namespace deplo::engine {
namespace {

using ir::tile_program::max_blocks;
constexpr int max_depth = 64;  // limits the nesting, so that it cannot exhaust the stack

std::int64_t floor_quotient(std::int64_t a, std::int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

class GridReader {
 public:
  GridReader(std::string_view text, const GridNames& names, std::string_view where)
      : text_(text), names_(names), where_(where) {}

  std::array<std::int64_t, 3> read() {
    std::array<std::int64_t, 3> grid = {1, 1, 1};
    if (peek() == '\0') fail(numbers_of_blocks, "none");
    for (std::int64_t& blocks : grid) {
      if (peek() == '\0') fail(numbers_of_blocks, quoted(0));
      const std::size_t begin = at_;
      blocks = sum();
      if (blocks < 1 || blocks > max_blocks) fail(numbers_of_blocks, found(begin, blocks));
      if (!take(',')) break;
    }
    if (peek() != '\0') fail(numbers_of_blocks, quoted(0));
    return grid;
  }

 private:
  std::int64_t sum() {
    return from_the_left("+-", [&] { return product(); });
  }
  std::int64_t product() {
    return from_the_left("*/", [&] { return operand(); });
  }
  template <class Next>
  std::int64_t from_the_left(std::string_view signs, Next next) {
    std::int64_t value = next();
    while (peek() != '\0' && signs.find(peek()) != std::string_view::npos) {
      const char sign = text_[at_++];
      value = calculate(sign, value, next());
    }
    return value;
  }

  std::int64_t operand() {
    if (is_digit(peek())) return number();
    if (take('-')) return nested([&] { return calculate('-', 0, operand()); });
    if (peek() == '(') return in_parentheses([&] { return sum(); });
    const std::size_t begin = at_;
    const std::string name(word());
    if (name.empty()) fail(formula, quoted(at_));
    if (name == "cdiv" || name == "min") {
      return in_parentheses([&] {
        const std::int64_t a = sum();
        if (!take(',')) fail(name + "(x, y)", quoted(begin));
        const std::int64_t b = sum();
        // ⌈a / b⌉ = -⌊-a / b⌋
        return name == "min" ? std::min(a, b) : calculate('-', 0, calculate('/', calculate('-', 0, a), b));
      });
    }
    if (const auto shape = names_.shapes.find(name); shape != names_.shapes.end()) return extent(name, shape->second);
    if (const auto value = names_.numbers.find(name); value != names_.numbers.end()) return value->second;
    std::vector<std::string> known = {"cdiv", "min"};
    for (const auto& [array, shape] : names_.shapes) known.push_back(array);
    for (const auto& [argument, value] : names_.numbers) known.push_back(argument);
    fail("an array, a named integer argument, cdiv or min", "'" + name + "'" + did_you_mean(name, known));
  }

  std::int64_t extent(const std::string& name, const ir::tile_program::Extents& shape) {
    if (!take('[')) fail(name + "[D], the extent of a dimension", quoted(at_));
    const std::int64_t dimension = number();
    if (!take(']')) fail("]", quoted(at_));
    if (dimension >= std::ssize(shape))
      fail(fmt::format("{}[D] with a D from 0 to {}", name, shape.size() - 1), fmt::format("{}", dimension));
    return shape[static_cast<std::size_t>(dimension)];
  }

  std::int64_t number() {
    std::int64_t value = 0;
    peek();
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc()) fail("a whole number", quoted(at_));
    at_ = static_cast<std::size_t>(end - text_.data());
    return value;
  }

  template <class Read>
  std::int64_t in_parentheses(Read read) {
    if (!take('(')) fail("(", quoted(at_));
    const std::int64_t value = nested(read);
    if (!take(')')) fail(")", quoted(at_));
    return value;
  }

  template <class Read>
  std::int64_t nested(Read read) {
    if (++depth_ > max_depth) fail(fmt::format("at most {} nested parentheses and signs", max_depth), "more");
    const std::int64_t value = read();
    --depth_;
    return value;
  }

  std::int64_t calculate(char sign, std::int64_t a, std::int64_t b) const {
    std::int64_t result = 0;
    bool overflow = false;
    if (sign == '+') overflow = __builtin_add_overflow(a, b, &result);
    if (sign == '-') overflow = __builtin_sub_overflow(a, b, &result);
    if (sign == '*') overflow = __builtin_mul_overflow(a, b, &result);
    if (sign == '/') {
      if (b == 0) fail(formula, "a division by 0");
      overflow = a == INT64_MIN && b == -1;
      if (!overflow) result = floor_quotient(a, b);
    }
    if (overflow) fail(formula, "a number that does not fit in 64 bits");
    return result;
  }

  char peek() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char sign) {
    if (peek() != sign) return false;
    ++at_;
    return true;
  }
  std::string_view word() {
    peek();
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_word_char(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  /// Returns the rest of the text from `begin` on, in quotes; the whole text if there is no rest.
  std::string quoted(std::size_t begin) const {
    return fmt::format("'{}'", text_.substr(begin < text_.size() ? begin : 0));
  }
  /// Returns the formula that starts at `begin`, in quotes, and its value if the formula is not just that number.
  std::string found(std::size_t begin, std::int64_t value) const {
    std::string_view part = text_.substr(begin, at_ - begin);
    part.remove_prefix(std::min(part.find_first_not_of(' '), part.size()));
    return part == std::to_string(value) ? fmt::format("'{}'", part) : fmt::format("'{}', which is {}", part, value);
  }
  [[noreturn]] void fail(const std::string& expected, const std::string& found) const {
    throw Error(fmt::format("{}: grid: expected {}, found {}", where_, expected, found));
  }

  const std::string numbers_of_blocks =
      fmt::format("one to three numbers of blocks from 1 to {}, such as 64,2 or cdiv(a[0], 128)", max_blocks);
  const std::string formula = "a formula of whole numbers, such as cdiv(a[0], 128)";
  std::string_view text_;
  const GridNames& names_;
  std::string_view where_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

std::array<std::int64_t, 3> read_grid(std::string_view text, const GridNames& names, std::string_view where) {
  return GridReader(text, names, where).read();
}

}  // namespace deplo::engine
