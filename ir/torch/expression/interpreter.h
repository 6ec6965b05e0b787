// Evaluates the syntax tree. Private to the files of this folder that define its functions.
#pragma once
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "ir/program.h"
#include "ir/torch/expression/values/call.h"

namespace deplo::ir::torch::python {

inline constexpr int max_calls = 200;          // nested calls
inline constexpr int max_expressions = 1'000;  // nested expressions, across calls; bounds the stack
inline constexpr int max_statements = 1'000;   // nested statements, across calls

/// Evaluates the syntax tree, with one function for each form of statement and expression. The functions call each
/// other.
class Interpreter {
 public:
  Interpreter(std::string_view where, DType default_dtype, const Symbols& sizes, const Symbols& arrays);
  Graph run(const std::vector<Statement>&);
  /// Calls a definition of functions/written.cpp.
  Graph call_written(std::string_view name, const std::function<Arguments(Session&)>& arguments);

 private:
  /// What runs after a statement: the next statement, the loop's next iteration, the code after the loop, or the
  /// caller.
  enum class Flow : std::uint8_t { next, resume, leave, give_back };

  // interpreter.cpp: statements. `self` in a method is an ordinary variable.
  Flow execute(const Statement&, Scope&);
  Flow execute(const std::vector<Statement>&, Scope&);
  Flow dispatch(const Statement&, Scope&);
  void top_level(const Statement&);
  void import(const Statement&, Scope&);
  Value written(std::string_view name);  // a definition in the language itself
  Value member(const Namespace&, std::string_view name);
  Closure closure(const Statement&, Scope&);
  void define(const Statement&, Scope&);
  void declare(const Statement&, Scope&);
  void add_members(Class&);
  void add_base(Class&, const Expr&, Scope&);
  std::optional<Value> decorator(const Expr&, Closure&, Scope&);
  const Closure* property_of(const Expr& decorator, Scope&);
  Value decorated(const Statement&, Closure, Scope&);

  // flow.cpp: conditions, loops, `with`, `try`, `assert`, `raise`, `del`, `global` and `nonlocal`.
  bool truth(const Expr&, Scope&);
  Flow choose(const Statement&, Scope&);
  Flow loop_for(const Statement&, Scope&);
  Flow loop_while(const Statement&, Scope&);
  Flow with(const Statement&, std::size_t item, Scope&);
  Flow with_generator(const Object&, const Expr& item, const std::function<Flow(const Value&)>& inner);
  void produce(const Statement&, Scope&);
  Flow attempt(const Statement&, Scope&);
  Flow attempt_with_handlers(const Statement&, Scope&);
  void require(const Statement&, Scope&);
  [[noreturn]] void refuse(const Statement&, Scope&);
  void remove(const Expr& target, Scope&);
  void outer(const Statement&, Scope&);

  // patterns.cpp
  Flow select(const Statement&, Scope&);
  bool matches(const Expr& pattern, const Value&, Scope&);
  bool matches_items(const Expr& pattern, const Value&, Scope&);
  bool matches_dict(const Expr& pattern, const Value&, Scope&);
  bool matches_class(const Expr& pattern, const Value&, Scope&);

  // assignment.cpp
  void assign(const Expr& target, const Value&, Scope&);
  void assign_name(const Expr& target, const Value&, Scope&);
  void unpack(const Expr& target, const Value&, Scope&);
  void assign_attribute(const Expr& target, const Value&, Scope&);
  bool set_property(Object&, std::string_view name, const Value&);
  void assign_item(const Expr& target, const Value&, Scope&);
  void augment(const Statement&, Scope&);
  bool augment_chosen(const Statement&, const Value& object, const Value& index, Scope&);
  void augment_item(const Statement&, Scope&);
  Value changed_item(std::string_view op, const Value& item, const Value& right);
  std::optional<Value> augmented(const Statement&, const Value& left, const Value& right);

