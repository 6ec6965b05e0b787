// Python's built-in functions of objects, and PyTorch's functions that have no result.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>

#include "ir/torch/expression/functions/library.h"
#include "ir/torch/expression/sequence.h"
#include "ir/torch/operations/family.h"

namespace deplo::ir::torch::python {
namespace objects {
namespace {

bool is_class(const Value& x) { return x.as<Class*>() || x.as<const ModuleType*>() || x.as<ModuleBase>(); }
bool is_function(const Value& x) {
  auto* const* object = x.as<Object*>();
  const bool has_call = is_module(x) || (object && find_attribute((*object)->type, "__call__"));
  return x.as<Builtin>() || x.as<Method>() || is_class(x) || has_call;
}

bool is_builtin_instance(const Value& value, std::string_view name) {
  const List* list = value.as<List>();
  if (name == "int") return value.as<std::int64_t>() || value.as<bool>();
  if (name == "float") return value.as<double>() != nullptr;
  if (name == "bool") return value.as<bool>() != nullptr;
  if (name == "str") return value.as<std::string_view>() || is_text_member(value);
  if (name == "list") return list && !list->tuple && !list->set;
  if (name == "set" || name == "frozenset") return list && list->set;
  if (name == "tuple" || name == "Size") return list && list->tuple;
  if (name == "dict") return value.as<Dict*>() != nullptr;
  if (name == "defaultdict") return value.as<Dict*>() && (*value.as<Dict*>())->factory;
  if (name == "Tensor") return is_tensor(value) || is_complex(value);
  if (name == "Parameter") return is_parameter(value);
  if (name == "type") return is_class(value);
  return name == "object";
}

// Classes of collections.abc, numbers and typing. There are no instances of other classes without a meaning here.
bool is_abstract_instance(const Value& value, std::string_view name) {
  const bool is_mapping = value.as<Dict*>() != nullptr, is_sequence = value.as<List>() || value.as<std::string_view>();
  if (name == "Callable") return is_function(value);
  if (name == "dtype") return value.as<DType>() != nullptr;
  if (name == "Integral") return to_integer(value).has_value();
  if (name == "Number" || name == "Real") return to_number(value).has_value();
  if (name == "Mapping" || name == "MutableMapping") return is_mapping;
  if (name == "Iterable" || name == "Collection") return is_mapping || is_sequence;
  return name == "Sequence" && is_sequence;
}

bool is_instance(const Value& value, const Value& type) {
  auto* const* object = value.as<Object*>();
  if (const List* several = type.as<List>())
    return std::ranges::any_of(*several->items, [&](const Value& t) { return is_instance(value, t); });
  if (type.as<ModuleBase>()) return is_module(value);
  if (auto* const* c = type.as<Class*>()) return object && derives((*object)->type, *c);
  if (auto* const* m = type.as<const ModuleType*>()) return object && (*object)->module == *m;
  if (const Builtin* b = type.as<Builtin>()) return is_builtin_instance(value, b->function->name);
  if (const Opaque* o = type.as<Opaque>()) return is_abstract_instance(value, o->name);
  throw Error(fmt::format("isinstance: expected a class, found {}", describe(type)));
}

bool is_subclass(const Value& type, const Value& base) {
  if (const List* several = base.as<List>())
    return std::ranges::any_of(*several->items, [&](const Value& b) { return is_subclass(type, b); });
  if (equal(type, base)) return true;
  auto* const* own = type.as<Class*>();
  if (!is_class(type) && !type.as<Builtin>() && !type.as<Opaque>())
    throw Error(fmt::format("issubclass: expected a class, found {}", describe(type)));
  if (base.as<ModuleBase>()) return type.as<const ModuleType*>() || (own && (*own)->is_module);
  if (auto* const* m = base.as<const ModuleType*>()) return own && (*own)->module == *m;
  auto* const* c = base.as<Class*>();
  return own && c && derives(*own, *c);
}
Value subclass(const Call& c) { return {is_subclass(c.value("class"), c.value("base"))}; }

Value instance(const Call& c) { return {is_instance(c.value("object"), c.value("class"))}; }

Value has_attribute(const Call& c) {
  try {
    c.session.attribute(c.value("object"), c.text("name"));
    return {true};
  } catch (const Error&) {
    return {false};
  }
}
Value get_attribute(const Call& c) {
  const bool fallback = !c.value("default").as<Missing>();
  if (!fallback || std::get<bool>(has_attribute(c).is)) return c.session.attribute(c.value("object"), c.text("name"));
  return c.value("default");
}
Value put_attribute(const Call& c) {
  auto* const* object = c.value("object").as<Object*>();
  if (!object) c.fail("object", "a module or another object");
  set_attribute(c.session, **object, c.text("name"), c.value("value"));
  return {};
}

// Returns the decorated class. `@dataclass(frozen=True)` first calls this without a class, which returns the decorator.
Value dataclass(const Call& c) {
  return c.given("cls") ? c.value("cls") : Value{Builtin{find_function(in_library, "dataclass"), nullptr}};
}

// An iterator is a list of the values that are left. Anything else, such as a generator, starts again at each call.
Value iterator(const Call& c) { return c.session.list(items_of(c.session, c.value("object"))); }
Value next(const Call& c) {
  const Values items = items_of(c.session, c.value("iterator"));
  if (items.empty() && c.value("default").as<Missing>()) c.fail("iterator", "at least one value left");
  if (items.empty()) return c.value("default");
  const List* list = c.value("iterator").as<List>();
  if (list && !list->tuple) list->items->erase(list->items->begin());
  return items[0];
}

Value type_of(const Call& c) {
  const Value& object = c.value("object");
  for (const char* name : {"bool", "int", "float", "str", "list", "set", "tuple", "dict"})  // a bool is an int, too
    if (!object.as<Object*>() && is_builtin_instance(object, name))
      return {Builtin{find_function(in_python, name), nullptr}};
  if (is_tensor(object) || is_complex(object)) return {Builtin{find_function(in_torch, "Tensor"), nullptr}};
  return c.session.attribute(object, "__class__");
}
Value is_callable(const Call& c) { return {is_function(c.value("object"))}; }
Value nothing(const Call&) { return {}; }
Value no(const Call&) { return {false}; }
Value autocast(const Call& c) {
  if (c.flag("enabled")) c.fail("enabled", "False (--dtype sets the dtype of all floats)");
  return {};
}
Value device(const Call& c) { return c.value("type"); }
Value object(const Call& c) { return {c.session.make_object()}; }

/// Copies a module, a tensor or a container. The copy of a module has parameters and modules of its own, with the same
/// distributions. What occurs several times is copied once.
class Copies {
 public:
  explicit Copies(Session& session) : session_(session) {}
  Value of(const Value& value, int level = 0) {
    if (level > max_levels) throw Error(fmt::format("deepcopy: expected at most {} levels", max_levels));
    session_.spend();
    if (auto* const* object = value.as<Object*>()) return {of(**object, level)};
    if (auto* const* dict = value.as<Dict*>()) return {of(**dict, level)};
    if (auto* const* leaf = value.as<Leaf*>(); leaf && !(*leaf)->id) return {of(**leaf)};
    if (auto* const* leaf = value.as<Leaf*>(); leaf && !(*leaf)->parameter) return copied(value, *(*leaf)->id);
    if (const Tensor* tensor = value.as<Tensor>(); tensor && !tensor->pair) return copied(value, tensor->id);
    const List* list = value.as<List>();
    if (!list) return value;
    Values items;
    for (const Value& item : *list->items) items.push_back(of(item, level + 1));
    return list->tuple ? make_list(std::move(items)) : session_.list(std::move(items));
  }

