#include "ir/torch/expression/interpreter.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/torch/expression/expression.h"
#include "ir/torch/expression/functions/library.h"
#include "ir/torch/expression/sequence.h"

namespace deplo::ir::torch::python {
namespace {

// Returns the call that a file of KernelBench leaves to its user, on the line of its class Model, or an empty text if
// the program is no such file.
std::string problem_call(const std::vector<Statement>& program) {
  const auto find = [&](Statement::Kind kind, std::string_view name) {
    return std::ranges::find_if(program, [&](const Statement& s) { return s.kind == kind && s.name == name; });
  };
  const auto model = find(Statement::Kind::declare, "Model");
  if (model == program.end()) return "";
  for (const std::string_view function : {"get_init_inputs", "get_inputs"})
    if (find(Statement::Kind::define, function) == program.end()) return "";
  return std::string(model->place.line - 1, '\n') + "Model(*get_init_inputs())(*get_inputs())";
}

}  // namespace

Interpreter::Interpreter(std::string_view where, DType default_dtype, const Symbols& sizes, const Symbols& arrays)
    : where_(where), arrays_(arrays) {
  for (const auto& [name, size] : sizes) globals_.variables.insert_or_assign(name, Value{size});
  session_.default_dtype = default_dtype;
  session_.invoke = [this](const Value& f, Arguments arguments) { return invoke(f, std::move(arguments)); };
  session_.attribute = [this](const Value& object, std::string_view name) { return attribute_of(object, name); };
}

Graph Interpreter::run(const std::vector<Statement>& program) {
  for (const Statement& s : program) top_level(s);
  const std::string call = expression_ ? "" : problem_call(program);
  const std::vector<Statement> calls = parse(call, where_);  // they refer to the text `call`
  for (const Statement& s : calls) top_level(s);
  if (!expression_ && !assigned_)
    fail(where_, {},
         "expected an expression such as torch.exp(torch.randn(8)), or a class Model with the functions "
         "get_init_inputs and get_inputs, found none");
  return placed(expression_ ? expression_at_ : assigned_at_,
                [&] { return session_.finish(outputs_of(session_, expression_ ? *expression_ : *assigned_)); });
}

Graph Interpreter::call_written(std::string_view name, const std::function<Arguments(Session&)>& arguments) {
  const Value function = written(name);
  const Value result = invoke(function, arguments(session_));
  return session_.finish(outputs_of(session_, result));
}

void Interpreter::top_level(const Statement& s) {
  const bool is_comment = s.value.kind == Expr::Kind::string || s.value.kind == Expr::Kind::escaped;
  if (s.kind == Statement::Kind::expression && !is_comment) {
    Value value = evaluate(s.value, globals_);
    if (value.none()) return;  // print(…) has no value
    expression_ = std::move(value);
    expression_at_ = s.place;
    return;
  }
  execute(s, globals_);
  if (s.kind != Statement::Kind::assign && s.kind != Statement::Kind::augment) return;
  const Expr* target = &s.targets.back();
  while (target->kind == Expr::Kind::subscript) target = &target->children[0];
  assigned_at_ = target->place;
  assigned_ = evaluate(*target, globals_);
}

Interpreter::Flow Interpreter::execute(const Statement& s, Scope& scope) {
  placed(s.place, [&] { session_.spend(); });
  if (statements_ >= max_statements)
    fail(where_, s.place, fmt::format("expected at most {} nested statements", max_statements));
  ++statements_;
  const Flow flow = dispatch(s, scope);
  --statements_;
  return flow;
}

Interpreter::Flow Interpreter::execute(const std::vector<Statement>& body, Scope& scope) {
  for (const Statement& s : body)
    if (const Flow flow = execute(s, scope); flow != Flow::next) return flow;
  return Flow::next;
}

Interpreter::Flow Interpreter::dispatch(const Statement& s, Scope& scope) {
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
      return Flow::give_back;
    case Statement::Kind::import:
      import(s, scope);
      break;
    case Statement::Kind::define:
      define(s, scope);
      break;
    case Statement::Kind::declare:
      declare(s, scope);
      break;
    case Statement::Kind::choose:
      return choose(s, scope);
    case Statement::Kind::select:
      return select(s, scope);
    case Statement::Kind::loop_for:
      return loop_for(s, scope);
    case Statement::Kind::loop_while:
      return loop_while(s, scope);
    case Statement::Kind::leave:
      return Flow::leave;
    case Statement::Kind::resume:
      return Flow::resume;
    case Statement::Kind::require:
      require(s, scope);
      break;
    case Statement::Kind::refuse:
      refuse(s, scope);
    case Statement::Kind::with:
      return with(s, 0, scope);
    case Statement::Kind::attempt:
      return attempt(s, scope);
    case Statement::Kind::remove:
      for (const Expr& target : s.targets) remove(target, scope);
      break;
    case Statement::Kind::outer:
      outer(s, scope);
      break;
    case Statement::Kind::produce:
      produce(s, scope);
      break;
    case Statement::Kind::pass:
    case Statement::Kind::arm:
      break;
  }
  return Flow::next;
}

