#include "engine/foreign/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "core/text/characters.h"
#include "core/text/text.h"
#include "engine/foreign/expression_node.h"

namespace deplo::engine::foreign {

namespace {

constexpr std::size_t max_depth = 200;       // nesting of parentheses and operators
constexpr std::size_t max_elements = 65536;  // elements of a list

using Node = Expression::Node;
using NodePtr = std::shared_ptr<const Node>;
using Values = std::span<const Operand>;

[[noreturn]] void fail(const std::string& what) { throw Error(what); }

const Scalar& scalar_of(const Operand& value) {
  if (const auto* scalar = std::get_if<Scalar>(&value)) return *scalar;
  fail("expected a single value, found a list");
}

bool is_integer(const Scalar& value) { return std::holds_alternative<std::int64_t>(value); }
bool is_text(const Scalar& value) { return std::holds_alternative<std::string>(value); }

double number_of(const Scalar& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
  if (const auto* number = std::get_if<double>(&value)) return *number;
  fail(fmt::format("expected a number, found {}", print(value)));
}

std::int64_t integer_of(const Scalar& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return *integer;
  fail(fmt::format("expected an integer, found {}", print(value)));
}

Operand truth(bool value) { return Scalar(std::int64_t{value}); }

/// An arithmetic operation: on two integers with an overflow check, otherwise on doubles.
template <bool (*checked)(std::int64_t, std::int64_t, std::int64_t*), double (*real)(double, double)>
Operand arithmetic(Values values) {
  const Scalar &a = scalar_of(values[0]), &b = scalar_of(values[1]);
  if (!is_integer(a) || !is_integer(b)) return Scalar(real(number_of(a), number_of(b)));
  std::int64_t result = 0;
  if (checked(std::get<std::int64_t>(a), std::get<std::int64_t>(b), &result))
    fail("an integer does not fit in 64 bits");
  return Scalar(result);
}

bool add(std::int64_t a, std::int64_t b, std::int64_t* to) { return __builtin_add_overflow(a, b, to); }
bool subtract(std::int64_t a, std::int64_t b, std::int64_t* to) { return __builtin_sub_overflow(a, b, to); }
bool multiply(std::int64_t a, std::int64_t b, std::int64_t* to) { return __builtin_mul_overflow(a, b, to); }
double add(double a, double b) { return a + b; }
double subtract(double a, double b) { return a - b; }
double multiply(double a, double b) { return a * b; }

/// Integer and real division, rounded towards minus infinity, as in Python.
bool floor_divide(std::int64_t a, std::int64_t b, std::int64_t* to) {
  if (b == 0) fail("division by zero");
  if (b == -1) return __builtin_sub_overflow(std::int64_t{0}, a, to);
  *to = a / b - (a % b != 0 && (a < 0) != (b < 0));
  return false;
}
/// The remainder has the sign of the divisor, as in Python.
bool remainder(std::int64_t a, std::int64_t b, std::int64_t* to) {
  if (b == 0) fail("division by zero");
  *to = b == -1 ? 0 : a % b;
  if (*to != 0 && (*to < 0) != (b < 0)) *to += b;
  return false;
}
double remainder(double a, double b) {
  if (b == 0) fail("division by zero");
  const double rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
/// Begins with the remainder, because a / b may be rounded up to an integer: 1.0 // 0.1 is 9.
double floor_divide(double a, double b) { return std::round((a - remainder(a, b)) / b); }

/// Adds numbers or concatenates lists.
Operand plus(Values values) {
  const auto* first = std::get_if<List>(&values[0]);
  const auto* second = std::get_if<List>(&values[1]);
  if (first == nullptr || second == nullptr) return arithmetic<add, add>(values);
  List all = *first;
  all.insert(all.end(), second->begin(), second->end());
  return all;
}

Operand divide(Values values) {
  const double divisor = number_of(scalar_of(values[1]));
  if (divisor == 0) fail("division by zero");
  return Scalar(number_of(scalar_of(values[0])) / divisor);
}

Operand power(Values values) {
  const Scalar &base = scalar_of(values[0]), &exponent = scalar_of(values[1]);
  if (!is_integer(base) || !is_integer(exponent) || std::get<std::int64_t>(exponent) < 0)
    return Scalar(std::pow(number_of(base), number_of(exponent)));
  const std::int64_t factor = std::get<std::int64_t>(base);
  std::int64_t result = 1, left = std::get<std::int64_t>(exponent);
  if (factor == 0 || factor == 1) left = std::min<std::int64_t>(left, 1);
  if (factor == -1) left %= 2;
  for (; left > 0; --left)
    if (__builtin_mul_overflow(result, factor, &result)) fail("an integer does not fit in 64 bits");
  return Scalar(result);
}

Operand negate(Values values) {
  const Scalar& value = scalar_of(values[0]);
  if (!is_integer(value)) return Scalar(-number_of(value));
  std::int64_t result = 0;
  if (__builtin_sub_overflow(std::int64_t{0}, std::get<std::int64_t>(value), &result))
    fail("an integer does not fit in 64 bits");
  return Scalar(result);
}
Operand keep(Values values) { return Scalar(scalar_of(values[0])); }
Operand invert(Values values) { return truth(!is_true(scalar_of(values[0]))); }
Operand complement(Values values) { return Scalar(~integer_of(scalar_of(values[0]))); }

template <class Operation>
Operand bits(Values values) {
  return Scalar(Operation()(integer_of(scalar_of(values[0])), integer_of(scalar_of(values[1]))));
}

template <bool left>
Operand shift(Values values) {
  const std::int64_t value = integer_of(scalar_of(values[0])), by = integer_of(scalar_of(values[1]));
  if (by < 0 || by > 62) fail("expected a shift by 0 to 62");
  if (!left) return Scalar(value >> by);
  std::int64_t result = 0;
  if (__builtin_mul_overflow(value, std::int64_t{1} << by, &result)) fail("an integer does not fit in 64 bits");
  return Scalar(result);
}

/// Compares two values: negative, 0 or positive. Returns nullopt if one of them is NaN.
std::optional<int> order(const Scalar& a, const Scalar& b) {
  if (is_text(a) != is_text(b))
    fail(fmt::format("expected values that can be compared, found {} and {}", print(a), print(b)));
  if (is_text(a)) return std::get<std::string>(a).compare(std::get<std::string>(b));
  if (is_integer(a) && is_integer(b)) {
    const std::int64_t x = std::get<std::int64_t>(a), y = std::get<std::int64_t>(b);
    return x < y ? -1 : x > y ? 1 : 0;
  }
  const double x = number_of(a), y = number_of(b);
  if (std::isnan(x) || std::isnan(y)) return std::nullopt;
  return x < y ? -1 : x > y ? 1 : 0;
}

template <bool less, bool same>
Operand compare(Values values) {
  const auto found = order(scalar_of(values[0]), scalar_of(values[1]));
  return truth(found.has_value() && (*found == 0 ? same : (*found < 0) == less));
}

Operand equals(Values values) { return truth(equal(scalar_of(values[0]), scalar_of(values[1]))); }
Operand differs(Values values) { return truth(!equal(scalar_of(values[0]), scalar_of(values[1]))); }
Operand is_in(Values values) {
  const auto* list = std::get_if<List>(&values[1]);
  if (list == nullptr) fail("expected a list after in");
  const Scalar& value = scalar_of(values[0]);
  return truth(std::ranges::any_of(*list, [&](const Scalar& element) { return equal(element, value); }));
}
Operand is_not_in(Values values) { return truth(!is_true(scalar_of(is_in(values)))); }

Operand at(Values values) {
  const auto* list = std::get_if<List>(&values[0]);
  const std::int64_t index = integer_of(scalar_of(values[1]));
  const auto size = static_cast<std::int64_t>(list == nullptr ? 1 : list->size());
  if (index < -size || index >= size) fail(fmt::format("expected an index below {}, found {}", size, index));
  // A problem size that is a single number may be indexed: element 0 is the number itself.
  return list == nullptr ? values[0] : Operand((*list)[static_cast<std::size_t>(index < 0 ? index + size : index)]);
}

/// Returns the arguments of min and max: the elements of one list, or several values.
List arguments_of(Values values) {
  const auto* list = values.size() == 1 ? std::get_if<List>(&values[0]) : nullptr;
  List all;
  if (list != nullptr)
    all = *list;
  else
    for (const Operand& value : values) all.push_back(scalar_of(value));
  if (all.empty()) fail("expected at least one value");
  return all;
}
bool is_less(const Scalar& a, const Scalar& b) { return order(a, b).value_or(0) < 0; }
Operand least(Values values) {
  const List all = arguments_of(values);
  return *std::ranges::min_element(all, is_less);
}
Operand greatest(Values values) {
  const List all = arguments_of(values);
  return *std::ranges::max_element(all, is_less);
}
Operand absolute(Values values) { return number_of(scalar_of(values[0])) < 0 ? negate(values) : keep(values); }
Operand real(Values values) { return Scalar(number_of(scalar_of(values[0]))); }
Operand length(Values values) {
  const auto* list = std::get_if<List>(&values[0]);
  return Scalar(static_cast<std::int64_t>(list == nullptr ? 1 : list->size()));
}
template <double (*round)(double)>
Operand rounded(Values values) {
  const Scalar& value = scalar_of(values[0]);
  if (is_integer(value)) return value;
  const double number = round(number_of(value));
  if (!(std::abs(number) < 0x1p63)) fail("an integer does not fit in 64 bits");
  return Scalar(static_cast<std::int64_t>(number));
}
template <double (*function)(double)>
Operand applied(Values values) {
  return Scalar(function(number_of(scalar_of(values[0]))));
}
Operand range(Values values) {
  const std::int64_t first = values.size() > 1 ? integer_of(scalar_of(values[0])) : 0;
  const std::int64_t end = integer_of(scalar_of(values[values.size() > 1 ? 1 : 0]));
  const std::int64_t step = values.size() > 2 ? integer_of(scalar_of(values[2])) : 1;
  if (step == 0) fail("expected a step that is not 0");
  List all;
  for (std::int64_t i = first; step > 0 ? i < end : i > end;) {
    all.emplace_back(i);
    if (all.size() > max_elements) fail(fmt::format("expected at most {} values", max_elements));
    if (__builtin_add_overflow(i, step, &i)) break;
  }
  return all;
}

/// A function that expressions name.
struct Named {
  std::string_view name;
  Operation operation;
  std::size_t min, max;  // bounds on the number of arguments
};

constexpr std::array functions = {
    Named{"min", Operation::min, 1, 64},    Named{"max", Operation::max, 1, 64},
    Named{"abs", Operation::abs, 1, 1},     Named{"int", Operation::truncate, 1, 1},
    Named{"round", Operation::round, 1, 1}, Named{"ceil", Operation::ceil, 1, 1},
    Named{"floor", Operation::floor, 1, 1}, Named{"float", Operation::to_float, 1, 1},
    Named{"sqrt", Operation::sqrt, 1, 1},   Named{"log2", Operation::log2, 1, 1},
    Named{"len", Operation::length, 1, 1},  Named{"range", Operation::range, 1, 3},
    Named{"list", Operation::list, 1, 1},
};

/// A binary operator. Of two with the same beginning, the longer one comes first.
struct Sign {
  int level;  // precedence; 0: weakest
  std::string_view text, not_before;
  Operation operation;
};

constexpr Sign signs[] = {
    {0, "|", "|", Operation::bit_or},     {1, "^", "", Operation::bit_xor},      {2, "&", "&", Operation::bit_and},
    {3, "<<", "", Operation::shift_left}, {3, ">>", "", Operation::shift_right}, {4, "+", "", Operation::add},
    {4, "-", "", Operation::subtract},    {5, "*", "*", Operation::multiply},    {5, "//", "", Operation::floor_divide},
    {5, "/", "", Operation::divide},      {5, "%", "", Operation::remainder},
};

constexpr std::pair<Node::Function, Operation> operations[] = {
    {plus, Operation::add},
    {arithmetic<subtract, subtract>, Operation::subtract},
    {arithmetic<multiply, multiply>, Operation::multiply},
    {divide, Operation::divide},
    {arithmetic<floor_divide, floor_divide>, Operation::floor_divide},
    {arithmetic<remainder, remainder>, Operation::remainder},
    {power, Operation::power},
    {negate, Operation::negate},
    {keep, Operation::keep},
    {invert, Operation::invert},
    {complement, Operation::complement},
    {bits<std::bit_and<>>, Operation::bit_and},
    {bits<std::bit_or<>>, Operation::bit_or},
    {bits<std::bit_xor<>>, Operation::bit_xor},
    {shift<true>, Operation::shift_left},
    {shift<false>, Operation::shift_right},
    {equals, Operation::equal},
    {differs, Operation::differ},
    {compare<true, false>, Operation::less},
    {compare<true, true>, Operation::less_equal},
    {compare<false, false>, Operation::greater},
    {compare<false, true>, Operation::greater_equal},
    {is_in, Operation::in},
    {is_not_in, Operation::not_in},
    {least, Operation::min},
    {greatest, Operation::max},
    {absolute, Operation::abs},
    {real, Operation::to_float},
    {rounded<std::trunc>, Operation::truncate},
    {rounded<std::nearbyint>, Operation::round},
    {rounded<std::ceil>, Operation::ceil},
    {rounded<std::floor>, Operation::floor},
    {applied<std::sqrt>, Operation::sqrt},
    {applied<std::log2>, Operation::log2},
    {at, Operation::at},
    {length, Operation::length},
    {range, Operation::range},
    {[](Values values) { return Operand(arguments_of(values)); }, Operation::list},
};

/// A recursive-descent parser with a function for each level of precedence and each form of Python's expressions.
class Parser {
 public:
  Parser(std::string_view text, const std::string& place, std::vector<std::string>& names)
      : text_(text), place_(place), names_(names) {}

  NodePtr parse() {
    if (text_.find(':') != std::string_view::npos && take_word("lambda")) lambda_arguments();
    NodePtr whole = choice();
    skip_blanks();
    if (at_ < text_.size()) expected("an operator or the end");
    return whole;
  }
  bool divides_in_c() const { return divides_ && is_c_; }

 private:
  struct Depth {
    explicit Depth(Parser& parser) : parser_(parser) {
      if (++parser_.depth_ > max_depth) parser_.expected(fmt::format("at most {} levels of nesting", max_depth));
    }
    ~Depth() { --parser_.depth_; }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;
    Parser& parser_;
  };

  [[noreturn]] void expected(const std::string& what) {
    const std::string rest(text_.substr(at_, 20));
    throw Error(fmt::format("{}: expected {}, found {} in '{}'", place_, what,
                            rest.empty() ? "the end" : "'" + printable(rest) + "'", printable(std::string(text_))));
  }

  static NodePtr call(Operation operation, std::vector<NodePtr> parts) {
    const auto* const found = std::ranges::find(operations, operation, &std::pair<Node::Function, Operation>::second);
    return std::make_shared<Node>(Node{Node::Kind::call, {}, 0, operation, found->first, std::move(parts)});
  }

  void skip_blanks() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
  }
  /// Consumes `sign` and returns true, unless the next character is in `not_before`: a longer operator then begins
  /// here.
  bool take(std::string_view sign, std::string_view not_before = "") {
    skip_blanks();
    if (!text_.substr(at_).starts_with(sign)) return false;
    const std::string_view after = text_.substr(at_ + sign.size());
    if (!after.empty() && not_before.find(after[0]) != std::string_view::npos) return false;
    at_ += sign.size();
    return true;
  }
  /// Consumes an operator that C has and Python lacks.
  bool take_c(std::string_view sign, std::string_view not_before = "") {
    const bool taken = take(sign, not_before);
    is_c_ = is_c_ || taken;
    return taken;
  }
  bool take_word(std::string_view word) {
    skip_blanks();
    const std::string_view rest = text_.substr(at_);
    if (!rest.starts_with(word) || (rest.size() > word.size() && is_word_char(rest[word.size()]))) return false;
    at_ += word.size();
    return true;
  }

  NodePtr choice() {
    const Depth depth(*this);
    NodePtr value = disjunction();
    if (take_c("?")) {
      NodePtr yes = choice();
      if (!take(":")) expected("':'");
      return pick(value, yes, choice());
    }
    if (!take_word("if")) return value;
    NodePtr condition = disjunction();
    if (!take_word("else")) expected("else");
    return pick(condition, value, choice());
  }
  /// Makes a node that is `yes` if the condition is true and `no` otherwise. Only the chosen part is evaluated.
  static NodePtr pick(NodePtr condition, NodePtr yes, NodePtr no) {
    return std::make_shared<Node>(Node{
        Node::Kind::choice, {}, 0, Operation::none, nullptr, {std::move(condition), std::move(yes), std::move(no)}});
  }
  static NodePtr constant(Operand value) {
    return std::make_shared<Node>(Node{Node::Kind::constant, std::move(value), 0, Operation::none, nullptr, {}});
  }
  static NodePtr truth_of(NodePtr node) { return pick(std::move(node), constant(truth(true)), constant(truth(false))); }

  /// Makes the node of "and" (Kind::both) or "or" (Kind::either).
  static NodePtr joined(Node::Kind kind, NodePtr left, NodePtr right) {
    return std::make_shared<Node>(Node{kind, {}, 0, Operation::none, nullptr, {std::move(left), std::move(right)}});
  }

  /// Parses operands with a Python word or a C sign between them. The value of Python's "or" and "and" is one of the
  /// operands; the value of C's || and && is 0 or 1.
  NodePtr chain(Node::Kind kind, std::string_view word, std::string_view sign, NodePtr (Parser::*operand)()) {
    NodePtr left = (this->*operand)();
    while (true) {
      if (take_word(word))
        left = joined(kind, left, (this->*operand)());
      else if (take_c(sign))
        left = truth_of(joined(kind, left, (this->*operand)()));
      else
        return left;
    }
  }
  NodePtr disjunction() { return chain(Node::Kind::either, "or", "||", &Parser::conjunction); }
  NodePtr conjunction() { return chain(Node::Kind::both, "and", "&&", &Parser::negation); }
  NodePtr negation() {
    const Depth depth(*this);
    if (take_word("not")) return call(Operation::invert, {negation()});
    return comparison();
  }

  std::optional<Operation> relation() {
    if (take("==")) return Operation::equal;
    if (take("!=")) return Operation::differ;
    if (take("<=")) return Operation::less_equal;
    if (take(">=")) return Operation::greater_equal;
    if (take("<", "<")) return Operation::less;
    if (take(">", ">")) return Operation::greater;
    if (take_word("in")) return Operation::in;
    const std::size_t before = at_;
    if (take_word("not") && take_word("in")) return Operation::not_in;
    at_ = before;
    return std::nullopt;
  }

  NodePtr comparison() {
    NodePtr left = binary(0);
    NodePtr whole;
    while (const std::optional<Operation> operation = relation()) {
      NodePtr right = binary(0);
      NodePtr one = call(*operation, {left, right});
      whole = whole == nullptr ? one : joined(Node::Kind::both, whole, one);
      left = right;
    }
    return whole == nullptr ? left : whole;
  }

  /// Consumes an operator of this precedence level. Returns nullopt if there is none.
  std::optional<Operation> operation(int level) {
    for (const Sign& sign : signs)
      if (sign.level == level && take(sign.text, sign.not_before)) {
        divides_ = divides_ || sign.operation == Operation::divide;
        return sign.operation;
      }
    return std::nullopt;
  }

  NodePtr binary(int level) {
    constexpr int strongest = 5;
    NodePtr left = level == strongest ? unary() : binary(level + 1);
    while (const std::optional<Operation> found = operation(level))
      left = call(*found, {left, level == strongest ? unary() : binary(level + 1)});
    return left;
  }
  NodePtr unary() {
    const Depth depth(*this);
    if (take("-")) return call(Operation::negate, {unary()});
    if (take("+")) return call(Operation::keep, {unary()});
    if (take("~")) return call(Operation::complement, {unary()});
    if (take_c("!", "=")) return call(Operation::invert, {unary()});
    NodePtr base = indexed();
    if (take("**")) return call(Operation::power, {base, unary()});
    return base;
  }
  NodePtr indexed() {
    NodePtr value = primary();
    while (take("[")) {
      value = call(Operation::at, {value, choice()});
      if (!take("]")) expected("']'");
    }
    return value;
  }

  std::vector<NodePtr> elements(std::string_view end) {
    std::vector<NodePtr> parts;
    while (!take(end)) {
      if (!parts.empty() && !take(",")) expected(fmt::format("',' or '{}'", end));
      if (take(end)) break;
      parts.push_back(choice());
      if (parts.size() > max_elements) expected(fmt::format("at most {} values", max_elements));
    }
    return parts;
  }
  static NodePtr list(std::vector<NodePtr> parts) {
    return std::make_shared<Node>(Node{Node::Kind::list, {}, 0, Operation::none, nullptr, std::move(parts)});
  }

  /// Returns the position of "for" in the innermost open brackets, or 0 if they contain none.
  std::size_t find_loop() const {
    int open = 0;
    for (std::size_t i = at_; i < text_.size() && open >= 0; ++i) {
      if (text_[i] == '[' || text_[i] == '(') ++open;
      if (text_[i] == ']' || text_[i] == ')') --open;
      const bool word = text_.substr(i).starts_with("for ") && i > at_ && !is_word_char(text_[i - 1]);
      if (open == 0 && word) return i;
    }
    return 0;
  }

  static bool has_parameters(const Node& node) {
    return node.kind == Node::Kind::name ||
           std::ranges::any_of(node.parts, [](const NodePtr& part) { return has_parameters(*part); });
  }

  /// Evaluates a part that contains no parameters.
  Operand evaluated(const NodePtr& node) const {
    try {
      return node->evaluate({});
    } catch (const Error& error) {
      throw Error(fmt::format("{}: {} in '{}'", place_, error.what(), printable(std::string(text_))));
    }
  }

  /// Parses the "if c if d" of a comprehension. Returns true if all conditions are true.
  bool filters() {
    bool kept = true;
    while (take_word("if")) {
      const NodePtr condition = disjunction();
      if (has_parameters(*condition)) expected("a condition without parameters");
      kept = kept && is_true(scalar_of(evaluated(call(Operation::keep, {condition}))));
    }
    return kept;
  }

  /// Parses "x for i in list if c]". x and c are parsed again for each value of i. The list and c must not name a
  /// parameter.
  std::vector<NodePtr> comprehension(std::size_t loop) {
    const std::size_t body = at_;
    at_ = loop + 4;
    skip_blanks();
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_word_char(text_[at_])) ++at_;
    const std::string variable(text_.substr(begin, at_ - begin));
    if (!is_identifier(variable) || !take_word("in")) expected("NAME in LIST");
    const NodePtr list = disjunction();
    if (has_parameters(*list)) expected("a list without parameters");
    const Operand all = evaluated(list);
    if (!std::holds_alternative<List>(all)) expected("a list");
    const std::vector<Scalar>& values = std::get<List>(all);
    const std::size_t after_list = at_;
    std::vector<NodePtr> parts;
    std::size_t end = values.empty() ? end_of_empty(variable) : 0;
    for (const Scalar& value : values) {
      if (++unrolled_ > max_elements) expected(fmt::format("at most {} values", max_elements));
      bound_.emplace_back(variable, value);
      at_ = after_list;
      const bool kept = filters();
      if (!take("]")) expected("']'");
      end = at_;
      at_ = body;
      if (kept) parts.push_back(choice());
      bound_.pop_back();
      skip_blanks();
      if (kept && at_ != loop) expected("for");
    }
    at_ = end;
    return parts;
  }
  /// Returns the end of a comprehension over an empty list. The filters are parsed with a placeholder, because the
  /// variable has no values.
  std::size_t end_of_empty(const std::string& variable) {
    bound_.emplace_back(variable, Scalar(std::int64_t{1}));
    filters();
    bound_.pop_back();
    if (!take("]")) expected("']'");
    return at_;
  }

