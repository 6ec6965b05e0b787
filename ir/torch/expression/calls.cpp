#include <fmt/format.h>

#include <algorithm>

#include "ir/torch/expression/functions/library.h"
#include "ir/torch/expression/interpreter.h"

namespace deplo::ir::torch::python {

Value Interpreter::call(const Expr& e, Scope& scope) {
  const Value function = evaluate(e.children[0], scope);
  Arguments arguments;
  for (std::size_t i = 1; i < e.children.size(); ++i) {
    const std::string_view keyword = e.keywords[i - 1];
    if (keyword.empty())
      append(e.children[i], arguments.positional, scope);
    else
      arguments.keywords.emplace_back(keyword, evaluate(e.children[i], scope));
  }
  return placed(e.place, [&] { return invoke(function, std::move(arguments)); });
}

Value Interpreter::invoke(const Value& function, Arguments arguments) {
  session_.spend();
  if (calls_ >= most_calls) throw Error(fmt::format("expected at most {} calls inside each other", most_calls));
  ++calls_;
  Value result;
  if (const Builtin* b = function.as<Builtin>())
    result = invoke_builtin(*b, std::move(arguments));
  else if (const Method* m = function.as<Method>())
    result = invoke_function(*m->closure, m->self, std::move(arguments));
  else if (auto* const* type = function.as<const Class*>())
    result = construct(**type, std::move(arguments));
  else if (auto* const* module = function.as<const ModuleType*>())
    result = construct(**module, std::move(arguments));
  else if (auto* const* object = function.as<Object*>())
    result = invoke_object(*object, std::move(arguments));
  else if (function.as<Super>())
    result = function;  // super() and super().__init__()
  else
    throw Error(fmt::format("expected a function, found {}", describe(function)));
  --calls_;
  return result;
}

Value Interpreter::invoke_builtin(const Builtin& b, Arguments arguments) {
  if (b.self) arguments.positional.insert(arguments.positional.begin(), *b.self);
  return b.function->run(Call(session_, *b.function, std::move(arguments)));
}

Scope Interpreter::bind(const Closure& closure, Object* self, Arguments arguments) {
  const Statement& def = *closure.definition;
  const std::vector<Parameter>& parameters = def.parameters;
  const auto misfit = [&](std::string_view expected, std::string_view found) {
    std::string names;
    for (const Parameter& p : parameters) names += fmt::format("{}{}", names.empty() ? "" : ", ", p.name);
    throw Error(
        fmt::format("{}: expected {}, found {}; the signature is {}({})", def.name, expected, found, def.name, names));
  };
  Values& given = arguments.positional;
  if (self) given.insert(given.begin(), Value{self});
  if (given.size() > parameters.size())
    misfit(fmt::format("at most {} arguments", parameters.size()), std::to_string(given.size()));
  Scope scope;
  for (std::size_t i = 0; i < given.size(); ++i) scope.insert_or_assign(parameters[i].name, std::move(given[i]));
  for (auto& [keyword, value] : arguments.keywords) {
    if (std::ranges::find(parameters, keyword, &Parameter::name) == parameters.end())
      misfit("one of its arguments", fmt::format("{}=", keyword));
    if (!scope.emplace(keyword, std::move(value)).second) misfit(fmt::format("{} once", keyword), "it twice");
  }
  const std::size_t first_default = parameters.size() - closure.defaults.size();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (scope.contains(parameters[i].name)) continue;
    if (i < first_default) misfit(fmt::format("a value for {}", parameters[i].name), "none");
    scope.emplace(parameters[i].name, closure.defaults[i - first_default]);
  }
  return scope;
}

Value Interpreter::invoke_function(const Closure& closure, Object* self, Arguments arguments) {
  Scope scope = bind(closure, self, std::move(arguments));
  for (const Statement& s : closure.definition->body) {
    execute(s, scope);
    if (!returned_) continue;
    Value value = std::move(*returned_);
    returned_.reset();
    return value;
  }
  return {};
}

Value Interpreter::construct(const Class& type, Arguments arguments) {
  Object* object = session_.make_object();
  object->type = &type;
  const auto init = type.methods.find("__init__");
  if (init != type.methods.end())
    invoke_function(init->second, object, std::move(arguments));
  else if (!arguments.positional.empty() || !arguments.keywords.empty())
    throw Error(fmt::format("{}: expected no arguments (it has no __init__), found some", type.definition->name));
  return {object};
}

Value Interpreter::construct(const ModuleType& type, Arguments arguments) {
  const Call call(session_, type.name, type.signature, std::move(arguments));
  Object* object = session_.make_object();
  object->module = &type;
  for (const auto& [parameter, value] : call.all()) object->attributes.insert_or_assign(std::string(parameter), value);
  if (type.build) type.build(call, *object);
  return {object};
}

Value Interpreter::invoke_object(Object* object, Arguments arguments) {
  if (object->module) {
    return invoke_module(object, std::move(arguments));
  }
  const auto forward = object->type->methods.find("forward");
  if (forward == object->type->methods.end())
    throw Error(fmt::format("{}: expected a method forward(self, …), found none", object->type->definition->name));
  return invoke_function(forward->second, object, std::move(arguments));
}

Value Interpreter::invoke_module(Object* object, Arguments arguments) {
  const ModuleType& type = *object->module;
  if (holds_others(*object)) {
    if (type.name != "Sequential") throw Error("ModuleList: expected one of its modules to call, found the list");
    if (arguments.positional.size() != 1 || !arguments.keywords.empty())
      throw Error(fmt::format("{}: expected one argument, the input, found {}", type.name,
                              arguments.positional.size() + arguments.keywords.size()));
    Value x = arguments.positional[0];
    for (const Value& item : object->items) x = invoke(item, {{x}, {}});
    return x;
  }
  const Function* function = find_function(in_functional, type.function);
  if (!function) function = find_function(in_torch | of_modules_only, type.function);
  CHECK(function);
  if (arguments.positional.empty())
    throw Error(fmt::format("{}: expected one argument, the input, found 0", type.name));
  for (const auto& [name, value] : object->attributes)
    if (Call::takes(function->signature, name)) arguments.keywords.emplace_back(name, value);
  return function->run(Call(session_, *function, std::move(arguments)));
}

}  // namespace deplo::ir::torch::python
