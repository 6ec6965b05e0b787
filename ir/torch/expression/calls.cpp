#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/text/nearest.h"
#include "core/text/one_of.h"
#include "ir/torch/expression/functions/library.h"
#include "ir/torch/expression/interpreter.h"
#include "ir/torch/expression/sequence.h"

namespace deplo::ir::torch::python {

Value Interpreter::call(const Expr& e, Scope& scope) {
  const bool to_super = e.children[0].kind == Expr::Kind::name && e.children[0].text == "super";
  const Value function = to_super ? Value{} : evaluate(e.children[0], scope);
  Arguments arguments;
  for (std::size_t i = 1; i < e.children.size(); ++i) {
    const std::string_view keyword = e.keywords[i - 1];
    if (e.children[i].kind == Expr::Kind::star_star)
      add_keywords(e.children[i], arguments, scope);
    else if (keyword.empty())
      append(e.children[i], arguments.positional, scope);
    else
      arguments.keywords.emplace_back(keyword, evaluate(e.children[i], scope));
  }
  return placed(e.place,
                [&] { return to_super ? super(std::move(arguments), scope) : invoke(function, std::move(arguments)); });
}

void Interpreter::add_keywords(const Expr& e, Arguments& arguments, Scope& scope) {
  const Value value = evaluate(e.children[0], scope);
  auto* const* dict = value.as<Dict*>();
  if (!dict) fail(where_, e.place, fmt::format("expected a dict after `**`, found {}", describe(value)));
  for (const auto& [key, item] : (*dict)->items) {
    const auto* name = key.as<std::string_view>();
    if (!name) fail(where_, e.place, fmt::format("expected the name of an argument as a key, found {}", describe(key)));
    arguments.keywords.emplace_back(*name, item);
  }
}

// Evaluates super() in a method, or super(Class, self).
Value Interpreter::super(Arguments arguments, const Scope& scope) const {
  Super result;
  for (const Scope* s = &scope; s && !result.owner; s = s->outer) {
    result.owner = s->owner;
    if (auto* const* o = s->self ? s->self->as<Object*>() : nullptr) result.self = *o;
  }
  if (arguments.positional.size() == 2) {
    auto* const* type = arguments.positional[0].as<Class*>();
    auto* const* self = arguments.positional[1].as<Object*>();
    if (!type || !self) throw Error("super: expected a class and an object of it");
    result = {.owner = *type, .self = *self};
  }
  if (!result.owner || !result.self) throw Error("super: expected to be called in a method of a class");
  return {result};
}

Value Interpreter::invoke(const Value& function, Arguments arguments) {
  session_.spend();
  if (calls_ >= max_calls) throw Error(fmt::format("expected at most {} nested calls", max_calls));
  ++calls_;
  Value result = invoke_any(function, std::move(arguments));
  --calls_;
  return result;
}

Value Interpreter::invoke_any(const Value& function, Arguments arguments) {
  if (const Builtin* b = function.as<Builtin>()) return invoke_builtin(*b, std::move(arguments));
  if (const Method* m = function.as<Method>()) return invoke_function(*m->closure, m->self.get(), std::move(arguments));
  if (auto* const* type = function.as<Class*>()) return construct(**type, std::move(arguments));
  if (auto* const* module = function.as<const ModuleType*>()) return construct(**module, std::move(arguments));
  if (auto* const* object = function.as<Object*>()) return invoke_object(*object, std::move(arguments));
  if (const Opaque* o = function.as<Opaque>(); o && (o->name == "TypeVar" || o->name == "auto")) return function;
  if (const Super* super = function.as<Super>()) {  // super().__init__(…), or forward of an object that has a module
    if (super->is_call) return call_module(super->self, std::move(arguments));
    if (!super->of_module) return {};
    if (super->self->module) return invoke_module(super->self, std::move(arguments));
    if (super->self->type->module) initialise(super->self, *super->self->type->module, std::move(arguments));
    return {};
  }
  throw Error(fmt::format("expected a function, found {}", describe(function)));
}

Value Interpreter::invoke_builtin(const Builtin& b, Arguments arguments) {
  if (b.self) arguments.positional.insert(arguments.positional.begin(), *b.self);
  return run(*b.function, std::move(arguments), b.in_place);
}

namespace {

// Functions whose results never share memory with an argument in PyTorch. Here, some of them are made of views, or
// return the argument itself if there is nothing to do.
// clang-format off
constexpr std::array copying = std::to_array<std::string_view>(
    {"adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d", "adaptive_max_pool2d",
     "adaptive_max_pool3d", "cat", "channel_shuffle", "concat", "diag", "diff", "dstack", "flip", "fliplr", "flipud",
     "hstack", "index_copy", "index_fill", "index_put", "interpolate", "masked_scatter", "pixel_shuffle",
     "pixel_unshuffle", "repeat", "repeat_interleave", "roll", "rot90", "scatter", "select_scatter", "slice_scatter",
     "tile", "upsample", "vstack"});
// clang-format on
// Functions whose results always share memory with the argument, even if a reshape would copy it. An einsum of one
// tensor is one, too, unless it sums.
constexpr std::array viewing = std::to_array<std::string_view>({"diagonal", "unflatten", "view", "view_as"});
// Functions whose results may not be contiguous, or not in the same way as in PyTorch, even if all arguments are.
constexpr std::array arranging = std::to_array<std::string_view>({"einsum", "rot90", "scaled_dot_product_attention"});
// Functions that, with `_`, change how a tensor shows its memory, but not the memory.
constexpr std::array showing =
    std::to_array<std::string_view>({"squeeze", "swapaxes", "swapdims", "t", "transpose", "unsqueeze"});

// Functions of PyTorch whose results keep the order in memory of the dimensions of their arguments.
// clang-format off
constexpr std::array elementwise = std::to_array<std::string_view>(
    {"abs", "absolute", "acos", "add", "addcdiv", "addcmul", "asin", "atan", "atan2", "bfloat16", "bitwise_and",
     "bitwise_not", "bitwise_or", "bitwise_xor", "bool", "byte", "ceil", "celu", "char", "clamp", "clamp_max",
     "clamp_min", "clip", "clone", "cos", "cosh", "div", "divide", "double", "elu", "empty_like", "eq", "erf",
     "erfc", "exp", "exp2", "expm1", "float", "floor", "floor_divide", "fmod", "frac", "full_like", "ge", "gelu",
     "gt", "half", "hardsigmoid", "hardswish", "hardtanh", "int", "isfinite", "isinf", "isnan", "le",
     "leaky_relu", "lerp", "log", "log10", "log1p", "log2", "logaddexp", "logical_and", "logical_not",
     "logical_or", "logical_xor", "logsigmoid", "long", "lt", "maximum", "minimum", "mish", "mul", "multiply",
     "ne", "neg", "negative", "ones_like", "pow", "reciprocal", "relu", "relu6", "remainder", "round", "rsqrt",
     "selu", "short", "sigmoid", "sign", "silu", "sin", "sinh", "softplus", "sqrt", "square", "sub", "subtract",
     "tan", "tanh", "to", "true_divide", "trunc", "type_as", "where", "zeros_like"});
// Functions whose results are contiguous, even if the arguments are not.
constexpr std::array always_contiguous = std::to_array<std::string_view>(
    {"amax", "amin", "bmm", "cumsum", "layer_norm", "linear", "log_softmax", "logsumexp", "masked_fill", "matmul",
     "mean", "mm", "prod", "softmax", "std", "sum", "var"});
// clang-format on

bool views(const Call& call) {
  if (is_one_of(call.name, viewing)) return true;
  return call.name == "einsum" && !is_tensor(call.value("equation")) && call.tensors("operands").size() == 1;
}

bool copies(const Function& f, const Call& call) {
  const bool* asked = call.has("copy") ? call.value("copy").as<bool>() : nullptr;  // of `to`
  if (asked && *asked) return true;
  if (f.name == "unfold") return f.spaces != as_method;
  return f.spaces != in_einops && is_one_of(f.name, copying);  // repeat of einops expands
}

// Whether a tensor, or each tensor of a list, is contiguous. Nested lists count as tensors that are not.
bool is_plain(Session& session, const Value& value) {
  const auto plain = [&](const Value& v) { return !v.as<List>() && (!is_tensor(v) || session.is_contiguous(v)); };
  const List* list = value.as<List>();
  return list ? std::ranges::all_of(*list->items, plain) : plain(value);
}

// Whether the result of a function is contiguous in PyTorch if it does not share memory with an argument.
bool gives_contiguous(const Function& f, const Call& call) {
  constexpr unsigned of_tensors = either | in_functional | in_linalg | of_modules_only;
  if ((f.spaces & of_tensors) == 0 || is_one_of(f.name, arranging)) return false;
  return std::ranges::all_of(call.all(), [&](const auto& given) { return is_plain(call.session, given.second); });
}

// Records how the result of a function lies in memory in PyTorch, as far as that is known.
void set_strides(const Function& f, const Call& call, Id result) {
  constexpr unsigned of_tensors = either | in_functional;
  const bool is_torch = (f.spaces & of_tensors) != 0;
  if (gives_contiguous(f, call) || (is_torch && is_one_of(f.name, always_contiguous)))
    call.session.set_contiguous(result);
  if (!is_torch || !is_one_of(f.name, elementwise)) return;
  std::vector<Id> tensors;
  for (const auto& [name, value] : call.all())
    if (is_tensor(value)) tensors.push_back(call.session.tensor(value));
  call.session.set_elementwise(result, tensors);
}

// Whether a value has complex numbers, or is their type, or is a list that holds one of them.
bool holds_complex(const Value& value, int levels) {
  if (is_complex(value)) return true;
  if (auto* const* type = value.as<Class*>()) return (*type)->is_complex;
  const List* list = value.as<List>();
  return list && levels > 0 &&
         std::ranges::any_of(*list->items, [&](const Value& item) { return holds_complex(item, levels - 1); });
}

// Whether a function of tensors is called with complex numbers, or with their type.
bool is_on_complex(const Function& f, const Arguments& arguments) {
  constexpr unsigned of_tensors = either | in_functional | in_linalg | in_nn | of_modules_only | in_einops;
  if ((f.spaces & of_tensors) == 0 && f.name != "abs") return false;
  const auto is_one = [](const Value& value) { return holds_complex(value, max_dimensions); };
  return std::ranges::any_of(arguments.positional, is_one) ||
         std::ranges::any_of(arguments.keywords, is_one, &std::pair<std::string_view, Value>::second);
}

// Removes the argument `out` of a function of torch. Returns its value, or nullopt if there is none.
std::optional<Value> take_out(const Function& f, Arguments& arguments) {
  const auto out = std::ranges::find(arguments.keywords, "out", &std::pair<std::string_view, Value>::first);
  if (out == arguments.keywords.end() || (f.spaces & (in_torch | in_linalg)) == 0 || Call::takes(f.signature, "out"))
    return std::nullopt;
  Value value = std::move(out->second);
  arguments.keywords.erase(out);
  return value.none() ? std::nullopt : std::optional(std::move(value));
}

}  // namespace

// Writes the result of a function to its argument `out`.
Value Interpreter::written_to(const Value& out, const Value& result, Id first_new) {
  if (!is_tensor(out) || !is_tensor(result))
    throw Error(fmt::format("expected a tensor as out, and one tensor as the result, found {}", describe(out)));
  const Id written = session_.tensor(result);
  const TensorType type = session_.type_of(out);
  if (type.shape != session_.type(written).shape)
    throw Error(fmt::format("expected a tensor of the result's shape {} as out, found {}",
                            print(session_.type(written).shape), print(type)));
  session_.assign(out, written, first_new);
  return out;
}

// Calls a function as functions/written_complex.cpp defines it for complex numbers.
Value Interpreter::run_on_complex(const Function& function, const Arguments& arguments, bool in_place) {
  Dict* options = session_.make_dict();
  for (const auto& [name, value] : arguments.keywords) set_item(*options, {name}, value);
  const Value builtin = {Builtin{&function, nullptr}};
  Value result =
      invoke(written("of_complex"), {{{function.name}, builtin, session_.list(arguments.positional), {options}}, {}});
  if (result.as<Opaque>())
    throw Error(
        fmt::format("{}: expected real numbers, found complex ones; docs/expressions.md lists the functions that "
                    "take them",
                    function.name));
  if (!in_place) return result;
  if (arguments.positional.empty())
    throw Error(fmt::format("{}: expected a complex tensor to change in place as the first argument", function.name));
  return invoke(attribute_of(arguments.positional[0], "copy_"), {{result}, {}});
}

// Calls a built-in function. With `in_place`, or if the call has `inplace=True`, the result replaces the first
// argument.
Value Interpreter::run(const Function& function, Arguments arguments, bool in_place) {
  if (is_on_complex(function, arguments)) return run_on_complex(function, arguments, in_place);
  const Id first_new = session_.size();
  const std::optional<Value> out = take_out(function, arguments);
  const Call call(session_, function, std::move(arguments));
  Value result = call.result_of(function);
  if (views(call)) session_.share(first_new);
  if (copies(function, call) && is_tensor(result)) result = {session_.own(session_.tensor(result), first_new)};
  if (function.name == "ravel") result = {session_.contiguous(session_.tensor(result))};  // a reshape may share more
  if (const Tensor* t = result.as<Tensor>(); t && t->id >= first_new) set_strides(function, call, t->id);
  if (is_tensor(result))
    if (const std::optional<Shape> strides = call.requested_strides(session_.type_of(result).shape))
      result = {session_.laid_out(session_.tensor(result), *strides)};
  if (out) return written_to(*out, result, first_new);
  const bool* asked = call.has("inplace") ? call.value("inplace").as<bool>() : nullptr;
  if (!in_place && !(asked && *asked)) return result;
  const Value& target = call.all()[0].second;
  if (!is_tensor(target) || !is_tensor(result))
    throw Error(fmt::format("{}: expected a tensor to change in place, found {}", call.name, describe(target)));
  if (is_one_of(function.name, showing))
    session_.show(target, session_.tensor(result));
  else
    session_.assign(target, session_.tensor(result), first_new);
  return target;
}

Scope* Interpreter::bind(const Closure& closure, Arguments arguments) {
  const Statement& def = *closure.definition;
  const std::vector<Parameter>& parameters = def.parameters;
  const auto misfit = [&](std::string_view expected, std::string_view found) {
    std::string names;
    for (const Parameter& p : parameters) names += fmt::format("{}{}", names.empty() ? "" : ", ", p.name);
    throw Error(
        fmt::format("{}: expected {}, found {}; the signature is {}({})", def.name, expected, found, def.name, names));
  };
  Scope* scope = session_.make_scope();
  scope->outer = closure.outer;
  auto& variables = scope->variables;
  Values& given = arguments.positional;
  std::size_t next = 0;
  for (const Parameter& p : parameters) {
    if (p.kind == Parameter::Kind::plain && next < given.size()) variables.emplace(p.name, given[next++]);
    if (p.kind != Parameter::Kind::rest) continue;
    variables.emplace(p.name, make_list(Values(given.begin() + static_cast<std::ptrdiff_t>(next), given.end())));
    next = given.size();
  }
  if (next < given.size()) misfit(fmt::format("at most {} arguments", next), std::to_string(given.size()));
  const auto rest = std::ranges::find(parameters, Parameter::Kind::keywords, &Parameter::kind);
  Dict* others = rest == parameters.end() ? nullptr : session_.make_dict();
  if (others) variables.emplace(rest->name, Value{others});
  for (auto& [keyword, value] : arguments.keywords) {
    const auto p = std::ranges::find(parameters, keyword, &Parameter::name);
    const bool named =
        p != parameters.end() && p->kind != Parameter::Kind::rest && p->kind != Parameter::Kind::keywords;
    if (!named && !others) misfit("one of its arguments", fmt::format("{}=", keyword));
    if (!named)
      set_item(*others, {keyword}, std::move(value));
    else if (!variables.emplace(keyword, std::move(value)).second)
      misfit(fmt::format("{} once", keyword), "it twice");
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (variables.contains(parameters[i].name)) continue;
    if (closure.defaults[i].as<Missing>()) misfit(fmt::format("a value for {}", parameters[i].name), "none");
    variables.emplace(parameters[i].name, closure.defaults[i]);
  }
  return scope;
}

namespace {

/// Gives a variable back the value that it has now.
template <class T>
class Restored {
 public:
  explicit Restored(T& variable) : variable_(variable), before_(variable) {}
  ~Restored() { variable_ = before_; }
  Restored(const Restored&) = delete;
  Restored& operator=(const Restored&) = delete;

