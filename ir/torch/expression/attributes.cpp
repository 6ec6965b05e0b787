#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/text/nearest.h"
#include "core/text/one_of.h"
#include "ir/torch/expression/functions/library.h"
#include "ir/torch/expression/interpreter.h"
#include "ir/torch/operations/family.h"

namespace deplo::ir::torch::python {

namespace {

// The constructor of nn.Module has no effect here.
constexpr Function module_constructor = {"__init__", of_module, "self", [](const Call&) { return Value{}; }};

// nn.Linear.__init__(self, …) and nn.Linear.forward(self, …) in a class that is derived from nn.Linear.
Value call_base(const Call& c) {
  auto* const* object = c.value("self").as<Object*>();
  if (!object || !(*object)->type || (*object)->type->module != *c.value("type").as<const ModuleType*>())
    c.fail("self", "an object of a class that is derived from this module");
  Arguments arguments = {*c.value("args").as<List>()->items, {}};
  for (const auto& [name, value] : (*c.value("options").as<Dict*>())->items)
    arguments.keywords.emplace_back(*name.as<std::string_view>(), value);
  return c.session.invoke({Super{(*object)->type, *object, true}}, std::move(arguments));
}
constexpr Function base_call = {"__init__", of_module, "type, self, *args, **options", call_base};

// Returns the space of the methods of a list, a set, a dict or a string, or 0 for other values.
unsigned methods_of(const Value& object) {
  if (const List* list = object.as<List>()) return list->set ? of_set : of_list;
  if (object.as<Dict*>()) return of_dict;
  return object.as<std::string_view>() ? unsigned{of_text} : 0U;
}

// Returns a method that torch.nn defines for a module; null if it has none.
const Function* method_of(const Object& module, std::string_view name) {
  return find_function(of_module | (holds_others(module) ? unsigned{of_holder} : 0U), name);
}

// Attributes of tensors that are never true here.
constexpr std::array never =
    std::to_array<std::string_view>({"is_cuda", "is_meta", "is_mps", "is_quantized", "is_sparse", "is_xpu"});

Value dtype_attribute(DType dtype, std::string_view name) {
  if (name == "itemsize") return {bytes(dtype)};
  if (name == "is_floating_point") return {is_float(dtype)};
  if (name == "is_complex") return {false};
  if (name == "is_signed") return {dtype != DType::u8 && dtype != DType::boolean};
  throw Error(
      fmt::format("expected itemsize, is_floating_point, is_complex or is_signed of a dtype, found `{}`", name));
}

}  // namespace

Value Interpreter::attribute_of(const Value& object, std::string_view name) {
  if (const Namespace* space = object.as<Namespace>()) return member(*space, name);
  if (is_tensor(object)) return tensor_attribute(object, name);
  if (is_complex(object)) return complex_attribute(object, name);
  if (auto* const* o = object.as<Object*>()) return object_attribute(*o, name);
  if (auto* const* type = object.as<Class*>()) return class_attribute(**type, object, name);
  if (const Super* super = object.as<Super>()) return super_attribute(*super, name);
  if (object.as<ModuleBase>() && name == "__init__") return {Builtin{&module_constructor, nullptr}};
  const bool is_module_type = object.as<ModuleBase>() || object.as<const ModuleType*>();
  if (const Function* f = is_module_type ? find_function(of_module, name) : nullptr) return {Builtin{f, nullptr}};
  if (object.as<Opaque>()) return {Opaque{name}};
  if (auto* const* module = object.as<const ModuleType*>(); module && name == "__name__") return {(*module)->name};
  if (object.as<const ModuleType*>() && (name == "__init__" || name == "forward"))
    return {Builtin{&base_call, std::make_shared<const Value>(object)}};
  if (const DType* dtype = object.as<DType>()) return dtype_attribute(*dtype, name);
  // A device is a string such as 'cuda:0'.
  if (const auto* device = object.as<std::string_view>(); device && name == "type")
    return {device->substr(0, device->find(':'))};
  if (const List* list = object.as<List>(); list && list->names)
    if (const auto at = std::ranges::find(*list->names, name); at != list->names->end())
      return (*list->items)[static_cast<std::size_t>(at - list->names->begin())];
  if (to_number(object) && name == "is_integer") return bound(written("is_integer"), object);
  if (const Builtin* b = object.as<Builtin>(); b && b->function->name == "chain" && name == "from_iterable")
    return written("chain_from_iterable");
  const unsigned methods = methods_of(object);
  if (const Function* f = find_function(methods, name)) return {Builtin{f, std::make_shared<const Value>(object)}};
  if (const std::string method = written_name(methods, name); !method.empty()) return bound(written(method), object);
  if (methods != 0) {
    std::vector<std::string> known = function_names(methods);
    std::ranges::move(written_names(methods), std::back_inserter(known));
    if (const List* list = object.as<List>(); list && list->names)
      known.insert(known.end(), list->names->begin(), list->names->end());
    throw Error(fmt::format("expected a method of {} (docs/expressions.md), found `{}`{}", describe(object), name,
                            did_you_mean(name, known)));
  }
  throw Error(fmt::format("expected a tensor or a module before `.{}`, found {}", name, describe(object)));
}

// Returns a method of a tensor or of a complex tensor; nullopt if there is none of this name.
std::optional<Value> Interpreter::tensor_method(const Value& tensor, std::string_view name) {
  const auto self = [&] { return std::make_shared<const Value>(tensor); };
  if (const Function* f = find_function(as_method, name)) return Value{Builtin{f, self()}};
  if (const Function* f = find_in_place(as_method, name)) return Value{Builtin{f, self(), true}};
  if (const std::string method = written_name(as_method, name); !method.empty()) return bound(written(method), tensor);
  return std::nullopt;
}

// Returns an attribute of complex numbers: one of the class Complex, or a method of tensors.
Value Interpreter::complex_attribute(const Value& tensor, std::string_view name) {
  Object* object = *tensor.as<Object*>();
  if (object->attributes.find(name) != object->attributes.end() || find_attribute(object->type, name))
    return object_attribute(object, name);
  if (std::optional<Value> method = tensor_method(tensor, name)) return *method;
  std::vector<std::string> known = function_names(as_method);
  for (const auto& [attribute, value] : object->type->attributes) known.emplace_back(attribute);
  throw Error(fmt::format("expected an attribute or a method of a complex tensor (docs/expressions.md), found `{}`{}",
                          name, did_you_mean(name, known)));
}

Value Interpreter::tensor_attribute(const Value& tensor, std::string_view name) {
  if (std::optional<Value> method = tensor_method(tensor, name)) return *method;
  const TensorType type = session_.type_of(tensor);
  const auto rank = static_cast<std::int64_t>(type.shape.size());
  if (name == "shape") return make_tuple(type.shape);
  if (name == "dtype") return {type.dtype};
  if (name == "ndim") return {rank};
  if (name == "device") return {std::string_view("cpu")};
  if (is_one_of(name, never)) return {false};
  if (name == "requires_grad") return {is_parameter(tensor)};
  if (name == "is_leaf") return {true};
  if (name == "grad") return {};
  if (name == "layout") return {Opaque{"strided"}};
  if (name == "itemsize") return {bytes(type.dtype)};
  if (name == "nbytes") return {bytes(type.dtype) * element_count(type.shape)};
  if (name == "data" || name == "real") return tensor;
  const Id id = session_.tensor(tensor);
  const Tensor* pair = tensor.as<Tensor>();
  if (pair && pair->pair && name == "values") return {Tensor{id}};
  if (pair && pair->pair && name == "indices")
    return {Tensor{extreme_index(caller_of(session_, name), session_.node(pair->id))}};
  if (name == "mT" && rank < 2)
    throw Error(fmt::format("expected at least two dimensions for mT, found {}", print(type)));
  if (name == "mT" || ((name == "T" || name == "H") && rank == 2))
    return {Tensor{session_.call("transpose", {id}, {{"dim0", rank - 2}, {"dim1", rank - 1}})}};
  if (name == "T") {
    Shape reversed;
    for (std::int64_t d = rank; d-- > 0;) reversed.push_back(d);
    return {Tensor{rank < 2 ? id : session_.call("permute", {id}, {{"dims", reversed}})}};
  }
  std::vector<std::string> known = function_names(as_method);
  std::ranges::move(written_names(as_method), std::back_inserter(known));
  for (const char* plain : {"shape", "dtype", "ndim", "T", "mT"}) known.emplace_back(plain);
  throw Error(fmt::format("expected an attribute or a method of a tensor (docs/expressions.md), found `{}`{}", name,
                          did_you_mean(name, known)));
}

Value Interpreter::bound(const Value& found, const Value& self) {
  const Method* m = found.as<Method>();
  if (!m || m->self || m->closure->kind == Closure::Kind::free) return found;
  if (m->closure->kind == Closure::Kind::property || m->closure->kind == Closure::Kind::cached)
    return invoke(Value{Method{m->closure, std::make_shared<const Value>(self)}}, {});
  auto* const* o = self.as<Object*>();
  const bool of_class = m->closure->kind == Closure::Kind::of_class && o;
  const Value first = of_class ? Value{const_cast<Class*>((*o)->type)} : self;
  return {Method{m->closure, std::make_shared<const Value>(first)}};
}

Value Interpreter::class_attribute(const Class& type, const Value& self, std::string_view name) {
  if (name == "__name__") return {type.definition->name};
  const Value* found = find_attribute(&type, name);
  if (!found && name == "apply" && type.is_function) return bound(written("apply_function"), self);
  if (!found) {
    std::vector<std::string> known;
    for (const auto& [attribute, value] : type.attributes) known.emplace_back(attribute);
    throw Error(
        fmt::format("expected an attribute of {}, found `{}`{}", describe(self), name, did_you_mean(name, known)));
  }
  const Method* m = found->as<Method>();
  return m && m->closure->kind == Closure::Kind::of_class ? bound(*found, self) : *found;
}

// Returns an attribute of a class after the method's class, in the order of lookup of the object's class: a method that
// the text defines, or one of nn.Module or of a module of torch.nn.
Value Interpreter::super_attribute(const Super& super, std::string_view name) {
  if (!derives(super.self->type, super.owner)) throw Error("super: expected an object of the class");
  const std::vector<const Class*>& line = super.self->type->line;
  for (auto c = std::ranges::find(line, super.owner) + 1; c != line.end(); ++c) {
    if (*c) {
      const auto found = (*c)->attributes.find(name);
      if (found != (*c)->attributes.end()) return bound(found->second, {super.self});
    } else {
      if (name == "__init__" || (name == "forward" && super.self->module))
        return {Super{.owner = super.owner, .self = super.self, .of_module = true}};
      if (name == "__call__") return {Super{.owner = super.owner, .self = super.self, .is_call = true}};
      if (const Function* f = method_of(*super.self, name))
        return {Builtin{f, std::make_shared<const Value>(Value{super.self})}};
    }
  }
  if (name == "__init__") return {super};
  throw Error(fmt::format("expected a method of the base class, found `{}`", name));
}

Value Interpreter::object_attribute(Object* object, std::string_view name) {
  if (const auto a = object->attributes.find(name); a != object->attributes.end()) return a->second;
  if (name == "training" && is_module({object})) return {false};
  if (const Value* found = find_attribute(object->type, name)) {
    Value result = bound(*found, {object});
    const Method* method = found->as<Method>();
    if (method && method->closure->kind == Closure::Kind::cached)
      object->attributes.insert_or_assign(std::string(name), result);
    return result;
  }
  for (const auto& [item, value] : object->items)
    if (item == name) return value;
  if (name == "__class__") return object->type ? Value{const_cast<Class*>(object->type)} : Value{object->module};
  if (name == "__dataclass_fields__" && object->type && object->type->is_record) {
    Values fields;
    for (const std::string_view field : fields_of(*object->type)) fields.push_back({field});
    return make_list(std::move(fields));
  }
  const bool of_torch = is_module({object});
  if (of_torch && name == "__call__") return {object};
  if (const Function* f = of_torch ? method_of(*object, name) : nullptr)
    return {Builtin{f, std::make_shared<const Value>(Value{object})}};
  std::vector<std::string> known = function_names(of_module);
  for (const auto& [attribute, value] : object->attributes)
    if (known.size() < 1000) known.push_back(attribute);
  throw Error(fmt::format("expected an attribute of {}, found `{}`{}", describe(Value{object}), name,
                          did_you_mean(name, known)));
}

}  // namespace deplo::ir::torch::python
