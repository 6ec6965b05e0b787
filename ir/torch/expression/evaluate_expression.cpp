#include <fmt/format.h>

#include <algorithm>

#include "core/text/nearest.h"
#include "ir/torch/expression/functions/library.h"
#include "ir/torch/expression/interpreter.h"
#include "ir/torch/expression/operators.h"
#include "ir/torch/expression/sequence.h"

namespace deplo::ir::torch::python {

Scope* find_scope(Scope& scope, Scope& globals, std::string_view name) {
  for (Scope* s = &scope; s; s = s->outer) {
    if (const auto other = s->others.find(name); other != s->others.end()) return other->second;
    if (s->variables.contains(name)) return s;
  }
  return globals.variables.contains(name) ? &globals : nullptr;
}

Value Interpreter::evaluate(const Expr& e, Scope& scope) {
  if (expressions_ >= max_expressions)
    fail(where_, e.place, fmt::format("expected at most {} nested expressions", max_expressions));
  ++expressions_;
  Value value = dispatch(e, scope);
  --expressions_;
  return value;
}

Value Interpreter::dispatch(const Expr& e, Scope& scope) {
  placed(e.place, [&] { session_.spend(); });
  switch (e.kind) {
    case Expr::Kind::integer:
      return {e.integer};
    case Expr::Kind::real:
      return {e.number};
    case Expr::Kind::imaginary:
      return invoke(written("imaginary"), {{{e.number}}, {}});
    case Expr::Kind::string:
      return {e.text};
    case Expr::Kind::escaped:
      return placed(e.place, [&] { return Value{session_.text(unescaped(e.text))}; });
    case Expr::Kind::name:
      return name(e, scope);
    case Expr::Kind::dots:
      return {Dots{}};
    case Expr::Kind::tuple:
    case Expr::Kind::list:
    case Expr::Kind::set:
      return list(e, scope);
    case Expr::Kind::unary:
      return unary(e, scope);
    case Expr::Kind::binary:
      return binary(e, scope);
    case Expr::Kind::compare:
      return compare(e, scope);
    case Expr::Kind::logic:
      return logic(e, scope);
    case Expr::Kind::conditional:
      return evaluate(e.children[truth(e.children[0], scope) ? 1 : 2], scope);
    case Expr::Kind::lambda:
      return {Method{session_.keep(closure(*e.function, scope)), nullptr}};
    case Expr::Kind::dict:
      return dict(e, scope);
    case Expr::Kind::joined:
      return joined(e, scope);
    case Expr::Kind::comprehension:
      return comprehension(e, scope);
    case Expr::Kind::attribute:
      return attribute(e, scope);
    case Expr::Kind::subscript:
      return subscript(e, scope);
    case Expr::Kind::slice:
      return slice(e, scope);
    case Expr::Kind::call:
      return call(e, scope);
    case Expr::Kind::assigned: {
      const Value value = evaluate(e.children[1], scope);
      assign(e.children[0], value, scope);
      return value;
    }
    case Expr::Kind::absent:
    case Expr::Kind::star:
    case Expr::Kind::star_star:
    case Expr::Kind::clause:
    case Expr::Kind::placeholder:
      break;
  }
  fail(where_, e.place, "expected an expression, found `*`");
}

Value Interpreter::unary(const Expr& e, Scope& scope) {
  if (e.text == "not") return {!truth(e.children[0], scope)};
  const Value operand = evaluate(e.children[0], scope);
  return placed(e.place, [&] { return apply_unary(session_, e.text, operand); });
}

Value Interpreter::binary(const Expr& e, Scope& scope) {
  const Value left = evaluate(e.children[0], scope), right = evaluate(e.children[1], scope);
  return placed(e.place, [&] { return apply_binary(session_, e.text, left, right); });
}

Value Interpreter::name(const Expr& e, Scope& scope) {
  if (const Scope* found = find_scope(scope, globals_, e.text)) {
    const Value& value = found->variables.find(e.text)->second;
    if (const Missing* import = value.as<Missing>())
      fail(where_, e.place,
           fmt::format("expected a name that has a value, found `{}`, whose import fails: {}", e.text, import->what));
    return value;
  }
  if (const std::string builtin = written_name(in_python, e.text); !builtin.empty()) return written(builtin);
  Value found = find_global(e.text);
  if (!found.as<Missing>()) return found;
  if (const auto array = arrays_.find(e.text); array != arrays_.end())
    fail(where_, e.place,
         fmt::format("expected a name that is defined, found `{}`; declare this array first: {} = torch.randn({})",
                     e.text, e.text, array->second));
  std::vector<std::string> known = {"torch", "nn", "F", "math"};
  for (const Scope* s : {&scope, &globals_})
    for (const auto& [variable, value] : s->variables)
      if (known.size() < 1000) known.emplace_back(variable);
  fail(where_, e.place,
       fmt::format("expected a name that is defined, found `{}`{}", e.text, did_you_mean(e.text, known)));
}

void Interpreter::append(const Expr& item, Values& out, Scope& scope) {
  if (item.kind != Expr::Kind::star) {
    out.push_back(evaluate(item, scope));
    return;
  }
  const Value sequence = evaluate(item.children[0], scope);
  const Values items = placed(item.place, [&] { return items_of(session_, sequence); });
  out.insert(out.end(), items.begin(), items.end());
}

Value Interpreter::list(const Expr& e, Scope& scope) {
  Values items;
  for (const Expr& item : e.children) append(item, items, scope);
  return placed(e.place, [&] {
    if (e.kind == Expr::Kind::set) return make_set(session_, items);
    return e.kind == Expr::Kind::tuple ? make_list(std::move(items)) : session_.list(std::move(items));
  });
}

Value Interpreter::dict(const Expr& e, Scope& scope) {
  Dict* dict = session_.make_dict();
  for (std::size_t i = 0; i < e.children.size(); i += 2) {
    const Value value = evaluate(e.children[i + 1], scope);
    if (e.children[i].kind != Expr::Kind::absent) {
      const Value key = evaluate(e.children[i], scope);
      placed(e.place, [&] { insert_item(session_, *dict, key, value); });
      continue;
    }
    auto* const* other = value.as<Dict*>();
    if (!other)
      fail(where_, e.children[i + 1].place, fmt::format("expected a dict after `**`, found {}", describe(value)));
    for (const auto& [key, item] : (*other)->items)
      placed(e.place, [&, &of = key, &added = item] { insert_item(session_, *dict, of, added); });
  }
  return {dict};
}

// Evaluates comparisons. `a < b < c` is `a < b and b < c`. A single comparison may have tensors as operands.
Value Interpreter::compare(const Expr& e, Scope& scope) {
  Value left = evaluate(e.children[0], scope), result;
  for (std::size_t i = 0; i < e.keywords.size(); ++i) {
    Value right = evaluate(e.children[i + 1], scope);
    result = compare(e, e.keywords[i], left, right);
    const bool last = i + 1 == e.keywords.size();
    if (!last && !placed(e.place, [&] { return is_true(session_, result); })) break;
    left = std::move(right);
  }
  return result;
}

Value Interpreter::compare(const Expr& e, std::string_view op, const Value& left, const Value& right) {
  return placed(e.place, [&]() -> Value {
    if (op == "is" || op == "is not") return {is_same(left, right) == (op == "is")};
    if (op == "in" || op == "not in") return {contains(session_, right, left) == (op == "in")};
    const bool plain = !is_tensor(left) && !is_tensor(right) && !(to_number(left) && to_number(right)) &&
                       !is_complex(left) && !is_complex(right);
    if (plain && op == "!=")
      if (std::optional<Value> own = call_own(session_, left, "__ne__", {right})) return *std::move(own);
    if (plain && (op == "==" || op == "!=")) return {are_equal(session_, left, right) == (op == "==")};
    return apply_binary(session_, op, left, right);
  });
}

// Evaluates `and` and `or`, which return one of their operands.
Value Interpreter::logic(const Expr& e, Scope& scope) {
  Value left = evaluate(e.children[0], scope);
  const bool truth = placed(e.children[0].place, [&] { return is_true(session_, left); });
  return truth == (e.text == "or") ? left : evaluate(e.children[1], scope);
}

Value Interpreter::joined(const Expr& e, Scope& scope) {
  std::string text;
  for (const Expr& part : e.children) {
    if (part.kind == Expr::Kind::string)
      text += part.text;
    else if (part.kind == Expr::Kind::escaped)
      text += placed(part.place, [&] { return unescaped(part.text); });
    else
      text += placed(part.place, [&] { return formatted(evaluate(part.children[0], scope), part.text); });
  }
  return placed(e.place, [&] { return Value{session_.text(std::move(text))}; });
}

template <class F>
void Interpreter::for_each(const Expr& e, std::size_t clause, std::size_t clauses, Scope& scope, const F& element) {
  if (clause == clauses) return element();
  const Expr& c = e.children[clause];
  const Value sequence = evaluate(c.children[1], scope);
  for (const Value& item : placed(c.place, [&] { return items_of(session_, sequence); })) {
    placed(c.place, [&] { session_.spend(); });
    assign(c.children[0], item, scope);
    bool taken = true;
    for (std::size_t i = 2; i < c.children.size() && taken; ++i) taken = truth(c.children[i], scope);
    if (taken) for_each(e, clause + 1, clauses, scope, element);
  }
}

// Evaluates a comprehension in a scope of its own. A generator becomes the tuple of its elements.
Value Interpreter::comprehension(const Expr& e, Scope& outside) {
  Scope* scope = session_.make_scope();
  scope->outer = &outside == &globals_ ? nullptr : &outside;
  const std::size_t clauses = std::ranges::count(e.children, Expr::Kind::clause, &Expr::kind);
  const bool is_dict = e.children.size() == clauses + 2;
  const Expr& first = e.children[clauses];
  Values items;
  Dict* dict = is_dict ? session_.make_dict() : nullptr;
  for_each(e, 0, clauses, *scope, [&] {
    const Value key = evaluate(first, *scope);
    if (is_dict)
      placed(e.place, [&] { insert_item(session_, *dict, key, evaluate(e.children.back(), *scope)); });
    else
      items.push_back(key);
  });
  if (is_dict) return {dict};
  return placed(e.place, [&] {
    if (e.text == "{") return make_set(session_, items);
    return e.text == "[" ? session_.list(std::move(items)) : make_list(std::move(items));
  });
}

Value Interpreter::subscript(const Expr& e, Scope& scope) {
  const Value object = evaluate(e.children[0], scope), index = evaluate(e.children[1], scope);
  return placed(e.place, [&] { return apply_subscript(session_, object, index); });
}

Value Interpreter::slice(const Expr& e, Scope& scope) {
  Slice s;
  std::optional<std::int64_t>* const parts[] = {&s.start, &s.stop, &s.step};
  for (std::size_t i = 0; i < 3; ++i) {
    const Expr& part = e.children[i];
    if (part.kind == Expr::Kind::absent) continue;
    const Value value = evaluate(part, scope);
    if (value.none()) continue;
    const auto number = placed(part.place, [&] { return known_integer(session_, value); });
    if (!number) fail(where_, part.place, fmt::format("expected an integer in a slice, found {}", describe(value)));
    *parts[i] = *number;
  }
  return {s};
}

Value Interpreter::attribute(const Expr& e, Scope& scope) {
  const Value object = evaluate(e.children[0], scope);
  return placed(e.place, [&] { return attribute_of(object, e.text); });
}

}  // namespace deplo::ir::torch::python
