#include "ir/torch/pt2/program/size_expression.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <span>
#include <vector>

#include "core/text/characters.h"
#include "core/text/number.h"

namespace deplo::ir::torch::pt2 {
namespace {

/// Thrown inside this file only: what has no value.
struct Unknown {
  std::string what;
};

using Values = std::span<const SizeValue>;

double number(const SizeValue& value) {
  return std::visit([](auto v) { return static_cast<double>(v); }, value);
}

bool is_true(const SizeValue& value) { return number(value) != 0; }

bool is_integer(const SizeValue& value) { return !std::holds_alternative<double>(value); }

std::int64_t integer(const SizeValue& value) {
  if (const bool* b = std::get_if<bool>(&value)) return *b ? 1 : 0;
  return std::get<std::int64_t>(value);
}

// Returns a number without a fraction as an integer.
SizeValue to_integer(double value) {
  constexpr double limit = 9007199254740992.0;  // 2^53; from there on, doubles skip integers
  if (!(std::abs(value) <= limit)) throw Unknown{"a number beyond 2^53"};
  return static_cast<std::int64_t>(value);
}

// Applies `whole_op(a, b, &result)`, which returns whether the result overflows, to integers, and `op` to others.
template <class WholeOp, class Op>
SizeValue arithmetic(const SizeValue& a, const SizeValue& b, const WholeOp& whole_op, const Op& op) {
  if (!is_integer(a) || !is_integer(b)) return op(number(a), number(b));
  std::int64_t result = 0;
  if (whole_op(integer(a), integer(b), &result)) throw Unknown{"an integer beyond 2^63"};
  return result;
}

SizeValue add(const SizeValue& a, const SizeValue& b) {
  return arithmetic(
      a, b, [](auto x, auto y, auto* r) { return __builtin_add_overflow(x, y, r); },
      [](double x, double y) { return x + y; });
}
SizeValue subtract(const SizeValue& a, const SizeValue& b) {
  return arithmetic(
      a, b, [](auto x, auto y, auto* r) { return __builtin_sub_overflow(x, y, r); },
      [](double x, double y) { return x - y; });
}
SizeValue multiply(const SizeValue& a, const SizeValue& b) {
  return arithmetic(
      a, b, [](auto x, auto y, auto* r) { return __builtin_mul_overflow(x, y, r); },
      [](double x, double y) { return x * y; });
}

SizeValue divide(const SizeValue& a, const SizeValue& b) {
  if (number(b) == 0) throw Unknown{"a division by 0"};
  if (is_integer(a) && is_integer(b) && integer(b) != -1 && integer(a) % integer(b) == 0)
    return integer(a) / integer(b);
  return number(a) / number(b);
}
SizeValue floor_divide(const SizeValue& a, const SizeValue& b) {
  if (number(b) == 0) throw Unknown{"a division by 0"};
  if (!is_integer(a) || !is_integer(b)) return std::floor(number(a) / number(b));
  const std::int64_t x = integer(a), y = integer(b);
  if (y == -1) return subtract(std::int64_t{0}, x);
  return x / y - (x % y != 0 && (x < 0) != (y < 0) ? 1 : 0);
}
SizeValue modulo(const SizeValue& a, const SizeValue& b) { return subtract(a, multiply(floor_divide(a, b), b)); }

SizeValue power(const SizeValue& a, const SizeValue& b) {
  if (!is_integer(a) || !is_integer(b) || integer(b) < 0) return std::pow(number(a), number(b));
  SizeValue result = std::int64_t{1};
  const double size = std::abs(number(a));
  if (size > 1 && number(b) > 63) throw Unknown{"an integer beyond 2^63"};
  if (size <= 1) return std::int64_t{integer(b) == 0 || (size == 1 && integer(b) % 2 == 0) ? 1 : integer(a)};
  for (std::int64_t i = 0; i < integer(b); ++i) result = multiply(result, a);
  return result;
}

int compare(const SizeValue& a, const SizeValue& b) {
  if (is_integer(a) && is_integer(b)) return integer(a) < integer(b) ? -1 : integer(a) > integer(b) ? 1 : 0;
  return number(a) < number(b) ? -1 : number(a) > number(b) ? 1 : 0;
}

SizeValue round_even(double x) { return to_integer(std::nearbyint(x)); }

// Returns a value for each function that takes values only. `least` and `most`: how many.
struct SizeFunction {
  std::string_view name;
  std::size_t least, most;
  SizeValue (*call)(Values);
};

SizeValue fold(Values v, SizeValue (*with)(const SizeValue&, const SizeValue&)) {
  SizeValue result = v[0];
  for (const SizeValue& next : v.subspan(1)) result = with(result, next);
  return result;
}

constexpr std::size_t many = 1'000;

// The names of SymPy, those that PyTorch adds to it (torch/utils/_sympy/functions.py), and those of guards.
constexpr auto size_functions = std::to_array<SizeFunction>({
    {"Integer", 1, 1, [](Values v) { return v[0]; }},
    {"Float", 1, 1, [](Values v) -> SizeValue { return number(v[0]); }},
    {"Rational", 2, 2, [](Values v) { return divide(v[0], v[1]); }},
    {"Identity", 1, 1, [](Values v) { return v[0]; }},
    {"Add", 1, many, [](Values v) { return fold(v, add); }},
    {"Mul", 1, many, [](Values v) { return fold(v, multiply); }},
    {"Pow", 2, 2, [](Values v) { return power(v[0], v[1]); }},
    {"PowByNatural", 2, 2, [](Values v) { return power(v[0], v[1]); }},
    {"FloatPow", 2, 2, [](Values v) -> SizeValue { return std::pow(number(v[0]), number(v[1])); }},
    {"FloorDiv", 2, 2, [](Values v) { return floor_divide(v[0], v[1]); }},
    {"CleanDiv", 2, 2, [](Values v) { return floor_divide(v[0], v[1]); }},
    {"CeilDiv", 2, 2,
     [](Values v) { return subtract(std::int64_t{0}, floor_divide(subtract(std::int64_t{0}, v[0]), v[1])); }},
    {"ModularIndexing", 3, 3, [](Values v) { return modulo(floor_divide(v[0], v[1]), v[2]); }},
    {"Mod", 2, 2, [](Values v) { return modulo(v[0], v[1]); }},
    {"PythonMod", 2, 2, [](Values v) { return modulo(v[0], v[1]); }},
    {"IntTrueDiv", 2, 2, [](Values v) -> SizeValue { return number(divide(v[0], v[1])); }},
    {"FloatTrueDiv", 2, 2, [](Values v) -> SizeValue { return number(divide(v[0], v[1])); }},
    {"ToFloat", 1, 1, [](Values v) -> SizeValue { return number(v[0]); }},
    {"sym_float", 1, 1, [](Values v) -> SizeValue { return number(v[0]); }},
    {"TruncToInt", 1, 1, [](Values v) { return to_integer(std::trunc(number(v[0]))); }},
    {"TruncToFloat", 1, 1, [](Values v) -> SizeValue { return std::trunc(number(v[0])); }},
    {"trunc", 1, 1, [](Values v) { return to_integer(std::trunc(number(v[0]))); }},
    {"CeilToInt", 1, 1, [](Values v) { return to_integer(std::ceil(number(v[0]))); }},
    {"ceiling", 1, 1, [](Values v) { return to_integer(std::ceil(number(v[0]))); }},
    {"ceil", 1, 1, [](Values v) { return to_integer(std::ceil(number(v[0]))); }},
    {"FloorToInt", 1, 1, [](Values v) { return to_integer(std::floor(number(v[0]))); }},
    {"floor", 1, 1, [](Values v) { return to_integer(std::floor(number(v[0]))); }},
    {"RoundToInt", 1, 1, [](Values v) { return round_even(number(v[0])); }},
    {"round", 1, 1, [](Values v) { return round_even(number(v[0])); }},
    {"Abs", 1, 1, [](Values v) { return number(v[0]) < 0 ? subtract(std::int64_t{0}, v[0]) : v[0]; }},
    {"OpaqueUnaryFn_sqrt", 1, 1, [](Values v) -> SizeValue { return std::sqrt(number(v[0])); }},
    {"sqrt", 1, 1, [](Values v) -> SizeValue { return std::sqrt(number(v[0])); }},
    {"_sym_sqrt", 1, 1, [](Values v) -> SizeValue { return std::sqrt(number(v[0])); }},
    {"Max", 1, many,
     [](Values v) { return *std::ranges::max_element(v, [](auto& a, auto& b) { return compare(a, b) < 0; }); }},
    {"Min", 1, many,
     [](Values v) { return *std::ranges::min_element(v, [](auto& a, auto& b) { return compare(a, b) < 0; }); }},
    {"sym_max", 2, 2, [](Values v) { return compare(v[0], v[1]) < 0 ? v[1] : v[0]; }},
    {"sym_min", 2, 2, [](Values v) { return compare(v[1], v[0]) < 0 ? v[1] : v[0]; }},
    {"Equality", 2, 2, [](Values v) -> SizeValue { return compare(v[0], v[1]) == 0; }},
    {"Eq", 2, 2, [](Values v) -> SizeValue { return compare(v[0], v[1]) == 0; }},
    {"Unequality", 2, 2, [](Values v) -> SizeValue { return compare(v[0], v[1]) != 0; }},
    {"Ne", 2, 2, [](Values v) -> SizeValue { return compare(v[0], v[1]) != 0; }},
    {"GreaterThan", 2, 2, [](Values v) -> SizeValue { return compare(v[0], v[1]) >= 0; }},
    {"LessThan", 2, 2, [](Values v) -> SizeValue { return compare(v[0], v[1]) <= 0; }},
    {"StrictGreaterThan", 2, 2, [](Values v) -> SizeValue { return compare(v[0], v[1]) > 0; }},
    {"StrictLessThan", 2, 2, [](Values v) -> SizeValue { return compare(v[0], v[1]) < 0; }},
    {"And", 1, many, [](Values v) -> SizeValue { return std::ranges::all_of(v, is_true); }},
    {"Or", 1, many, [](Values v) -> SizeValue { return std::ranges::any_of(v, is_true); }},
    {"Not", 1, 1, [](Values v) -> SizeValue { return !is_true(v[0]); }},
    {"sym_not", 1, 1, [](Values v) -> SizeValue { return !is_true(v[0]); }},
    {"Where", 3, 3, [](Values v) { return is_true(v[0]) ? v[1] : v[2]; }},
    {"sym_ite", 3, 3, [](Values v) { return is_true(v[0]) ? v[1] : v[2]; }},
    {"int", 1, 1, [](Values v) { return to_integer(std::trunc(number(v[0]))); }},
});

/// Reads and evaluates in one pass, with Python's precedence of operators.
class Evaluator {
 public:
  Evaluator(std::string_view text, const FindSize& find) : text_(text), find_(find) {}