  NodePtr primary() {
    const Depth depth(*this);
    skip_blanks();
    if (take("[")) {
      const std::size_t loop = find_loop();
      return list(loop == 0 ? elements("]") : comprehension(loop));
    }
    if (take("(")) {
      std::vector<NodePtr> parts = elements(")");
      const bool tuple = text_.substr(0, at_ - 1).ends_with(",");
      return parts.size() == 1 && !tuple ? parts[0] : list(std::move(parts));
    }
    if (at_ == text_.size()) expected("a value");
    const char c = text_[at_];
    if (c == '"' || c == '\'') return text_literal(c);
    if (is_digit(c) || c == '.') return number();
    if (is_word_char(c)) return name();
    expected("a value");
  }

  NodePtr text_literal(char quote) {
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) expected("a text with a closing quote");
    std::string text(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return constant(Scalar(std::move(text)));
  }

  NodePtr number() {
    const char* const begin = text_.data() + at_;
    const char* const end = text_.data() + text_.size();
    std::int64_t integer = 0;
    const bool hexadecimal = text_.substr(at_).starts_with("0x");
    const auto whole = std::from_chars(begin + (hexadecimal ? 2 : 0), end, integer, hexadecimal ? 16 : 10);
    double real_value = 0;
    const auto real_number = std::from_chars(begin, end, real_value);
    const bool is_integer = hexadecimal || whole.ptr == real_number.ptr;
    const bool is_whole = whole.ec == std::errc() && is_integer;
    // An integer that is too large becomes a double only if the double is equal to it, as for -2^63.
    if (is_integer && whole.ec == std::errc::result_out_of_range &&
        (hexadecimal || fmt::format("{:.0f}", real_value) != std::string_view(begin, whole.ptr)))
      expected("an integer below 2^63");
    if (!is_whole && real_number.ec != std::errc()) expected("a number");
    at_ = static_cast<std::size_t>((is_whole ? whole.ptr : real_number.ptr) - text_.data());
    if (at_ < text_.size() && is_word_char(text_[at_])) expected("a number");
    if (is_whole) return constant(Scalar(integer));
    return constant(Scalar(real_value));
  }

