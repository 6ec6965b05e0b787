#include "ir/torch/expression/interpreter.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/torch/expression/expression.h"
#include "ir/torch/expression/functions/library.h"
#include "ir/torch/expression/operators.h"

namespace deplo::ir::torch::python {

Graph Interpreter::run(const std::vector<Statement>& program) {
  for (const Statement& s : program) top_level(s);
  if (!expression_ && !assigned_)
    fail(where_, {}, "expected an expression such as torch.exp(torch.randn(8)), found none");
  return placed(expression_ ? expression_at_ : assigned_at_,
                [&] { return session_.finish(expression_ ? *expression_ : *assigned_); });
}

void Interpreter::top_level(const Statement& s) {
  if (s.kind == Statement::Kind::expression && s.value.kind != Expr::Kind::string) {
    expression_ = evaluate(s.value, globals_);
    expression_at_ = s.place;
    return;
  }
  execute(s, globals_);
  if (s.kind != Statement::Kind::assign && s.kind != Statement::Kind::augment) return;
  const Expr& target = s.targets.back();
  assigned_at_ = target.place;
  assigned_ = evaluate(target, globals_);
}

void Interpreter::execute(const Statement& s, Scope& scope) {
  placed(s.place, [&] { session_.spend(); });
  switch (s.kind) {
    case Statement::Kind::expression:
      evaluate(s.value, scope);
      break;
    case Statement::Kind::assign: {
      const Value value = evaluate(s.value, scope);
      for (const Expr& target : s.targets) assign(target, value, scope);
      break;
    }
    case Statement::Kind::augment:
      augment(s, scope);
      break;
    case Statement::Kind::give_back:
      returned_ = s.value.kind == Expr::Kind::absent ? Value{} : evaluate(s.value, scope);
      break;
    case Statement::Kind::pass:
      break;
    case Statement::Kind::import:
      import(s, scope);
      break;
    case Statement::Kind::define:
      scope.insert_or_assign(s.name, Value{Method{session_.keep(closure(s, scope)), nullptr}});
      break;
    case Statement::Kind::declare:
      declare(s, scope);
      break;
  }
}

void Interpreter::assign(const Expr& target, const Value& value, Scope& scope) {
  switch (target.kind) {
    case Expr::Kind::name:
      placed(target.place, [&] { session_.give_name(value, nullptr, target.text); });
      scope.insert_or_assign(target.text, value);
      return;
    case Expr::Kind::attribute:
      return assign_attribute(target, value, scope);
    case Expr::Kind::tuple:
    case Expr::Kind::list:
      return unpack(target, value, scope);
    case Expr::Kind::subscript:
      fail(where_, target.place, "expected a variable, found an element: tensors are not changed in place");
    default:
      fail(where_, target.place, "expected a variable or an attribute to the left of `=`");
  }
}

void Interpreter::unpack(const Expr& target, const Value& value, Scope& scope) {
  const Tensor* tensor = value.as<Tensor>();
  const List* list = value.as<List>();
  const std::size_t count = list ? list->items->size() : 2;
  if (!list && !(tensor && tensor->pair))
    fail(where_, target.place, fmt::format("expected a tuple or a list to unpack, found {}", describe(value)));
  if (count != target.children.size())
    fail(where_, target.place, fmt::format("expected {} values, found {}", target.children.size(), count));
  for (std::size_t i = 0; i < count; ++i)
    assign(target.children[i],
           list ? (*list->items)[i]
                : placed(target.place, [&] { return apply_subscript(session_, value, {std::int64_t(i)}); }),
           scope);
}

void Interpreter::assign_attribute(const Expr& target, const Value& value, Scope& scope) {
  const Value object = evaluate(target.children[0], scope);
  auto* const* o = object.as<Object*>();
  if (!o || !(*o)->type)
    fail(where_, target.place, fmt::format("expected a module of a class before `.`, found {}", describe(object)));
  placed(target.place, [&] { session_.give_name(value, *o, target.text); });
  (*o)->attributes.insert_or_assign(std::string(target.text), value);
}

void Interpreter::augment(const Statement& s, Scope& scope) {
  const Expr& target = s.targets[0];
  if (target.kind != Expr::Kind::name && target.kind != Expr::Kind::attribute)
    fail(where_, target.place, "expected a variable or an attribute before an operator with `=`");
  const Value left = evaluate(target, scope), right = evaluate(s.value, scope);
  assign(target, placed(s.place, [&] { return apply_binary(session_, s.name, left, right); }), scope);
}

void Interpreter::import(const Statement& s, Scope& scope) {
  placed(s.place, [&] {
    const std::size_t dot = std::min(s.module.find('.'), s.module.size());
    const std::string root = s.module.substr(0, dot);
    Value found = root == "torch" || root == "math" ? find_global(root) : Value{Missing{}};
    for (std::size_t at = dot; at < s.module.size() && found.as<Namespace>();) {
      const std::size_t end = std::min(s.module.find('.', at + 1), s.module.size());
      found = find_member(*found.as<Namespace>(), std::string_view(s.module).substr(at + 1, end - at - 1));
      at = end;
    }
    if (found.as<Missing>())
      throw Error(fmt::format("expected torch, torch.nn, torch.nn.functional, math or a name in one of them, found {}",
                              s.module));
    scope.insert_or_assign(s.name, std::move(found));
  });
}

Closure Interpreter::closure(const Statement& s, Scope& scope) {
  Closure c;
  c.definition = &s;
  for (const Parameter& p : s.parameters)
    if (p.value.kind != Expr::Kind::absent) c.defaults.push_back(evaluate(p.value, scope));
  return c;
}

void Interpreter::declare(const Statement& s, Scope& scope) {
  const Value base = evaluate(s.value, scope);
  if (!base.as<ModuleBase>())
    fail(where_, s.value.place, fmt::format("expected torch.nn.Module as the base, found {}", describe(base)));
  Class type;
  type.definition = &s;
  for (const Statement& inner : s.body) {
    const bool text = inner.kind == Statement::Kind::expression && inner.value.kind == Expr::Kind::string;
    if (inner.kind == Statement::Kind::define)
      type.methods.insert_or_assign(inner.name, closure(inner, scope));
    else if (!text && inner.kind != Statement::Kind::pass)
      fail(where_, inner.place, "expected def or pass in a class, found another statement");
  }
  scope.insert_or_assign(s.name, Value{session_.keep(std::move(type))});
}

}  // namespace deplo::ir::torch::python

namespace deplo::ir::torch {

Graph parse_expression(std::string_view text, std::string_view where, DType default_dtype) {
  return python::Interpreter(where, default_dtype).run(python::parse(text, where));
}

}  // namespace deplo::ir::torch
