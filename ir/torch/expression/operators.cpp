#include "ir/torch/expression/operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <tuple>

#include "ir/torch/expression/functions/library.h"
#include "ir/torch/expression/sequence.h"

namespace deplo::ir::torch::python {
namespace {

constexpr bool is_bit_operator(std::string_view op) { return op == "&" || op == "|" || op == "^"; }

[[noreturn]] void misfit(std::string_view op, std::string_view expected, const Value& left, const Value& right) {
  throw Error(fmt::format("expected {} around `{}`, found {} and {}", expected, op, describe(left), describe(right)));
}

void check_bits(Session& session, std::string_view op, const Value& v) {
  if (is_tensor(v) ? is_integral(session.type(session.tensor(v)).dtype) : to_integer(v).has_value()) return;
  const std::string found = is_tensor(v) ? print(session.type(session.tensor(v))) : describe(v);
  throw Error(fmt::format("expected integers or truth values around `{}`, found {}", op, found));
}

std::vector<Id> tensors_of(Session& session, const Values& values) {
  std::vector<Id> tensors;
  for (const Value& v : values)
    if (is_tensor(v)) tensors.push_back(session.tensor(v));
  return tensors;
}

Value on_tensors(Session& session, std::string_view op, const Value& left, const Value& right) {
  const Function* function = find_function(as_infix, op);
  const bool fit = (is_tensor(left) || to_number(left)) && (is_tensor(right) || to_number(right));
  if (!function) misfit(op, "numbers (tensors do not have it)", left, right);
  if (!fit) misfit(op, "tensors or numbers", left, right);
  if (op == "@" && (!is_tensor(left) || !is_tensor(right))) misfit(op, "tensors", left, right);
  if (is_bit_operator(op)) {
    check_bits(session, op, left);
    check_bits(session, op, right);
  }
  const Id first_new = session.size();
  const Value result = Call(session, *function, {{left, right}, {}}).result_of(*function);
  const Tensor* made = result.as<Tensor>();
  if (!made || made->id < first_new) return result;
  if (op == "@")
    session.set_contiguous(made->id);
  else
    session.set_elementwise(made->id, tensors_of(session, {left, right}));
  return result;
}

std::int64_t floor_divide(std::int64_t a, std::int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); }

// Computes base ** exponent. Returns false if 64 bits cannot hold the result.
bool integer_power(std::int64_t base, std::int64_t exponent, std::int64_t& out) {
  out = 1;
  while (exponent > 0) {
    if (exponent % 2 == 1 && __builtin_mul_overflow(out, base, &out)) return false;
    exponent /= 2;
    if (exponent > 0 && __builtin_mul_overflow(base, base, &base)) return false;
  }
  return true;
}

// Applies an operator whose result is an integer. Returns nullopt for other operators.
std::optional<Value> on_integers(std::string_view op, std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  bool fits = true;
  if (op == "+") {
    fits = !__builtin_add_overflow(a, b, &out);
  } else if (op == "-") {
    fits = !__builtin_sub_overflow(a, b, &out);
  } else if (op == "*") {
    fits = !__builtin_mul_overflow(a, b, &out);
  } else if (op == "**" && b >= 0) {
    fits = integer_power(a, b, out);
  } else if (op == "<<" || op == ">>") {
    if (b < 0) throw Error(fmt::format("expected a shift of at least 0 bits after `{}`, found {}", op, b));
    fits = op == ">>" || a == 0 || (b < 63 && !__builtin_mul_overflow(a, std::int64_t{1} << b, &out));
    if (op == ">>") out = a >> std::min<std::int64_t>(b, 63);
  } else if (is_bit_operator(op)) {
    out = op == "&" ? a & b : op == "|" ? a | b : a ^ b;
  } else if (op == "//" || op == "%") {
    if (b == 0) throw Error(fmt::format("expected a divisor other than 0 after `{}`", op));
    fits = b != -1 || a != std::numeric_limits<std::int64_t>::min();
    if (fits) out = op == "//" ? floor_divide(a, b) : a - b * floor_divide(a, b);
  } else {
    return {};
  }
  if (!fits) throw Error(fmt::format("expected an integer of 64 bits, found {} {} {}", a, op, b));
  return Value{out};
}

Value on_doubles(std::string_view op, double a, double b) {
  if ((op == "/" || op == "//" || op == "%") && b == 0)
    throw Error(fmt::format("expected a divisor other than 0 after `{}`", op));
  double out = 0;
  if (op == "//") out = std::floor(a / b);
  if (op == "%") out = a - b * std::floor(a / b);
  if (op == "+") out = a + b;
  if (op == "-") out = a - b;
  if (op == "*") out = a * b;
  if (op == "/") out = a / b;
  if (op == "**") out = std::pow(a, b);
  if (std::isnan(out)) throw Error(fmt::format("expected a number, found nan from {} {} {}", a, op, b));
  return {out};
}

// Applies a comparison of numbers or of strings. Returns nullopt for other operators.
template <class T>
std::optional<Value> compare(std::string_view op, T a, T b) {
  if (op == "<") return Value{a < b};
  if (op == "<=") return Value{a <= b};
  if (op == ">") return Value{a > b};
  if (op == ">=") return Value{a >= b};
  if (op == "==") return Value{a == b};
  if (op == "!=") return Value{a != b};
  return {};
}

// Applies an operator whose left side is a string. Returns nullopt if Python has no such operator.
std::optional<Value> on_text(Session& session, std::string_view op, std::string_view text, const Value& right) {
  if (op == "%") return Value{session.text(filled_in(text, right))};
  if (const auto* other = right.as<std::string_view>()) {
    if (op == "+") return Value{session.text(std::string(text).append(*other))};
    return compare(op, text, *other);
  }
  const auto* count = right.as<std::int64_t>();
  if (op != "*" || !count) return {};
  std::string repeated;
  for (std::int64_t i = 0; i < *count && !text.empty(); ++i) {
    session.spend(1 + text.size());
    repeated += text;
  }
  return Value{session.text(std::move(repeated))};
}

// Evaluates a repeated list such as `[0] * 3`.
Value repeated(Session& session, const List& list, const Value& times) {
  const auto* count = times.as<std::int64_t>();
  if (!count) throw Error(fmt::format("expected an integer as the other factor of a list, found {}", describe(times)));
  Values items;
  for (std::int64_t i = 0; i < *count; ++i) {
    session.spend(1 + list.items->size());
    items.insert(items.end(), list.items->begin(), list.items->end());
  }
  return list.tuple ? make_list(std::move(items)) : session.list(std::move(items));
}

// Applies an operator of sets. Returns nullopt for other operators.
std::optional<Value> on_sets(Session& session, std::string_view op, const List& a, const List& b) {
  session.spend(1 + a.items->size() * b.items->size() / 8);
  const auto has = [](const List& set, const Value& v) {
    return std::ranges::any_of(*set.items, [&](const Value& item) { return equal(item, v); });
  };
  const auto part = [&](const List& set, const List& other, bool shared) {
    Values items;
    std::ranges::copy_if(*set.items, std::back_inserter(items),
                         [&](const Value& v) { return has(other, v) == shared; });
    return items;
  };
  if (op == "<=" || op == "<") return Value{part(a, b, false).empty() && (op == "<=" || !part(b, a, false).empty())};
  if (op == ">=" || op == ">") return on_sets(session, op == ">=" ? "<=" : "<", b, a);
  if (op == "&") return make_set(session, part(a, b, true));
  if (op == "-") return make_set(session, part(a, b, false));
  if (op != "|" && op != "^") return {};
  Values items = op == "|" ? *a.items : part(a, b, false);
  std::ranges::move(part(b, a, false), std::back_inserter(items));
  return make_set(session, items);
}

Value on_numbers(std::string_view op, const Value& left, const Value& right) {
  const double x = *to_number(left), y = *to_number(right);
  const bool *p = left.as<bool>(), *q = right.as<bool>();
  if (is_bit_operator(op) && p && q) return {op == "&" ? *p && *q : op == "|" ? *p || *q : *p != *q};
  if (const std::optional<Value> truth = compare(op, x, y)) return *truth;
  const std::optional<std::int64_t> a = to_integer(left), b = to_integer(right);
  if (a && b)
    if (const std::optional<Value> v = on_integers(op, *a, *b)) return *v;
  if (op == "@" || is_bit_operator(op)) misfit(op, op == "@" ? "tensors" : "integers", left, right);
  if (op == "<<" || op == ">>") misfit(op, "integers", left, right);
  return on_doubles(op, x, y);
}

struct Special {
  std::string_view op, name;
};
constexpr std::array specials = {Special{"+", "add"},     Special{"-", "sub"},       Special{"*", "mul"},
                                 Special{"/", "truediv"}, Special{"//", "floordiv"}, Special{"%", "mod"},
                                 Special{"**", "pow"},    Special{"@", "matmul"},    Special{"<", "lt"},
                                 Special{"<=", "le"},     Special{">", "gt"},        Special{">=", "ge"},
                                 Special{"==", "eq"},     Special{"!=", "ne"}};

/// Applies the operator as a class defines it: left.__add__(right), otherwise right.__radd__(left). `==` and `!=` have
/// the same name on both sides.
std::optional<Value> by_method(Session& session, std::string_view op, const Value& left, const Value& right) {
  const auto* const special = std::ranges::find(specials, op, &Special::op);
  if (special == specials.end()) return {};
  for (const auto& [object, other, prefix] : {std::tuple(&left, &right, "__"), std::tuple(&right, &left, "__r")}) {
    const bool mirrored = op == "==" || op == "!=";
    const std::string_view name = session.text(fmt::format("{}{}__", mirrored ? "__" : prefix, special->name));
    if (std::optional<Value> result = call_own(session, *object, name, {*other})) return result;
  }
  return {};
}

/// Returns a module that holds the modules of both, renumbered.
Value joined_modules(Session& session, const Object& a, const Object& b) {
  Object* joined = session.make_object();
  joined->module = a.module;
  for (const Object* o : {&a, &b})
    for (const auto& [name, item] : o->items) add_module(session, *joined, std::to_string(joined->items.size()), item);
  return {joined};
}

}  // namespace