 private:
  Object* of(const Object& object, int level) {
    if (const auto found = made_.find(&object); found != made_.end()) return found->second;
    Object* copy = made_[&object] = session_.make_object();
    copy->type = object.type;
    copy->module = object.module;
    copy->buffers = object.buffers;
    for (const auto& [name, value] : object.attributes) set_attribute(session_, *copy, name, of(value, level + 1));
    for (const auto& [name, value] : object.items) {
      copy->items.emplace_back(name, of(value, level + 1));
      session_.give_name(copy->items.back().second, copy, name);
    }
    return copy;
  }
  Leaf* of(const Leaf& leaf) {
    Leaf*& copy = leaves_[&leaf];
    if (!copy) copy = session_.make_leaf(leaf.type, leaf.source.fill, leaf.parameter);
    return copy;
  }
  Value copied(const Value& tensor, Id id) {
    const auto [copy, is_new] = tensors_.try_emplace(id);
    if (is_new) copy->second = session_.copy(session_.tensor(tensor));
    return {Tensor{copy->second, false, is_parameter(tensor)}};
  }
  Dict* of(const Dict& dict, int level) {
    Dict* copy = session_.make_dict();
    for (const auto& [key, value] : dict.items) set_item(*copy, key, of(value, level + 1));
    return copy;
  }
  Session& session_;
  std::map<const Object*, Object*> made_;
  std::map<const Leaf*, Leaf*> leaves_;
  std::map<Id, Id> tensors_;
};

Value deep_copy(const Call& c) { return Copies(c.session).of(c.value("x")); }

// Evaluates slice(stop) and slice(start, stop, step).
Value slice(const Call& c) {
  const auto part = [&](std::string_view name) {
    return c.given(name) ? std::optional(c.integer(name)) : std::nullopt;
  };
  const bool one = c.value("stop").as<Missing>() != nullptr;
  if (one) return {Slice{{}, part("start"), {}}};
  return {Slice{part("start"), part("stop"), part("step")}};
}

// Returns a number with so many digits after the point, as Python rounds it: by all digits that the double has.
double rounded_to(double number, std::int64_t digits) {
  digits = std::clamp<std::int64_t>(digits, -300, 400);
  if (digits >= 0) return std::strtod(fmt::format("{:.{}f}", number, digits).c_str(), nullptr);
  const double unit = std::pow(10.0, static_cast<double>(-digits));
  return std::nearbyint(number / unit) * unit;
}

// Python rounds halves to even, as nearbyint does. Integers remain integers.
Value round(const Call& c) {
  const std::optional<std::int64_t> integer = to_integer(c.value("number"));
  const std::int64_t digits = c.given("ndigits") ? c.integer("ndigits") : 0;
  if (integer && digits >= 0) return {*integer};
  const double d = rounded_to(c.number("number"), digits);
  if (!integer && c.given("ndigits")) return {d};
  if (!(std::abs(d) < 0x1p63)) c.fail("number", "a number that fits in 64 bits");
  return {static_cast<std::int64_t>(d)};
}

Value div_mod(const Call& c) {
  const std::int64_t a = c.integer("a"), b = c.integer("b");
  if (b == 0 || b == -1) c.fail("b", "a divisor other than 0 and -1");
  const std::int64_t quotient = a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
  return make_tuple({quotient, a - b * quotient});
}

// Functions that need the values of tensors. The values must not depend on inputs or parameters.

Value number_of(const Call& c, double value, DType dtype) {
  if (dtype == DType::boolean) return {value != 0};
  if (is_integer(dtype)) return {static_cast<std::int64_t>(value)};
  if (!std::isfinite(value) && std::isnan(value)) c.fail("input", "a number");
  return {value};
}
Value item(const Call& c) {
  const torch::Values values = known_values(c.session, c.value("input"));
  if (values.size() != 1) c.fail("input", "a tensor of one element");
  return number_of(c, values[0], c.type(c.tensor("input")).dtype);
}
Value nested(const Call& c, const torch::Values& values, const TensorType& type, std::size_t dim, std::size_t& at) {
  if (dim == type.shape.size()) return number_of(c, values[at++], type.dtype);
  Values parts;
  for (std::int64_t i = 0; i < type.shape[dim]; ++i) parts.push_back(nested(c, values, type, dim + 1, at));
  return c.session.list(std::move(parts));
}
Value to_list(const Call& c) {
  const torch::Values values = known_values(c.session, c.value("input"));
  std::size_t at = 0;
  return nested(c, values, c.type(c.tensor("input")), 0, at);
}

Value put(const Call& c) {
  c.session.put(c.value("input"), c.value("src"));
  return c.value("input");
}
Value filled(const Call& c, const Value& value) {
  auto* const* leaf = c.value("input").as<Leaf*>();
  const auto number = to_number(value);
  const bool redrawn = leaf && (*leaf)->parameter && number && !std::isnan(*number) &&
                       c.session.redraw(c.value("input"), {Fill::Draw::constant, *number, 0});
  if (!redrawn) c.session.put(c.value("input"), value);
  return c.value("input");
}
Value fill(const Call& c) { return filled(c, c.value("value")); }
Value zero(const Call& c) { return filled(c, Value{std::int64_t{0}}); }

// How a tensor lies in PyTorch's memory

Value stride(const Call& c) {
  const Shape strides = c.session.strides(c.value("input"));
  return c.given("dim") ? Value{strides[c.dim("dim", strides.size())]} : make_tuple(strides);
}
Value storage_offset(const Call& c) { return {c.session.storage_offset(c.value("input"))}; }

// Whether a tensor is contiguous. A tensor whose strides are not known counts as contiguous, because `contiguous()`
// would not change its values.
Value is_contiguous(const Call& c) {
  const Value& input = c.value("input");
  const std::optional<Shape> strides = c.requested_strides(c.session.type_of(input).shape);
  return {strides ? c.session.lies_as(input, *strides).value_or(true) : c.session.may_be_contiguous(input)};
}

// Returns elements by their positions in the memory. It is not known to be a view, so neither the result nor another
// tensor of this memory can be used after a change of the other one.
Value as_strided(const Call& c) {
  const Value& input = c.value("input");
  const Shape size = c.integers("size"), stride = c.integers("stride");
  if (size.size() != stride.size()) c.fail("stride", "a stride for each size");
  const std::int64_t start = c.given("storage_offset") ? c.integer("storage_offset") : c.session.storage_offset(input);
  const Id memory = c.session.memory(input);
  const Id result = pick_strided(caller_of(c), memory, size, stride, start);
  c.session.set_strided(result, stride);
  return {Tensor{result}};
}

// clang-format off
constexpr std::array rows = {
    Function{"isinstance", in_python, "object, class", instance},
    Function{"issubclass", in_python, "class, base", subclass},
    Function{"hasattr", in_python, "object, name", has_attribute},
    Function{"getattr", in_python, "object, name, default=?", get_attribute},
    Function{"setattr", in_python, "object, name, value", put_attribute},
    Function{"type", in_python, "object", type_of},
    Function{"callable", in_python, "object", is_callable},
    Function{"object", in_python, "", object},
    Function{"print", in_python, "*objects, **options", nothing},
    Function{"slice", in_python, "start, stop=?, step=None", slice},
    Function{"round", in_python, "number, ndigits=None", round},
    Function{"divmod", in_python, "a, b", div_mod},
    Function{"deepcopy", in_library, "x", deep_copy},
    Function{"dataclass", in_library, "cls=None, **options", dataclass},
    Function{"iter", in_python, "object", iterator},
    Function{"next", in_python, "iterator, default=?", next},
    Function{"no_grad", in_torch, "", nothing},
    Function{"enable_grad", in_torch, "", nothing},
    Function{"autocast", in_torch | in_amp, "device_type, dtype=None, enabled=True, cache_enabled=None", autocast},
    Function{"inference_mode", in_torch, "mode=True", nothing},
    Function{"set_grad_enabled", in_torch, "mode", nothing},
    Function{"is_available", in_library, "", no},
    Function{"is_initialized", in_library, "", no},
    Function{"is_scripting", in_library, "", no},
    Function{"is_tracing", in_library, "", no},
    Function{"is_compiling", in_library, "", no},
    Function{"is_in_onnx_export", in_library, "", no},
    Function{"device", in_torch, "type, index=None", device},
    Function{"manual_seed", in_torch, "seed", nothing},
    Function{"is_tensor", in_torch, "object", [](const Call& c) -> Value { return {is_tensor(c.value("object"))}; }},
    Function{"stride", as_method, "input, dim=None", stride},
    Function{"storage_offset", as_method, "input", storage_offset},
    Function{"is_contiguous", as_method, "input, memory_format=None", is_contiguous},
    Function{"as_strided", either, "input, size, stride, storage_offset=None", as_strided},
    Function{"item", as_method, "input", item},
    Function{"tolist", as_method, "input", to_list},
    Function{"copy_", as_method, "input, src, non_blocking=False", put},
    Function{"fill_", as_method, "input, value", fill},
    Function{"zero_", as_method, "input", zero},
};
// clang-format on

}  // namespace
}  // namespace objects

std::span<const Function> object_functions() { return objects::rows; }

}  // namespace deplo::ir::torch::python
