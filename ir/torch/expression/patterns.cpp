// `match` and the patterns of its cases. A pattern is the tree of an expression of the same form.

#include <algorithm>

#include "ir/torch/expression/functions/library.h"
#include "ir/torch/expression/interpreter.h"
#include "ir/torch/expression/sequence.h"

namespace deplo::ir::torch::python {
namespace {

// Returns the items of a dict without those of the keys.
std::vector<std::pair<Value, Value>> other_items(const Dict& dict, const Values& keys) {
  std::vector<std::pair<Value, Value>> items = dict.items;
  std::erase_if(items, [&](const auto& item) {
    return std::ranges::any_of(keys, [&](const Value& key) { return equal(item.first, key); });
  });
  return items;
}

}  // namespace

Interpreter::Flow Interpreter::select(const Statement& s, Scope& scope) {
  const Value subject = evaluate(s.value, scope);
  for (const Statement& arm : s.body) {
    if (!matches(arm.targets[0], subject, scope)) continue;
    if (arm.targets.size() > 1) assign(arm.targets[1], subject, scope);
    if (arm.value.kind == Expr::Kind::absent || truth(arm.value, scope)) return execute(arm.body, scope);
  }
  return Flow::next;
}

// Whether a value has the form of a pattern. Assigns the variables of the pattern.
bool Interpreter::matches(const Expr& pattern, const Value& value, Scope& scope) {
  placed(pattern.place, [&] { session_.spend(); });
  const auto is_so = [&](std::string_view op) {
    const Value result = compare(pattern, op, value, evaluate(pattern, scope));
    return placed(pattern.place, [&] { return is_true(session_, result); });
  };
  const bool is_sequence = pattern.kind == Expr::Kind::tuple || pattern.kind == Expr::Kind::list;
  if (is_sequence) return matches_items(pattern, value, scope);
  if (pattern.kind == Expr::Kind::call) return matches_class(pattern, value, scope);
  if (pattern.kind == Expr::Kind::dict) return matches_dict(pattern, value, scope);
  if (pattern.kind == Expr::Kind::binary && pattern.text == "|")
    return matches(pattern.children[0], value, scope) || matches(pattern.children[1], value, scope);
  if (pattern.kind != Expr::Kind::name) return is_so("==");
  if (pattern.text == "None" || pattern.text == "True" || pattern.text == "False") return is_so("is");
  if (pattern.text != "_") assign(pattern, value, scope);
  return true;
}

bool Interpreter::matches_items(const Expr& pattern, const Value& value, Scope& scope) {
  const std::vector<Expr>& parts = pattern.children;
  const List* list = value.as<List>();
  if (!list || list->set) return false;
  const Values items = *list->items;
  const auto star = std::ranges::find(parts, Expr::Kind::star, &Expr::kind);
  const bool fits = star == parts.end() ? items.size() == parts.size() : items.size() + 1 >= parts.size();
  if (!fits) return false;
  auto next = items.begin();
  for (auto part = parts.begin(); part != parts.end(); ++part) {
    if (part != star) {
      if (!matches(*part, *next++, scope)) return false;
      continue;
    }
    const auto end = next + static_cast<std::ptrdiff_t>(items.size() + 1 - parts.size());
    matches(part->children[0], placed(part->place, [&] { return session_.list(Values(next, end)); }), scope);
    next = end;
  }
  return true;
}

bool Interpreter::matches_dict(const Expr& pattern, const Value& value, Scope& scope) {
  auto* const* dict = value.as<Dict*>();
  if (!dict) return false;
  Values keys;
  for (std::size_t i = 0; i < pattern.children.size(); i += 2) {
    const Expr& part = pattern.children[i + 1];
    if (pattern.children[i].kind == Expr::Kind::absent) {
      if (i + 2 < pattern.children.size() || part.kind != Expr::Kind::name)
        fail(where_, part.place, "expected `**` and a name only at the end of a pattern of a dict");
      Dict* rest = session_.make_dict();
      rest->items = other_items(**dict, keys);
      assign(part, {rest}, scope);
      break;
    }
    keys.push_back(evaluate(pattern.children[i], scope));
    const Value* item = find_item(**dict, keys.back());
    if (!item) return false;
    const Value found = *item;
    if (!matches(part, found, scope)) return false;
  }
  return true;
}

// Matches `Type(pattern, name=pattern)`. Positions are the fields of a record. Those of Python's types, such as
// `int(n)`, are the value itself.
bool Interpreter::matches_class(const Expr& pattern, const Value& value, Scope& scope) {
  const Value type = evaluate(pattern.children[0], scope);
  const auto holds = [&](std::string_view function, const Value& other) {
    const Value builtin = {Builtin{find_function(in_python, function), nullptr}};
    return placed(pattern.place, [&] { return is_true(session_, invoke(builtin, {{value, other}, {}})); });
  };
  if (!holds("isinstance", type)) return false;
  auto* const* c = type.as<Class*>();
  const std::vector<std::string_view> fields = c && (*c)->is_record ? fields_of(**c) : std::vector<std::string_view>();
  for (std::size_t i = 1; i < pattern.children.size(); ++i) {
    const Expr& part = pattern.children[i];
    std::string_view name = pattern.keywords[i - 1];
    const bool is_whole = name.empty() && type.as<Builtin>() && i == 1;
    if (name.empty() && i <= fields.size()) name = fields[i - 1];
    if (name.empty() && !is_whole)
      fail(where_, part.place, "expected `name=` before a pattern in the pattern of a class without such a field");
    if (!is_whole && !holds("hasattr", {name})) return false;
    const Value found = is_whole ? value : placed(part.place, [&] { return attribute_of(value, name); });
    if (!matches(part, found, scope)) return false;
  }
  return true;
}

}  // namespace deplo::ir::torch::python