 private:
  T& variable_;
  T before_;
};

// Whether floats that a definition of PyTorch returns have the default type, because no argument gives their type.
bool has_default_type(const Session& session, const Closure& closure, const Arguments& arguments) {
  const std::string_view name = closure.definition->name;
  if (session.default_dtype == DType::f32 || name == "type") return false;
  if (written_name(either | in_functional | in_special, name).empty()) return false;
  const auto gives_type = [&](const Value& value) { return session.gives_float_type(value); };
  return std::ranges::none_of(arguments.positional, gives_type) &&
         std::ranges::none_of(arguments.keywords, gives_type, &std::pair<std::string_view, Value>::second);
}

}  // namespace

Value Interpreter::invoke_function(const Closure& closure, const Value* self, Arguments arguments) {
  if (self) arguments.positional.insert(arguments.positional.begin(), *self);
  const bool gives_default = closure.written && !session_.in_written && has_default_type(session_, closure, arguments);
  const Id first_new = session_.size();
  const Restored<bool> restored(session_.in_written);
  Scope* scope = bind(closure, std::move(arguments));
  session_.in_written = closure.written;
  const Value result = run_body(closure, *scope);
  return gives_default ? session_.in_default_type(result, first_new) : result;
}

Value Interpreter::run_body(const Closure& closure, Scope& scope) {
  scope.owner = closure.owner;
  if (closure.owner && !closure.definition->parameters.empty())
    if (const auto first = scope.variables.find(closure.definition->parameters[0].name); first != scope.variables.end())
      scope.self = &session_.keep_value(first->second);
  if (closure.definition->produces) return run_generator(closure, scope);
  if (closure.written) return invoke_written(closure, scope);
  if (execute(closure.definition->body, scope) != Flow::give_back) return {};
  return std::exchange(returned_, {});
}

// Calls a function with `yield`. It runs to its end, and returns the list of its values. In a `with`, a receiver takes
// its value instead.
Value Interpreter::run_generator(const Closure& closure, Scope& scope) {
  const Receiver receiver = std::exchange(receiver_, nullptr);
  Values items;
  scope.receive = receiver ? receiver : [&](const Value& item) { items.push_back(item); };
  execute(closure.definition->body, scope);
  returned_ = {};
  return receiver ? Value{} : session_.list(std::move(items));
}

// Calls a function that is written in the language itself. An Error inside it gets the place of the call. Its `assert`
// says what is expected of the arguments.
Value Interpreter::invoke_written(const Closure& closure, Scope& scope) {
  try {
    if (execute(closure.definition->body, scope) != Flow::give_back) return {};
    return std::exchange(returned_, {});
  } catch (const PlacedError& e) {
    std::string_view message = e.what();
    const std::size_t colon = message.find(": ");
    if (colon != std::string_view::npos) message.remove_prefix(colon + 2);
    constexpr std::string_view of_assert = "expected the condition of `assert` to hold: ";
    const bool asserted = message.starts_with(of_assert);
    throw Error(asserted ? fmt::format("expected {}", message.substr(of_assert.size())) : std::string(message));
  }
}

// Returns the member of an enumeration with a value, as in `Mode("fast")`.
Value Interpreter::member_of(const Class& type, const Arguments& arguments) {
  if (arguments.positional.size() != 1)
    throw Error(fmt::format("{}: expected the value of a member", type.definition->name));
  const Value& given = arguments.positional[0];
  for (const auto& [name, member] : type.attributes) {
    auto* const* o = member.as<Object*>();
    if (!o || (*o)->type != &type) continue;
    if (equal(member, given) || equal((*o)->attributes.find("value")->second, given)) return member;
  }
  throw Error(fmt::format("{}: expected the value of a member, found {}", type.definition->name, describe(given)));
}

Value Interpreter::construct(Class& type, Arguments arguments) {
  if (type.is_enum) return member_of(type, arguments);
  for (const std::string_view method : {"__new__", "__setattr__", "__getattribute__"})
    if (find_attribute(&type, method))
      throw Error(fmt::format("{}: expected a class without {}, found one", type.definition->name, method));
  Object* object = session_.make_object();
  object->type = &type;
  const Value* init = find_attribute(&type, "__init__");
  if (!init && type.is_record) return construct_record(type, std::move(arguments));
  if (init)
    invoke(bound(*init, {object}), std::move(arguments));
  else if (type.module)
    initialise(object, *type.module, std::move(arguments));
  else if (!arguments.positional.empty() || !arguments.keywords.empty())
    throw Error(fmt::format("{}: expected no arguments (it has no __init__), found some", type.definition->name));
  return {object};
}

// Returns the default of a field. With `field(default_factory=…)`, each object gets a new value.
Value Interpreter::default_of(const Class& type, std::string_view field) {
  const Value* found = find_attribute(&type, field);
  if (!found) throw Error(fmt::format("{}: expected a value for {}, found none", type.definition->name, field));
  auto* const* o = found->as<Object*>();
  if (!o || !(*o)->type || (*o)->type->definition->name != "field") return *found;
  const Value factory = attribute_of(*found, "default_factory");
  return factory.none() ? attribute_of(*found, "default") : invoke(factory, {});
}

std::vector<std::string_view> fields_of(const Class& type) {
  std::vector<std::string_view> fields;
  for (const Class* c : type.line) {
    if (!c) continue;
    const auto is_known = [&](std::string_view f) { return std::ranges::find(fields, f) != fields.end(); };
    std::vector<std::string_view> own = c->fields;
    std::erase_if(fields, [&](std::string_view f) { return std::ranges::find(own, f) != own.end(); });
    std::erase_if(own, is_known);
    fields.insert(fields.begin(), own.begin(), own.end());
  }
  return fields;
}

// Constructs an object of a dataclass, or of a class derived from NamedTuple. The arguments are the fields; the fields
// of base classes come first.
Value Interpreter::construct_record(Class& type, Arguments arguments) {
  std::vector<std::string_view> fields = fields_of(type);
  const std::string_view name = type.definition->name;
  if (arguments.positional.size() > fields.size())
    throw Error(
        fmt::format("{}: expected at most {} arguments, found {}", name, fields.size(), arguments.positional.size()));
  for (const auto& [keyword, value] : arguments.keywords)
    if (std::ranges::find(fields, keyword) == fields.end())
      throw Error(fmt::format("{}: expected one of its fields, found {}={}", name, keyword,
                              did_you_mean(keyword, {fields.begin(), fields.end()})));
  Values values;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const auto at = std::ranges::find(arguments.keywords, fields[i], [](const auto& k) { return k.first; });
    values.push_back(i < arguments.positional.size()  ? arguments.positional[i]
                     : at != arguments.keywords.end() ? at->second
                                                      : default_of(type, fields[i]));
  }
  if (type.is_tuple) return make_named(std::move(values), std::move(fields));
  Object* object = session_.make_object();
  object->type = &type;
  for (std::size_t i = 0; i < fields.size(); ++i) set_attribute(session_, *object, fields[i], values[i]);
  if (const Value* after = find_attribute(&type, "__post_init__")) invoke(bound(*after, {object}), {});
  return {object};
}

