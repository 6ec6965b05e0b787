#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "ir/torch/expression/interpreter.h"
#include "ir/torch/expression/operators.h"
#include "ir/torch/expression/sequence.h"

namespace deplo::ir::torch::python {

bool Interpreter::truth(const Expr& e, Scope& scope) {
  const Value value = evaluate(e, scope);
  return placed(e.place, [&] { return is_true(session_, value); });
}

Interpreter::Flow Interpreter::choose(const Statement& s, Scope& scope) {
  for (const Statement& arm : s.body)
    if (arm.value.kind == Expr::Kind::absent || truth(arm.value, scope)) return execute(arm.body, scope);
  return Flow::next;
}

Interpreter::Flow Interpreter::loop_for(const Statement& s, Scope& scope) {
  const Value sequence = evaluate(s.value, scope);
  for (const Value& item : placed(s.value.place, [&] { return items_of(session_, sequence); })) {
    placed(s.place, [&] { session_.spend(); });
    assign(s.targets[0], item, scope);
    const Flow flow = execute(s.body, scope);
    if (flow == Flow::leave) return Flow::next;
    if (flow == Flow::give_back) return flow;
  }
  return execute(s.otherwise, scope);
}

Interpreter::Flow Interpreter::loop_while(const Statement& s, Scope& scope) {
  while (truth(s.value, scope)) {
    const Flow flow = execute(s.body, scope);
    if (flow == Flow::leave) return Flow::next;
    if (flow == Flow::give_back) return flow;
  }
  return execute(s.otherwise, scope);
}

// Executes `with` from one of its items on. The contexts are objects of the text's classes, calls of functions with
// @contextmanager, or modes without an effect here, such as torch.no_grad().
Interpreter::Flow Interpreter::with(const Statement& s, std::size_t i, Scope& scope) {
  if (i == s.targets.size()) return execute(s.body, scope);
  const Expr& item = s.value.children[i];
  const Value context = evaluate(item, scope);
  const auto inner = [&](const Value& value) {
    if (s.targets[i].kind != Expr::Kind::absent) assign(s.targets[i], value, scope);
    return with(s, i + 1, scope);
  };
  auto* const* o = context.as<Object*>();
  if (o && written_ && (*o)->type == *written("GeneratorContext").as<Class*>()) return with_generator(**o, item, inner);
  if (o && find_attribute((*o)->type, "__enter__")) {
    const Flow flow = inner(placed(item.place, [&] { return invoke(attribute_of(context, "__enter__"), {}); }));
    const Value returned = std::exchange(returned_, {});
    placed(s.place, [&] { invoke(attribute_of(context, "__exit__"), {{Value{}, Value{}, Value{}}, {}}); });
    returned_ = returned;
    return flow;
  }
  if (!context.none())
    fail(where_, item.place,
         fmt::format("expected torch.no_grad() or another mode that has no effect here after `with`, found {}",
                     describe(context)));
  return inner(context);
}

// Executes the body of a `with` where the function with @contextmanager yields.
Interpreter::Flow Interpreter::with_generator(const Object& context, const Expr& item,
                                              const std::function<Flow(const Value&)>& inner) {
  Arguments arguments = {*context.attributes.find("args")->second.as<List>()->items, {}};
  for (const auto& [name, value] : (*context.attributes.find("options")->second.as<Dict*>())->items)
    arguments.keywords.emplace_back(*name.as<std::string_view>(), value);
  Flow flow = Flow::next;
  Value returned;
  int yields = 0;
  receiver_ = [&](const Value& value) {
    if (++yields > 1)
      fail(where_, item.place, "expected one `yield` in a function with @contextmanager, found several");
    flow = inner(value);
    returned = std::exchange(returned_, {});
  };
  placed(item.place, [&] { invoke(context.attributes.find("function")->second, std::move(arguments)); });
  receiver_ = nullptr;
  if (yields == 0) fail(where_, item.place, "expected a `yield` in a function with @contextmanager, found none");
  returned_ = returned;
  return flow;
}

// Executes `yield value` and `yield from values`.
void Interpreter::produce(const Statement& s, Scope& scope) {
  const Value value = s.value.kind == Expr::Kind::absent ? Value{} : evaluate(s.value, scope);
  if (s.name != "from") return scope.receive(value);
  for (const Value& item : placed(s.place, [&] { return items_of(session_, value); })) scope.receive(item);
}

namespace {

// Whether a handler with these exceptions handles an import that fails.
bool handles_imports(const Expr& exceptions) {
  constexpr std::array<std::string_view, 4> names = {"ImportError", "ModuleNotFoundError", "Exception",
                                                     "BaseException"};
  if (exceptions.kind == Expr::Kind::tuple) return std::ranges::any_of(exceptions.children, handles_imports);
  return exceptions.kind == Expr::Kind::absent || std::ranges::find(names, exceptions.text) != names.end();
}

}  // namespace

// Executes `try` with its `finally` block, which may end a loop or a call in another way.
Interpreter::Flow Interpreter::attempt(const Statement& s, Scope& scope) {
  if (s.last.empty()) return attempt_with_handlers(s, scope);
  const int calls = calls_, expressions = expressions_, statements = statements_;
  Flow flow = Flow::next;
  try {
    flow = attempt_with_handlers(s, scope);
  } catch (const MissingImport&) {
    calls_ = calls, expressions_ = expressions, statements_ = statements;
    if (const Flow last = execute(s.last, scope); last != Flow::next) return last;
    throw;
  }
  const Value returned = std::exchange(returned_, {});
  if (const Flow last = execute(s.last, scope); last != Flow::next) return last;
  returned_ = returned;
  return flow;
}

// Executes the rest of `try`. Only an import that fails has a handler. All other errors end the evaluation: a handler
// would hide that deplo lacks a function which PyTorch has.
Interpreter::Flow Interpreter::attempt_with_handlers(const Statement& s, Scope& scope) {
  const int calls = calls_, expressions = expressions_, statements = statements_, handlers = import_handlers_;
  const auto handler =
      std::find_if(s.body.begin() + 1, s.body.end(), [](const Statement& arm) { return handles_imports(arm.value); });
  if (handler != s.body.end()) ++import_handlers_;
  Flow flow = Flow::next;
  try {
    flow = execute(s.body[0].body, scope);
  } catch (const MissingImport& e) {
    if (handler == s.body.end()) throw;
    calls_ = calls, expressions_ = expressions, statements_ = statements, import_handlers_ = handlers;
    if (!handler->name.empty())
      scope.variables.insert_or_assign(handler->name, Value{session_.text(std::string(e.what()))});
    return execute(handler->body, scope);
  }
  import_handlers_ = handlers;
  return flow == Flow::next ? execute(s.otherwise, scope) : flow;
}

void Interpreter::require(const Statement& s, Scope& scope) {
  if (truth(s.value, scope)) return;
  std::string message;
  if (!s.extras.empty()) message = ": " + to_text(evaluate(s.extras[0], scope)).substr(0, 200);
  fail(where_, s.place, fmt::format("expected the condition of `assert` to hold{}", message));
}

void Interpreter::refuse(const Statement& s, Scope& scope) {
  std::string message;
  const bool called = s.value.kind == Expr::Kind::call && s.value.children.size() == 2;
  if (called) message = ": " + to_text(evaluate(s.value.children[1], scope)).substr(0, 200);
  const Expr& type = called ? s.value.children[0] : s.value;
  fail(where_, s.place, fmt::format("expected no `raise`, found {}{}", type.text, message));
}

void Interpreter::remove(const Expr& target, Scope& scope) {
  if (target.kind == Expr::Kind::name) {
    if (scope.variables.erase(target.text) == 0)
      fail(where_, target.place, fmt::format("expected a variable after `del`, found {}", target.text));
    return;
  }
  if (target.kind == Expr::Kind::attribute) {
    const Value object = evaluate(target.children[0], scope);
    auto* const* o = object.as<Object*>();
    if (o && (*o)->attributes.erase(target.text)) return;
  }
  if (target.kind == Expr::Kind::subscript) {
    const Value object = evaluate(target.children[0], scope), index = evaluate(target.children[1], scope);
    return placed(target.place, [&] { delete_subscript(session_, object, index); });
  }
  fail(where_, target.place, "expected a variable, an attribute or an element after `del`");
}

void Interpreter::outer(const Statement& s, Scope& scope) {
  for (const std::string_view name : s.names) {
    Scope* found = &globals_;
    if (s.name == "nonlocal" && scope.outer) found = find_scope(*scope.outer, globals_, name);
    if (!found) fail(where_, s.place, fmt::format("expected a variable of an enclosing function, found `{}`", name));
    if (found != &scope) scope.others.insert_or_assign(name, found);
  }
}

}  // namespace deplo::ir::torch::python