void Interpreter::import(const Statement& s, Scope& scope) {
  const auto member_of = [&](const Namespace& space, std::string_view name) { return member(space, name); };
  try {
    placed(s.place, [&] { scope.variables.insert_or_assign(s.name, find_import(s.module, member_of)); });
  } catch (const PlacedError& e) {
    if (import_handlers_ > 0) throw MissingImport(e.what());
    scope.variables.insert_or_assign(s.name, Value{Missing{session_.text(e.what())}});
  }
}

Value Interpreter::member(const Namespace& space, std::string_view name) {
  const std::string definition = written_name(functions_of(space.name), name);
  if (definition.empty()) return find_member(space, name);
  if (name == "complex128" || name == "cdouble") session_.computed(DType::f64);
  return written(definition);
}

// Returns a definition that is written in the language itself. The first call evaluates all such definitions.
Value Interpreter::written(std::string_view name) {
  static const std::vector<Statement> definitions = parse(written_text(), "torch");
  if (!written_) {
    written_ = session_.make_scope();
    defining_ = true;
    for (const Statement& s : definitions) execute(s, *written_);
    defining_ = false;
    for (const std::string_view type : {"Complex", "complex64"})
      (*written_->variables.find(type)->second.as<Class*>())->is_complex = true;
  }
  return written_->variables.find(name)->second;
}

Closure Interpreter::closure(const Statement& s, Scope& scope) {
  Closure c;
  c.definition = &s;
  c.written = defining_;
  c.outer = &scope == &globals_ ? nullptr : &scope;
  for (const Parameter& p : s.parameters)
    c.defaults.push_back(p.value.kind == Expr::Kind::absent ? Value{Missing{}} : evaluate(p.value, scope));
  return c;
}

// Returns the value to call with the decorated function. Returns nullopt for decorators that have no effect here, and
// for property, cached_property, staticmethod and classmethod, which set the closure's kind.
std::optional<Value> Interpreter::decorator(const Expr& e, Closure& c, Scope& scope) {
  const std::string_view name = e.kind == Expr::Kind::name ? e.text : std::string_view();
  if (name == "property" || name == "staticmethod" || name == "classmethod") {
    c.kind = name == "property"       ? Closure::Kind::property
             : name == "staticmethod" ? Closure::Kind::free
                                      : Closure::Kind::of_class;
    return {};
  }
  Value value = evaluate(e, scope);
  const Builtin* b = value.as<Builtin>();
  const Opaque* opaque = value.as<Opaque>();
  if (opaque && opaque->name == "cached_property") c.kind = Closure::Kind::cached;
  if (value.none() || opaque || (b && is_mode(b->function->name))) return {};
  return value;
}

// Returns the property whose setter a decorator `@name.setter` defines, or null for other decorators.
const Closure* Interpreter::property_of(const Expr& decorator, Scope& scope) {
  if (decorator.kind != Expr::Kind::attribute || decorator.text != "setter") return nullptr;
  const Value value = evaluate(decorator.children[0], scope);
  const Method* m = value.as<Method>();
  return m && m->closure->kind == Closure::Kind::property ? m->closure : nullptr;
}

// Applies the decorators of a function, the last one first.
Value Interpreter::decorated(const Statement& s, Closure c, Scope& scope) {
  if (s.extras.size() == 1)
    if (const Closure* property = property_of(s.extras[0], scope)) {
      Closure whole = *property;
      whole.setter = session_.keep(std::move(c));
      return {Method{session_.keep(std::move(whole)), nullptr}};
    }
  std::vector<std::pair<Place, Value>> callers;
  for (const Expr& e : s.extras)
    if (std::optional<Value> caller = decorator(e, c, scope)) callers.emplace_back(e.place, std::move(*caller));
  Value function{Method{session_.keep(std::move(c)), nullptr}};
  for (auto caller = callers.rbegin(); caller != callers.rend(); ++caller)
    function = placed(caller->first, [&] { return invoke(caller->second, {{function}, {}}); });
  return function;
}

void Interpreter::define(const Statement& s, Scope& scope) {
  scope.variables.insert_or_assign(s.name, decorated(s, closure(s, scope), scope));
}