  SizeValue run() {
    const SizeValue value = disjunction();
    if (blank(), at_ != text_.size()) fail();
    return value;
  }

 private:
  static constexpr int max_depth = 100;

  // Every path of the recursion passes here.
  SizeValue disjunction() {
    if (++depth_ > max_depth) throw Unknown{"an expression of more than 100 levels"};
    SizeValue value = conjunction();
    while (take_word("or")) {
      const SizeValue other = conjunction();
      value = is_true(value) ? value : other;
    }
    --depth_;
    return value;
  }

  SizeValue conjunction() {
    SizeValue value = negation();
    while (take_word("and")) {
      const SizeValue other = negation();
      value = is_true(value) ? other : value;
    }
    return value;
  }

  SizeValue negation() {
    bool negated = false, any = false;
    for (; take_word("not"); negated = !negated) any = true;
    const SizeValue value = comparison();
    return any ? SizeValue{is_true(value) != negated} : value;
  }

  SizeValue comparison() {
    SizeValue left = sum();
    bool holds = true, any = false;
    for (;; any = true) {
      const std::string_view op = take_one_of({"==", "!=", "<=", ">=", "<", ">"});
      if (op.empty()) return any ? SizeValue{holds} : left;
      const SizeValue right = sum();
      holds = holds && is_so(op, compare(left, right));
      left = right;
    }
  }

