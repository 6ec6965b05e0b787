#include <fmt/format.h>

#include <algorithm>

#include "core/text/nearest.h"
#include "ir/torch/expression/functions/library.h"
#include "ir/torch/expression/interpreter.h"
#include "ir/torch/expression/operators.h"
#include "ir/torch/operations/family.h"

namespace deplo::ir::torch::python {

Value Interpreter::evaluate(const Expr& e, Scope& scope) {
  if (expressions_ >= most_expressions)
    fail(where_, e.place, fmt::format("expected at most {} expressions inside each other", most_expressions));
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
    case Expr::Kind::string:
      return {e.text};
    case Expr::Kind::name:
      return name(e, scope);
    case Expr::Kind::dots:
      return {Dots{}};
    case Expr::Kind::tuple:
    case Expr::Kind::list:
      return list(e, scope);
    case Expr::Kind::unary: {
      const Value operand = evaluate(e.children[0], scope);
      return placed(e.place, [&] { return apply_unary(session_, e.text, operand); });
    }
    case Expr::Kind::binary:
    case Expr::Kind::compare: {
      const Value left = evaluate(e.children[0], scope), right = evaluate(e.children[1], scope);
      return placed(e.place, [&] { return apply_binary(session_, e.text, left, right); });
    }
    case Expr::Kind::attribute:
      return attribute(e, scope);
    case Expr::Kind::subscript:
      return subscript(e, scope);
    case Expr::Kind::slice:
      return slice(e, scope);
    case Expr::Kind::call:
      return call(e, scope);
    case Expr::Kind::absent:
    case Expr::Kind::star:
      break;
  }
  fail(where_, e.place, "expected an expression, found `*`");
}

Value Interpreter::name(const Expr& e, Scope& scope) {
  if (const auto local = scope.find(e.text); local != scope.end()) return local->second;
  if (const auto global = globals_.find(e.text); global != globals_.end()) return global->second;
  if (e.text == "super") return {Super{}};
  Value found = find_global(e.text);
  if (!found.as<Missing>()) return found;
  std::vector<std::string> known = {"torch", "nn", "F", "math"};
  for (const Scope* s : {&scope, &globals_})
    for (const auto& [variable, value] : *s)
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
  const List* list = sequence.as<List>();
  if (!list)
    fail(where_, item.place, fmt::format("expected a tuple or a list after `*`, found {}", describe(sequence)));
  placed(item.place, [&] { session_.spend(list->items->size()); });
  out.insert(out.end(), list->items->begin(), list->items->end());
}

Value Interpreter::list(const Expr& e, Scope& scope) {
  Values items;
  for (const Expr& item : e.children) append(item, items, scope);
  return placed(e.place, [&] { return make_list(std::move(items), e.kind == Expr::Kind::tuple); });
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
    const auto* number = value.as<std::int64_t>();
    if (!number) fail(where_, part.place, fmt::format("expected an integer in a slice, found {}", describe(value)));
    *parts[i] = *number;
  }
  return {s};
}

Value Interpreter::attribute(const Expr& e, Scope& scope) {
  const Value object = evaluate(e.children[0], scope);
  return placed(e.place, [&] { return attribute_of(object, e.text); });
}

Value Interpreter::attribute_of(const Value& object, std::string_view name) {
  if (const Namespace* space = object.as<Namespace>()) return find_member(*space, name);
  if (is_tensor(object)) return tensor_attribute(object, name);
  if (auto* const* o = object.as<Object*>()) return object_attribute(*o, name);
  if (object.as<Super>() && name == "__init__") return object;
  if (const List* list = object.as<List>(); list && list->pair && (name == "values" || name == "indices"))
    return (*list->items)[name == "values" ? 0 : 1];
  throw Error(fmt::format("expected a tensor or a module before `.{}`, found {}", name, describe(object)));
}

Value Interpreter::tensor_attribute(const Value& tensor, std::string_view name) {
  if (const Function* f = find_function(as_method, name)) return {Builtin{f, std::make_shared<const Value>(tensor)}};
  const Id id = session_.tensor(tensor);
  const TensorType type = session_.type(id);
  const auto rank = static_cast<std::int64_t>(type.shape.size());
  const Tensor* pair = tensor.as<Tensor>();
  if (name == "shape") return make_tuple(type.shape);
  if (name == "dtype") return {type.dtype};
  if (name == "ndim") return {rank};
  if (name == "device") return {std::string_view("cpu")};
  if (pair && pair->pair && name == "values") return {Tensor{id}};
  if (pair && pair->pair && name == "indices")
    return {Tensor{extreme_index(caller_of(session_, name), session_.node(id))}};
  if (name == "mT" && rank < 2)
    throw Error(fmt::format("expected at least two dimensions for mT, found {}", print(type)));
  if (name == "mT" || (name == "T" && rank == 2))
    return {Tensor{session_.call("transpose", {id}, {{"dim0", rank - 2}, {"dim1", rank - 1}})}};
  if (name == "T") {
    Shape reversed;
    for (std::int64_t d = rank; d-- > 0;) reversed.push_back(d);
    return {Tensor{rank < 2 ? id : session_.call("permute", {id}, {{"dims", reversed}})}};
  }
  std::vector<std::string> known = function_names(as_method);
  for (const char* plain : {"shape", "dtype", "ndim", "T", "mT"}) known.emplace_back(plain);
  throw Error(fmt::format("expected a name that a tensor has (docs/expressions.md), found `{}`{}", name,
                          did_you_mean(name, known)));
}

Value Interpreter::object_attribute(Object* object, std::string_view name) {
  if (const auto a = object->attributes.find(name); a != object->attributes.end()) return a->second;
  if (object->type)
    if (const auto m = object->type->methods.find(name); m != object->type->methods.end())
      return {Method{&m->second, object}};
  if (const Function* f = find_function(of_module, name))
    return {Builtin{f, std::make_shared<const Value>(Value{object})}};
  std::vector<std::string> known = function_names(of_module);
  for (const auto& [attribute, value] : object->attributes)
    if (known.size() < 1000) known.push_back(attribute);
  throw Error(fmt::format("expected an attribute of {}, found `{}`{}", describe(Value{object}), name,
                          did_you_mean(name, known)));
}

}  // namespace deplo::ir::torch::python
