// Evaluates the syntax tree. Private to interpreter.cpp, evaluate_expression.cpp and calls.cpp.
#pragma once
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "ir/torch/expression/call.h"

namespace deplo::ir::torch::python {

inline constexpr int most_calls = 200;          // nested calls
inline constexpr int most_expressions = 1'000;  // nested expressions, across calls: bounds the stack

using Scope = std::map<std::string_view, Value>;

class Interpreter {
 public:
  Interpreter(std::string_view where, DType default_dtype) : where_(where) { session_.default_dtype = default_dtype; }
  Graph run(const std::vector<Statement>&);

 private:
  // interpreter.cpp: statements. `self` in a method is an ordinary variable.
  void execute(const Statement&, Scope&);
  void top_level(const Statement&);
  void assign(const Expr& target, const Value&, Scope&);
  void unpack(const Expr& target, const Value&, Scope&);
  void assign_attribute(const Expr& target, const Value&, Scope&);
  void augment(const Statement&, Scope&);
  void import(const Statement&, Scope&);
  Closure closure(const Statement&, Scope&);
  void declare(const Statement&, Scope&);

  // evaluate_expression.cpp
  Value evaluate(const Expr&, Scope&);
  Value dispatch(const Expr&, Scope&);
  Value name(const Expr&, Scope&);
  Value list(const Expr&, Scope&);
  void append(const Expr& item, Values& out, Scope&);
  Value subscript(const Expr&, Scope&);
  Value slice(const Expr&, Scope&);
  Value attribute(const Expr&, Scope&);
  Value attribute_of(const Value& object, std::string_view name);
  Value tensor_attribute(const Value& tensor, std::string_view name);
  Value object_attribute(Object* object, std::string_view name);
  template <class F>
  auto placed(Place place, F&& f);  // adds the place to an Error of f that has none

  // calls.cpp
  Value call(const Expr&, Scope&);
  Value invoke(const Value& function, Arguments);
  Value invoke_builtin(const Builtin&, Arguments);
  Value invoke_function(const Closure&, Object* self, Arguments);
  Value invoke_object(Object*, Arguments);
  Value invoke_module(Object*, Arguments);
  Value construct(const Class&, Arguments);
  Value construct(const ModuleType&, Arguments);
  Scope bind(const Closure&, Object* self, Arguments);

  std::string_view where_;
  Session session_;
  Scope globals_;
  int calls_ = 0, expressions_ = 0;
  std::optional<Value> expression_, assigned_;  // values of the last expression and assignment at top level
  Place expression_at_, assigned_at_;
  std::optional<Value> returned_;
};

template <class F>
auto Interpreter::placed(Place place, F&& f) {
  try {
    return f();
  } catch (const PlacedError&) {
    throw;
  } catch (const Error& e) {
    fail(where_, place, e.what());
  }
}

}  // namespace deplo::ir::torch::python