  // Whether the operator holds for two numbers of which the left one is smaller (order < 0), equal, or greater.
  static bool is_so(std::string_view op, int order) {
    if (op == "!=") return order != 0;
    if (order == 0) return op.ends_with('=');
    return op.starts_with(order < 0 ? '<' : '>');
  }

  SizeValue sum() {
    SizeValue value = product();
    for (;;) {
      const std::string_view op = take_one_of({"+", "-"});
      if (op.empty()) return value;
      value = op == "+" ? add(value, product()) : subtract(value, product());
    }
  }

  SizeValue product() {
    SizeValue value = factor();
    for (;;) {
      const std::string_view op = at("**") ? "" : take_one_of({"*", "//", "/", "%"});
      if (op.empty()) return value;
      const SizeValue other = factor();
      value = op == "*"    ? multiply(value, other)
              : op == "//" ? floor_divide(value, other)
              : op == "/"  ? divide(value, other)
                           : modulo(value, other);
    }
  }

  SizeValue factor() {
    bool negative = false;
    for (std::string_view sign = take_one_of({"-", "+"}); !sign.empty(); sign = take_one_of({"-", "+"}))
      negative ^= sign == "-";
    SizeValue value = atom();
    if (take("**")) value = power(value, nested());
    return negative ? subtract(std::int64_t{0}, value) : value;
  }

  SizeValue nested() {
    if (++depth_ > max_depth) throw Unknown{"an expression of more than 100 levels"};
    const SizeValue value = factor();
    --depth_;
    return value;
  }