  // evaluate_expression.cpp
  Value evaluate(const Expr&, Scope&);
  Value dispatch(const Expr&, Scope&);
  Value unary(const Expr&, Scope&);
  Value binary(const Expr&, Scope&);
  Value name(const Expr&, Scope&);
  Value list(const Expr&, Scope&);
  Value dict(const Expr&, Scope&);
  Value compare(const Expr&, Scope&);
  Value compare(const Expr&, std::string_view op, const Value& left, const Value& right);
  Value logic(const Expr&, Scope&);
  Value joined(const Expr&, Scope&);
  Value comprehension(const Expr&, Scope&);
  template <class F>
  void for_each(const Expr& comprehension, std::size_t clause, std::size_t clauses, Scope&, const F& element);
  void append(const Expr& item, Values& out, Scope&);
  Value subscript(const Expr&, Scope&);
  Value slice(const Expr&, Scope&);
  Value attribute(const Expr&, Scope&);
  template <class F>
  auto placed(Place place, F&& f);  // adds the place to an Error of f that lacks one

  // attributes.cpp
  Value attribute_of(const Value& object, std::string_view name);
  std::optional<Value> tensor_method(const Value& tensor, std::string_view name);
  Value tensor_attribute(const Value& tensor, std::string_view name);
  Value complex_attribute(const Value& tensor, std::string_view name);
  Value object_attribute(Object* object, std::string_view name);
  Value class_attribute(const Class&, const Value& self, std::string_view name);
  Value super_attribute(const Super&, std::string_view name);
  Value bound(const Value& found, const Value& self);

  // calls.cpp
  Value call(const Expr&, Scope&);
  void add_keywords(const Expr& dict, Arguments&, Scope&);
  Value invoke(const Value& function, Arguments);
  Value invoke_any(const Value& function, Arguments);
  Value invoke_builtin(const Builtin&, Arguments);
  Value invoke_function(const Closure&, const Value* self, Arguments);
  Value run_body(const Closure&, Scope&);
  Value run_generator(const Closure&, Scope&);
  Value invoke_written(const Closure&, Scope&);
  Value invoke_object(Object*, Arguments);
  Value call_module(Object*, Arguments);
  void run_hooks(Object&, Arguments&);
  Value run_hooks_after(Object&, const Values& inputs, Value result);
  Value invoke_module(Object*, Arguments);
  Value written_to(const Value& out, const Value& result, Id first_new);
  Value run(const Function&, Arguments, bool in_place);
  Value run_on_complex(const Function&, const Arguments&, bool in_place);
  Value super(Arguments, const Scope&) const;
  static Value member_of(const Class&, const Arguments&);
  Value construct(Class&, Arguments);
  Value construct(const ModuleType&, Arguments);
  Value construct_record(Class&, Arguments);
  Value default_of(const Class&, std::string_view field);
  void initialise(Object*, const ModuleType&, Arguments);
  Scope* bind(const Closure&, Arguments);

  std::string_view where_;
  const Symbols& arrays_;  // arrays that the text does not declare, for messages
  Session session_;
  Scope globals_;
  int calls_ = 0, expressions_ = 0, statements_ = 0;
  int import_handlers_ = 0;                     // the enclosing `try` statements that handle an import that fails
  std::optional<Value> expression_, assigned_;  // values of the last expression and assignment at top level
  Place expression_at_, assigned_at_;
  Value returned_;
  Receiver receiver_;         // takes the values of the next call of a function with `yield`; otherwise null
  Scope* written_ = nullptr;  // scope of the definitions of functions/written.cpp
  bool defining_ = false;
};

/// The error of an import that fails.
struct MissingImport : PlacedError {
  using PlacedError::PlacedError;
};

/// Returns the names of the fields of a dataclass or a named tuple. Those of base classes come first.
std::vector<std::string_view> fields_of(const Class&);
/// Returns the scope that has a variable: this scope, one around it, or the text's. Null if no scope has the variable.
Scope* find_scope(Scope&, Scope& globals, std::string_view name);

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