void Interpreter::add_base(Class& type, const Expr& expr, Scope& scope) {
  const Value base = evaluate(expr, scope);
  const Builtin* b = base.as<Builtin>();
  const Opaque* opaque = base.as<Opaque>();
  if (opaque && opaque->name == "NamedTuple") type.is_record = type.is_tuple = true;
  if (opaque && opaque->name == "Enum") type.is_enum = true;
  if (opaque && opaque->name == "Function") type.is_function = true;
  if (opaque && (opaque->name == "Generic" || opaque->name == "Protocol")) type.is_generic = true;
  if (b && b->function->name == "str") type.is_text = true;
  if (opaque || (b && (b->function->name == "str" || b->function->name == "object"))) return;
  auto* const* c = base.as<Class*>();
  auto* const* m = base.as<const ModuleType*>();
  if (!c && !m && !base.as<ModuleBase>())
    fail(where_, expr.place,
         fmt::format("expected torch.nn.Module or another class as the base, found {}", describe(base)));
  const ModuleType* module = c ? (*c)->module : m ? *m : nullptr;
  if (type.module && module && type.module != module)
    fail(where_, expr.place,
         fmt::format("expected one module of torch.nn among the bases, found {} and {}", type.module->name,
                     module->name));
  if (module) type.module = module;
  const Class* known = c ? *c : nullptr;
  if (known || std::ranges::find(type.bases, nullptr) == type.bases.end()) type.bases.push_back(known);
  type.is_module |= !known || known->is_module;
  if (!known) return;
  type.is_record |= known->is_record;
  type.is_generic |= known->is_generic;
  type.is_enum |= known->is_enum;
  type.is_text |= known->is_text;
  type.is_function |= known->is_function;
}

namespace {

// Returns a class and its bases in Python's order of lookup (C3 linearisation), or nullopt if the bases contradict each
// other.
std::optional<std::vector<const Class*>> line_of(const Class& type) {
  std::vector<std::vector<const Class*>> lists;
  for (const Class* base : type.bases) lists.push_back(base ? base->line : std::vector<const Class*>{nullptr});
  lists.push_back(type.bases);
  std::vector<const Class*> line = {&type};
  for (std::erase_if(lists, [](const auto& list) { return list.empty(); }); !lists.empty();) {
    const auto is_first = [&](const Class* c) {
      return std::ranges::none_of(
          lists, [&](const auto& list) { return std::find(list.begin() + 1, list.end(), c) != list.end(); });
    };
    const auto next = std::ranges::find_if(lists, [&](const auto& list) { return is_first(list[0]); });
    if (next == lists.end()) return std::nullopt;
    const Class* taken = (*next)[0];
    line.push_back(taken);
    for (auto& list : lists)
      if (list[0] == taken) list.erase(list.begin());
    std::erase_if(lists, [](const auto& list) { return list.empty(); });
  }
  return line;
}

}  // namespace

// Makes the members of an enumeration: objects with a name and a value. The value of auto() is one more than the last
// one.
void Interpreter::add_members(Class& type) {
  std::int64_t last = 0;
  for (const Statement& s : type.definition->body) {
    if (s.kind != Statement::Kind::assign || s.targets[0].kind != Expr::Kind::name) continue;
    Value& value = type.attributes.find(s.targets[0].text)->second;
    if (value.as<Opaque>()) value = {last + 1};
    if (const auto number = to_integer(value)) last = *number;
    Object* member = session_.make_object();
    member->type = &type;
    set_attribute(session_, *member, "name", {s.targets[0].text});
    set_attribute(session_, *member, "value", value);
    value = {member};
    type.members.push_back(value);
  }
}

// Evaluates a class. Its body runs in a scope of its own, which the functions inside do not see.
void Interpreter::declare(const Statement& s, Scope& scope) {
  Class* type = session_.keep(Class{});
  type->definition = &s;
  for (const Expr& base : s.targets) add_base(*type, base, scope);
  const auto line = line_of(*type);
  if (!line) fail(where_, s.place, fmt::format("{}: expected bases in an order that suits their own bases", s.name));
  type->line = *line;
  if (type->is_text && !type->is_enum)
    fail(where_, s.targets[0].place, "expected torch.nn.Module or another class as the base, found str without Enum");
  for (const Expr& decorator : s.extras) {
    const Value value = evaluate(decorator, scope);
    const Builtin* b = value.as<Builtin>();
    type->is_record |= b && b->function->name == "dataclass";
  }
  Scope* body = session_.make_scope();
  body->outer = &scope == &globals_ ? nullptr : &scope;
  for (const Statement& inner : s.body) {
    if (inner.kind != Statement::Kind::define) {
      execute(inner, *body);
      type->fields.insert(type->fields.end(), inner.annotated.begin(), inner.annotated.end());
      continue;
    }
    Closure c = closure(inner, *body);
    c.outer = body->outer;
    c.owner = type;
    body->variables.insert_or_assign(inner.name, decorated(inner, std::move(c), *body));
  }
  type->attributes = body->variables;
  if (type->is_enum) add_members(*type);
  scope.variables.insert_or_assign(s.name, Value{type});
}

Graph call_written(std::string_view name, const std::function<Arguments(Session&)>& arguments) {
  return Interpreter("torch", DType::f32, {}, {}).call_written(name, arguments);
}

}  // namespace deplo::ir::torch::python

namespace deplo::ir::torch {

Graph parse_expression(std::string_view text, std::string_view where, DType default_dtype, const Symbols& sizes,
                       const Symbols& arrays) {
  return python::Interpreter(where, default_dtype, sizes, arrays).run(python::parse(text, where));
}

}  // namespace deplo::ir::torch