  SizeValue atom() {
    blank();
    if (take("(")) {
      const SizeValue value = disjunction();
      if (!take(")")) fail();
      return value;
    }
    if (at_ < text_.size() && (is_digit(text_[at_]) || text_[at_] == '.')) return literal();
    if (at("L[")) return size_of_guard();
    const std::string_view name = dotted_name();
    if (name.empty()) fail();
    if (take("(")) return call(name);
    if (name == "true" || name == "True") return true;
    if (name == "false" || name == "False") return false;
    return symbol(name);
  }

  SizeValue literal() {
    const std::size_t begin = at_;
    const auto continues = [&](char c) {
      return is_word_char(c) || c == '.' || ((c == '-' || c == '+') && text_[at_ - 1] == 'e');
    };
    while (at_ < text_.size() && continues(text_[at_])) ++at_;
    return literal(text_.substr(begin, at_ - begin));
  }

  static SizeValue literal(std::string_view text) {
    if (const auto n = parse_number<std::int64_t>(text)) return *n;
    if (const auto x = parse_number<double>(text)) return *x;
    throw Unknown{std::string(text.substr(0, 64))};
  }

  // Reads "L['x'].size()[0]", or "L['n']" of an integer.
  SizeValue size_of_guard() {
    const std::size_t begin = at_++;
    std::size_t end = at_;
    for (; at("[") || at(".size()"); at_ = end) {
      end = text_.find(at("[") ? ']' : ')', at_);
      if (end++ == std::string_view::npos) fail();
    }
    return symbol(text_.substr(begin, end - begin));
  }

  // Returns the last name of "torch.sym_float".
  std::string_view dotted_name() {
    std::size_t begin = at_;
    for (; at_ < text_.size() && (is_word_char(text_[at_]) || text_[at_] == '.'); ++at_)
      if (text_[at_] == '.') begin = at_ + 1;
    return text_.substr(begin, at_ - begin);
  }

  // The arguments of a call. Those with names, such as integer=True, describe symbols and floats, and give no values.
  SizeValue call(std::string_view name) {
    std::vector<SizeValue> values;
    std::string_view text;
    while (!take(")")) {
      blank();
      if (at("'")) {
        const std::size_t end = text_.find('\'', at_ + 1);
        if (end == std::string_view::npos) fail();
        text = text_.substr(at_ + 1, end - at_ - 1);
        at_ = end + 1;
      } else if (!take_named()) {
        values.push_back(disjunction());
      }
      if (!take(",") && !at(")")) fail();
    }
    if (name == "Symbol") return symbol(text);
    if (name == "Float" && values.empty()) values.push_back(literal(text));
    const auto* const found = std::ranges::find(size_functions, name, &SizeFunction::name);
    if (found == size_functions.end() || values.size() < found->least || values.size() > found->most)
      throw Unknown{std::string(name.substr(0, 64))};
    return found->call(values);
  }

  bool take_named() {
    std::size_t end = at_;
    while (end < text_.size() && is_word_char(text_[end])) ++end;
    if (end == at_ || end + 1 >= text_.size() || text_[end] != '=' || text_[end + 1] == '=') return false;
    at_ = std::min(text_.find_first_of(",)", end), text_.size());
    return true;
  }

  SizeValue symbol(std::string_view name) const {
    if (const std::optional<std::int64_t> found = find_(name)) return *found;
    throw Unknown{std::string(name.substr(0, 64))};
  }

  void blank() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool at(std::string_view token) {
    blank();
    return text_.substr(at_).starts_with(token);
  }
  bool take(std::string_view token) {
    if (!at(token)) return false;
    at_ += token.size();
    return true;
  }
  bool take_word(std::string_view word) {
    if (!at(word) || (at_ + word.size() < text_.size() && is_word_char(text_[at_ + word.size()]))) return false;
    at_ += word.size();
    return true;
  }
  std::string_view take_one_of(std::initializer_list<std::string_view> tokens) {
    const auto* const found = std::ranges::find_if(tokens, [&](std::string_view token) { return take(token); });
    return found == tokens.end() ? "" : *found;
  }

  [[noreturn]] void fail() const {
    throw Unknown{text_.empty() ? "an empty expression" : std::string(text_.substr(0, 64))};
  }

  std::string_view text_;
  const FindSize& find_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Evaluated evaluate_size(std::string_view text, const FindSize& find) {
  try {
    return {Evaluator(text, find).run(), ""};
  } catch (const Unknown& e) {
    return {std::nullopt, e.what};
  }
}

std::optional<std::int64_t> whole(const std::optional<SizeValue>& value) {
  if (!value) return std::nullopt;
  if (const auto* n = std::get_if<std::int64_t>(&*value)) return *n;
  const double* x = std::get_if<double>(&*value);
  if (x == nullptr || *x != std::trunc(*x) || std::abs(*x) > 9007199254740992.0) return std::nullopt;
  return static_cast<std::int64_t>(*x);
}

}  // namespace deplo::ir::torch::pt2