Value Interpreter::construct(const ModuleType& type, Arguments arguments) {
  Object* object = session_.make_object();
  initialise(object, type, std::move(arguments));
  return {object};
}

void Interpreter::initialise(Object* object, const ModuleType& type, Arguments arguments) {
  const Call call(session_, type.name, type.signature, std::move(arguments));
  object->module = &type;
  for (const auto& [parameter, value] : call.all()) object->attributes.insert_or_assign(std::string(parameter), value);
  if (type.build) type.build(call, *object);
}

Value Interpreter::invoke_object(Object* object, Arguments arguments) {
  for (const Value& argument : arguments.positional)  // make inputs in the order of the arguments
    if (auto* const* leaf = argument.as<Leaf*>(); leaf && !(*leaf)->parameter) session_.tensor(argument);
  if (const Value* method = find_attribute(object->type, "__call__"))
    return invoke(bound(*method, {object}), std::move(arguments));
  if (is_module({object})) return call_module(object, std::move(arguments));
  throw Error(fmt::format("expected a method __call__(self, …) of a called object, found {}", describe({object})));
}

// Calls `forward` and the hooks of a module, as __call__ of nn.Module does.
Value Interpreter::call_module(Object* object, Arguments arguments) {
  const Value* method = find_attribute(object->type, "forward");
  if (!method && !object->module)
    throw Error(fmt::format("{}: expected a method forward(self, …), found none", object->type->definition->name));
  run_hooks(*object, arguments);
  const Values inputs = arguments.positional;
  Value result =
      method ? invoke(bound(*method, {object}), std::move(arguments)) : invoke_module(object, std::move(arguments));
  return run_hooks_after(*object, inputs, std::move(result));
}