  /// Reads a name or a keyword. Returns "" if there is none.
  std::string_view read_word() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_word_char(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  NodePtr name() {
    std::size_t begin = at_;
    std::string_view word = read_word();
    if (word == "True" || word == "true") return constant(truth(true));
    if (word == "False" || word == "false") return constant(truth(false));
    if (word == dictionary_ && take("[")) return variable(key());
    const bool is_of_math = word == "math" && take(".");  // a function of Python's module
    if (is_of_math) begin = at_, word = read_word();
    skip_blanks();
    const bool is_call = at_ < text_.size() && text_[at_] == '(';
    if (is_call || is_of_math) {
      const auto function = std::ranges::find(functions, word, &Named::name);
      if (!is_call || function == functions.end()) {
        at_ = begin;
        expected("a function (min, max, abs, int, round, ceil, floor, float, sqrt, log2, len, range)");
      }
      ++at_;
      std::vector<NodePtr> parts = elements(")");
      if (parts.size() < function->min || parts.size() > function->max)
        expected(fmt::format("a different number of arguments of {}", word));
      return call(function->operation, std::move(parts));
    }
    for (const auto& [variable, value] : bound_)
      if (variable == word) return constant(value);
    return variable(word);
  }

  NodePtr variable(std::string_view name) {
    auto found = std::ranges::find(names_, name);
    if (found == names_.end()) found = names_.insert(found, std::string(name));
    return std::make_shared<Node>(
        Node{Node::Kind::name, {}, static_cast<std::size_t>(found - names_.begin()), Operation::none, nullptr, {}});
  }

  /// Reads the arguments of a lambda, as far as its colon. One argument may be a dictionary of all parameters, as in
  /// Kernel Tuner: `lambda p: p["BLOCK_X"] > 16`.
  void lambda_arguments() {
    skip_blanks();
    dictionary_ = read_word();
    while (take(",")) {
      skip_blanks();
      read_word();
    }
    if (!take(":")) expected("the names of a lambda's arguments and ':'");
  }

  /// Reads the key and the closing bracket of `p["BLOCK_X"]`.
  std::string_view key() {
    skip_blanks();
    const std::string_view rest = text_.substr(at_);
    const bool is_quoted = rest.starts_with('"') || rest.starts_with('\'');
    const std::size_t end = is_quoted ? rest.find(rest[0], 1) : std::string_view::npos;
    if (end == std::string_view::npos) expected("the name of a parameter in quotes");
    at_ += end + 1;
    if (!take("]")) expected("']'");
    return rest.substr(1, end - 1);
  }

  std::string_view text_;
  const std::string& place_;
  std::vector<std::string>& names_;
  std::vector<std::pair<std::string, Scalar>> bound_;  // loop variables of comprehensions, with their current values
  std::string_view dictionary_;                        // argument of a lambda; "": none
  std::size_t at_ = 0, depth_ = 0, unrolled_ = 0;
  bool divides_ = false, is_c_ = false;
};

}  // namespace

std::size_t Expression::Node::choose(bool first) const {
  switch (kind) {
    case Kind::both:
      return first ? 1 : 0;
    case Kind::either:
      return first ? 0 : 1;
    default:
      return first ? 1 : 2;
  }
}

Operand Expression::Node::evaluate(std::span<const Operand> values) const {
  switch (kind) {
    case Kind::constant:
      return value;
    case Kind::name:
      return values[name];
    case Kind::choice:
    case Kind::both:
    case Kind::either: {
      Operand first = parts[0]->evaluate(values);
      const std::size_t chosen = choose(is_true(scalar_of(first)));
      return chosen == 0 ? first : parts[chosen]->evaluate(values);
    }
    case Kind::list: {
      List all;
      for (const NodePtr& part : parts) all.push_back(scalar_of(part->evaluate(values)));
      return all;
    }
    case Kind::call:
      break;
  }
  if (parts.size() == 2) {  // most calls have two arguments; this case needs no allocation
    const std::array<Operand, 2> two = {parts[0]->evaluate(values), parts[1]->evaluate(values)};
    return function(two);
  }
  std::vector<Operand> all;
  for (const NodePtr& part : parts) all.push_back(part->evaluate(values));
  return function(all);
}

std::string print(const Scalar& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return "'" + *text + "'";
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *integer);
  return fmt::format("{}", std::get<double>(value));
}

