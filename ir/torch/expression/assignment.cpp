#include <fmt/format.h>

#include <algorithm>

#include "ir/torch/expression/interpreter.h"
#include "ir/torch/expression/operators.h"
#include "ir/torch/expression/sequence.h"

namespace deplo::ir::torch::python {

void Interpreter::assign(const Expr& target, const Value& value, Scope& scope) {
  switch (target.kind) {
    case Expr::Kind::name:
      return assign_name(target, value, scope);
    case Expr::Kind::attribute:
      return assign_attribute(target, value, scope);
    case Expr::Kind::tuple:
    case Expr::Kind::list:
      return unpack(target, value, scope);
    case Expr::Kind::subscript:
      return assign_item(target, value, scope);
    default:
      fail(where_, target.place, "expected a variable, an attribute or an element to the left of `=`");
  }
}

void Interpreter::assign_name(const Expr& target, const Value& value, Scope& scope) {
  placed(target.place, [&] { session_.give_name(value, nullptr, target.text); });
  const auto other = scope.others.find(target.text);
  (other == scope.others.end() ? scope : *other->second).variables.insert_or_assign(target.text, value);
}

// Assigns `a, *b, c = …`. b gets a list of the values that the other targets leave.
void Interpreter::unpack(const Expr& target, const Value& value, Scope& scope) {
  const Values items = placed(target.place, [&] { return items_to_unpack(session_, value); });
  const std::vector<Expr>& targets = target.children;
  const auto star = std::ranges::find(targets, Expr::Kind::star, &Expr::kind);
  const bool fits = star == targets.end() ? items.size() == targets.size() : items.size() + 1 >= targets.size();
  if (!fits) fail(where_, target.place, fmt::format("expected {} values, found {}", targets.size(), items.size()));
  auto next = items.begin();
  for (auto t = targets.begin(); t != targets.end(); ++t) {
    if (t != star) {
      assign(*t, *next++, scope);
      continue;
    }
    const auto end = next + static_cast<std::ptrdiff_t>(items.size() + 1 - targets.size());
    assign(t->children[0], placed(t->place, [&] { return session_.list(Values(next, end)); }), scope);
    next = end;
  }
}

void Interpreter::assign_attribute(const Expr& target, const Value& value, Scope& scope) {
  const Value object = evaluate(target.children[0], scope);
  if (auto* const* type = object.as<Class*>()) {
    (*type)->attributes.insert_or_assign(target.text, value);
    return;
  }
  if (is_tensor(object) && (target.text == "data" || target.text == "requires_grad")) {
    if (target.text == "data") placed(target.place, [&] { session_.set_data(object, value); });
    return;
  }
  if (is_complex(object) && (target.text == "real" || target.text == "imag")) {
    placed(target.place, [&] { session_.put(attribute_of(object, target.text), value); });
    return;
  }
  auto* const* o = object.as<Object*>();
  if (!o)
    fail(where_, target.place,
         fmt::format("expected a module or another object before `.`, found {}", describe(object)));
  placed(target.place, [&] {
    if (!set_property(**o, target.text, value)) set_attribute(session_, **o, target.text, value);
  });
}

// Calls the setter of a property. Returns false if the attribute is no property.
bool Interpreter::set_property(Object& object, std::string_view name, const Value& value) {
  const Value* found = find_attribute(object.type, name);
  const Method* m = found ? found->as<Method>() : nullptr;
  if (!m || m->closure->kind != Closure::Kind::property) return false;
  if (!m->closure->setter) throw Error(fmt::format("expected a property with a setter to assign to, found {}", name));
  const Value self{&object};
  invoke_function(*m->closure->setter, &self, {{value}, {}});
  return true;
}

void Interpreter::assign_item(const Expr& target, const Value& value, Scope& scope) {
  const Value object = evaluate(target.children[0], scope), index = evaluate(target.children[1], scope);
  placed(target.place, [&] { set_subscript(session_, object, index, value); });
}

// Executes `x[mask] *= 2`, where truth values select the elements. Returns false if the index is not such a mask.
bool Interpreter::augment_chosen(const Statement& s, const Value& object, const Value& index, Scope& scope) {
  if (!is_tensor(object) || !is_tensor(index)) return false;
  return placed(s.place, [&] {
    const Id first_new = session_.size(), mask = session_.tensor(index);
    const TensorType type = session_.type(session_.tensor(object));
    if (session_.type(mask).dtype != DType::boolean) return false;
    const Value right = evaluate(s.value, scope);
    Shape wide = session_.type(mask).shape;
    const std::size_t kept = is_tensor(right) ? session_.type(session_.tensor(right)).shape.size() : 0;
    const bool fits =
        wide.size() + kept <= type.shape.size() && std::equal(wide.begin(), wide.end(), type.shape.begin());
    if (!fits)
      throw Error("expected truth values of the shape of the tensor's first dimensions as the index, and a number");
    wide.resize(type.shape.size(), 1);
    const Id condition = wide == session_.type(mask).shape ? mask : session_.call("reshape", {mask}, {{"shape", wide}});
    const Id changed = session_.tensor(apply_binary(session_, s.name, object, right));
    session_.assign(object, session_.call("where", {condition, changed, session_.tensor(object)}), first_new);
    return true;
  });
}

// Returns the new value of an item of a tensor in `tensor[index] += value`.
Value Interpreter::changed_item(std::string_view op, const Value& item, const Value& right) {
  const Value result = apply_binary(session_, op, item, right);
  if (!is_tensor(result)) return result;
  const TensorType old = session_.type_of(item), now = session_.type_of(result);
  if (is_float(now.dtype) && !is_float(old.dtype))
    throw Error(fmt::format("expected values of {} to put into a tensor, found {}", torch_name(old.dtype), print(now)));
  return result;
}

// Executes `object[index] += value`. The object and the index are evaluated once.
void Interpreter::augment_item(const Statement& s, Scope& scope) {
  const Expr& target = s.targets[0];
  const Value object = evaluate(target.children[0], scope), index = evaluate(target.children[1], scope);
  if (augment_chosen(s, object, index, scope)) return;
  const Value item = placed(target.place, [&] { return apply_subscript(session_, object, index); });
  const Value right = evaluate(s.value, scope);
  const std::optional<Value> result = is_tensor(object)  // an item by tensors is a copy of the tensor's elements
                                          ? placed(s.place, [&] { return changed_item(s.name, item, right); })
                                          : augmented(s, item, right);
  if (result) placed(target.place, [&] { set_subscript(session_, object, index, *result); });
}

// Returns the new value of the target of `target += value`, or nullopt if the old value itself has changed: after
// `y = x; x += 1`, y has changed too if it is a tensor or a list.
std::optional<Value> Interpreter::augmented(const Statement& s, const Value& left, const Value& right) {
  auto* const* modules = left.as<Object*>();
  if (modules && holds_others(**modules) && s.name == "+") {
    placed(s.place, [&] { append_modules(session_, **modules, right); });
    return std::nullopt;
  }
  if (std::optional<Value> changed = placed(s.place, [&] { return apply_in_place(session_, s.name, left, right); }))
    return changed;
  const List* list = left.as<List>();
  if (list && !list->tuple && !list->set && s.name == "+") {
    placed(s.place, [&] {
      Values more = items_of(session_, right);
      session_.spend(more.size());
      list->items->insert(list->items->end(), more.begin(), more.end());
    });
    return std::nullopt;
  }
  const Id first_new = session_.size();
  const Value result = placed(s.place, [&] { return apply_binary(session_, s.name, left, right); });
  if (const List* changed = result.as<List>(); list && list->set && changed && changed->set) {
    *list->items = *changed->items;
    return std::nullopt;
  }
  if (is_tensor(left) && is_complex(result))
    fail(where_, s.place, "expected real numbers to put into a real tensor, found complex ones");
  if (!is_tensor(left) || !is_tensor(result)) return result;
  placed(s.place, [&] { session_.assign(left, session_.tensor(result), first_new); });
  return std::nullopt;
}

void Interpreter::augment(const Statement& s, Scope& scope) {
  const Expr& target = s.targets[0];
  if (target.kind == Expr::Kind::subscript) return augment_item(s, scope);
  if (target.kind != Expr::Kind::name && target.kind != Expr::Kind::attribute)
    fail(where_, target.place, "expected a variable, an attribute or an element before an operator with `=`");
  const Value left = evaluate(target, scope), right = evaluate(s.value, scope);
  if (const std::optional<Value> result = augmented(s, left, right)) assign(target, *result, scope);
}

}  // namespace deplo::ir::torch::python