// Calls the hooks of register_forward_pre_hook(hook). hook(module, inputs) may return other inputs.
void Interpreter::run_hooks(Object& object, Arguments& arguments) {
  const auto hooks = object.attributes.find(hooks_attribute);
  if (hooks == object.attributes.end()) return;
  const Values all = *hooks->second.as<List>()->items;
  for (const Value& hook : all) {
    const Value inputs = invoke(hook, {{Value{&object}, make_list(arguments.positional)}, {}});
    if (const List* several = inputs.as<List>())
      arguments.positional = *several->items;
    else if (!inputs.none())
      arguments.positional = {inputs};
  }
}

// Calls the hooks of register_forward_hook(hook). hook(module, inputs, result) may return another result.
Value Interpreter::run_hooks_after(Object& object, const Values& inputs, Value result) {
  const auto hooks = object.attributes.find(hooks_after_attribute);
  if (hooks == object.attributes.end()) return result;
  const Values all = *hooks->second.as<List>()->items;
  for (const Value& hook : all) {
    Value other = invoke(hook, {{Value{&object}, make_list(inputs), result}, {}});
    if (!other.none()) result = std::move(other);
  }
  return result;
}

Value Interpreter::invoke_module(Object* object, Arguments arguments) {
  const ModuleType& type = *object->module;
  if (holds_others(*object)) {
    if (type.name != "Sequential")
      throw Error(fmt::format("{}: expected a call of one of its modules, found a call of the {}", type.name,
                              type.name == "ModuleList" ? "list" : "whole"));
    if (arguments.positional.size() != 1 || !arguments.keywords.empty())
      throw Error(fmt::format("{}: expected one argument, the input, found {}", type.name,
                              arguments.positional.size() + arguments.keywords.size()));
    Value x = arguments.positional[0];
    for (const Value& item : items_of(session_, {object})) x = invoke(item, {{x}, {}});
    return x;
  }
  const Function* function = find_function(in_functional, type.function);
  if (!function) function = find_function(in_torch | of_modules_only, type.function);
  CHECK(function);
  if (arguments.positional.empty() && arguments.keywords.empty())
    throw Error(fmt::format("{}: expected one argument, the input, found 0", type.name));
  for (const auto& [name, value] : object->attributes) {
    const bool given = std::ranges::any_of(arguments.keywords, [&of = name](const auto& k) { return k.first == of; });
    if (!given && Call::takes(function->signature, name)) arguments.keywords.emplace_back(name, value);
  }
  return run(*function, std::move(arguments), false);
}

}  // namespace deplo::ir::torch::python