bool is_true(const Scalar& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return !text->empty();
  return number_of(value) != 0;
}

bool equal(const Scalar& a, const Scalar& b) {
  if (is_text(a) || is_text(b)) return a == b;
  if (is_integer(a) && is_integer(b)) return a == b;
  return number_of(a) == number_of(b);
}

Expression Expression::parse(std::string_view text, const std::string& place) {
  Expression expression;
  expression.text_ = text;
  expression.place_ = place;
  Parser parser(expression.text_, expression.place_, expression.names_);
  expression.root_ = parser.parse();
  expression.divides_in_c_ = parser.divides_in_c();
  return expression;
}

Expression Expression::part(std::shared_ptr<const Node> root) const {
  Expression part = *this;
  part.root_ = std::move(root);
  return part;
}

Operand Expression::evaluate(std::span<const Operand> values) const {
  CHECK(values.size() == names_.size());
  try {
    return root_->evaluate(values);
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {} in '{}'", place_, error.what(), printable(text_)));
  }
}

Scalar Expression::scalar(std::span<const Operand> values) const {
  const Operand result = evaluate(values);
  if (const auto* value = std::get_if<Scalar>(&result)) return *value;
  throw Error(fmt::format("{}: expected a single value, found a list in '{}'", place_, printable(text_)));
}

}  // namespace deplo::engine::foreign