std::optional<Value> apply_in_place(Session& session, std::string_view op, const Value& left, const Value& right) {
  const auto* const special = std::ranges::find(specials, op, &Special::op);
  if (!left.as<Object*>() || special == specials.end()) return {};
  return call_own(session, left, session.text(fmt::format("__i{}__", special->name)), {right});
}

Value apply_binary(Session& session, std::string_view op, const Value& left, const Value& right) {
  if (to_number(left) && to_number(right)) return on_numbers(op, left, right);
  const List *a = left.as<List>(), *b = right.as<List>();
  if (a && b && a->set && b->set)
    if (const std::optional<Value> result = on_sets(session, op, *a, *b)) return *result;
  if (op == "+" && a && b && a->tuple == b->tuple && !a->set && !b->set) {
    Values joined = *a->items;
    session.spend(a->items->size() + b->items->size());
    joined.insert(joined.end(), b->items->begin(), b->items->end());
    return a->tuple ? make_list(std::move(joined)) : session.list(std::move(joined));
  }
  auto *const *d = left.as<Dict*>(), *const *e = right.as<Dict*>();
  if (op == "|" && d && e) {
    Dict* joined = session.make_dict();
    for (const Dict* dict : {*d, *e})
      for (const auto& [key, item] : dict->items) insert_item(session, *joined, key, item);
    return {joined};
  }
  if (op == "*" && ((a && !a->set) || (b && !b->set))) return repeated(session, a ? *a : *b, a ? right : left);
  const auto *s = left.as<std::string_view>(), *t = right.as<std::string_view>();
  auto *const *p = left.as<Object*>(), *const *q = right.as<Object*>();
  if (op == "+" && p && q && holds_others(**p) && holds_others(**q)) return joined_modules(session, **p, **q);
  if (p || q)
    if (const std::optional<Value> result = by_method(session, op, left, right)) return *result;
  if (s || (t && op == "*"))
    if (const std::optional<Value> result = on_text(session, op, s ? *s : *t, s ? right : left)) return *result;
  return on_tensors(session, op, left, right);
}

Value apply_unary(Session& session, std::string_view op, const Value& v) {
  const std::string_view name = op == "-" ? "__neg__" : op == "+" ? "__pos__" : "__invert__";
  if (auto* const* o = v.as<Object*>(); o && find_attribute((*o)->type, name))
    return session.invoke(session.attribute(v, name), {});
  if (is_tensor(v)) {
    if (op == "+") return v;
    if (op == "~") check_bits(session, op, v);
    const Function* function = find_function(as_prefix, op);
    CHECK(function);
    const Value result = function->run(Call(session, *function, {{v}, {}}));
    if (const Tensor* made = result.as<Tensor>()) session.set_elementwise(made->id, tensors_of(session, {v}));
    return result;
  }
  const std::optional<std::int64_t> i = to_integer(v);
  if (op == "~" && i && !v.as<bool>()) return {~*i};
  if (op == "~" || !to_number(v))
    throw Error(fmt::format("expected a tensor or a number after `{}`, found {}", op, describe(v)));
  if (op == "+") return i ? Value{*i} : v;
  if (!i) return {-*v.as<double>()};
  return *on_integers("-", 0, *i);
}

}  // namespace deplo::ir::torch::python
