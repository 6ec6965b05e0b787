#include <fmt/format.h>

#include "ir/torch/expression/interpreter.h"
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

// Executes `with`. Only modes without an effect here, such as torch.no_grad(), are supported.
Interpreter::Flow Interpreter::with(const Statement& s, Scope& scope) {
  for (std::size_t i = 0; i < s.targets.size(); ++i) {
    const Value value = evaluate(s.value.children[i], scope);
    if (!value.none())
      fail(where_, s.value.children[i].place,
           fmt::format("expected torch.no_grad() or another mode that has no effect here after `with`, found {}",
                       describe(value)));
    if (s.targets[i].kind != Expr::Kind::absent) assign(s.targets[i], value, scope);
  }
  return execute(s.body, scope);
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
    if (o && (*o)->attributes.erase(std::string(target.text)) == 1) return;
  }
  fail(where_, target.place, "expected a variable or an attribute after `del`");
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
