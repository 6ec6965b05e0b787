// Methods of all modules, and of modules that hold other modules.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "ir/torch/expression/functions/library.h"
#include "ir/torch/expression/operators.h"
#include "ir/torch/expression/sequence.h"

namespace deplo::ir::torch::python {
namespace containers {
namespace {

Object& self(const Call& c) {
  auto* const* object = c.value("self").as<Object*>();
  CHECK(object);
  return **object;
}

Object& holder(const Call& c) {
  if (!holds_others(self(c))) c.fail("self", "a module that holds others");
  return self(c);
}

Value append(const Call& c) {
  Object& object = holder(c);
  add_module(c.session, object, std::to_string(object.items.size()), c.value("module"));
  return c.value("self");
}
Value extend(const Call& c) {
  append_modules(c.session, holder(c), c.value("modules"));
  return c.value("self");
}
// Inserts a module. The modules after it move up by one.
Value insert(const Call& c) {
  Object& object = holder(c);
  if (holds_parameters(object)) c.fail("self", "a module that holds modules");
  const std::int64_t at = c.integer("index"), count = static_cast<std::int64_t>(object.items.size());
  if (at < 0 || at > count) c.fail("index", fmt::format("0 to {}", count));
  if (!c.value("module").as<Object*>()) c.fail("module", "a module");
  c.session.give_name(c.value("module"), &object, std::to_string(at));
  object.items.emplace(object.items.begin() + at, std::to_string(at), c.value("module"));
  renumber(object);
  return {};
}
Value add(const Call& c) {
  Object& object = self(c);
  if (holds_others(object))
    add_module(c.session, object, c.text("name"), c.value("module"));
  else
    set_attribute(c.session, object, c.text("name"), c.value("module"));
  return {};
}

Value names(const Call& c) {
  Values all;
  for (const auto& [name, item] : holder(c).items) all.push_back({std::string_view(name)});
  return make_list(std::move(all));
}
Value held(const Call& c) {
  Values all;
  for (const auto& [name, item] : holder(c).items) all.push_back(item);
  return make_list(std::move(all));
}
Value iterator(const Call& c) { return make_list(held_items(holder(c))); }
Value element(const Call& c) { return held_module(c.session, holder(c), c.value("index")); }
Value length(const Call& c) { return {static_cast<std::int64_t>(holder(c).items.size())}; }
Value pairs(const Call& c) {
  Values all;
  for (const auto& [name, item] : holder(c).items) all.push_back(make_list({{std::string_view(name)}, item}));
  return make_list(std::move(all));
}

// PyTorch's modules keep statistics in buffers. Here, they are drawn as parameters are.
bool is_buffer(const Object& object, std::string_view name) {
  const bool is_statistic = name == "running_mean" || name == "running_var" || name == "num_batches_tracked";
  return (object.module && is_statistic) || object.buffers.contains(name);
}

std::string joined_path(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + "." + name;
}

/// Collects the modules and parameters inside a module, each once, with their paths.
class Contents {
 public:
  explicit Contents(Session& session) : session_(session) {}
  void add(Object& object, const std::string& path, bool recurse = true) {
    if (!seen_.insert(&object).second) return;
    session_.spend();
    modules.push_back(make_list({{session_.text(path)}, {&object}}));
    const auto path_of = [&](const std::string& name) { return joined_path(path, name); };
    for (const auto& [name, value] : object.attributes)
      if (is_buffer(object, name))
        add_buffer(value, path_of(name));
      else
        add_parameter(value, path_of(name));
    for (const auto& [name, value] : object.items) add_parameter(value, path_of(name));
    if (!recurse) return;
    for (const auto& [name, value] : object.attributes) add_module(value, path_of(name));
    for (const auto& [name, value] : object.items) add_module(value, path_of(name));
  }
  // Pairs of a path and a value. A module's own parameters and buffers are before those inside.
  Values modules, parameters, buffers;

 private:
  void add_parameter(const Value& value, const std::string& path) {
    if (!is_parameter(value)) return;
    const Leaf* leaf = leaf_of(value);
    if (leaf ? seen_.insert(leaf).second : seen_tensors_.insert(value.as<Tensor>()->id).second)
      parameters.push_back(make_list({{session_.text(path)}, value}));
  }
  void add_buffer(const Value& value, const std::string& path) {
    if (!value.none()) buffers.push_back(make_list({{session_.text(path)}, value}));
  }
  void add_module(const Value& value, const std::string& path) {
    if (is_module(value)) add(**value.as<Object*>(), path);
  }
  Session& session_;
  std::set<const void*> seen_;
  std::set<Id> seen_tensors_;
};

Value without_paths(const Values& pairs) {
  Values all;
  for (const Value& pair : pairs) all.push_back((*pair.as<List>()->items)[1]);
  return make_list(std::move(all));
}
Contents contents(const Call& c) {
  Contents all(c.session);
  all.add(self(c), c.has("prefix") ? std::string(c.text("prefix")) : "", !c.has("recurse") || c.flag("recurse"));
  return all;
}
Value modules(const Call& c) { return without_paths(contents(c).modules); }
Value named_modules(const Call& c) { return make_list(contents(c).modules); }
Value parameters(const Call& c) { return without_paths(contents(c).parameters); }
Value named_parameters(const Call& c) { return make_list(contents(c).parameters); }
Value buffers(const Call& c) { return without_paths(contents(c).buffers); }
Value named_buffers(const Call& c) { return make_list(contents(c).buffers); }
/// Adds the parameters and then the persistent buffers of a module, and those of the modules inside. What several
/// modules share has an entry for each of them.
void add_state(Session& session, const Object& object, const std::string& path, Dict& state, int level) {
  if (level > max_levels) throw Error(fmt::format("state_dict: expected at most {} nested modules", max_levels));
  const auto add = [&](const std::string& name, const Value& value) {
    session.spend();
    state.items.emplace_back(Value{session.text(joined_path(path, name))}, value);
  };
  for (const auto& [name, value] : object.attributes)
    if (is_parameter(value) && !is_buffer(object, name)) add(name, value);
  for (const auto& [name, value] : object.items)
    if (is_parameter(value)) add(name, value);
  for (const auto& [name, value] : object.attributes) {
    const auto buffer = object.buffers.find(name);
    const bool is_kept = buffer == object.buffers.end() || buffer->second;
    if (is_buffer(object, name) && is_kept && !value.none()) add(name, value);
  }
  const auto add_inner = [&](const std::string& name, const Value& value) {
    if (is_module(value)) add_state(session, **value.as<Object*>(), joined_path(path, name), state, level + 1);
  };
  for (const auto& [name, value] : object.attributes) add_inner(name, value);
  for (const auto& [name, value] : object.items) add_inner(name, value);
}
Value state_dict(const Call& c) {
  Dict* state = c.session.make_dict();
  add_state(c.session, self(c), "", *state, 0);
  return {state};
}
Value children(const Call& c) {
  Values all;
  for (const auto& [name, value] : self(c).attributes)
    if (is_module(value)) all.push_back(value);
  for (const auto& [name, value] : self(c).items) all.push_back(value);
  return make_list(std::move(all));
}
Value named_children(const Call& c) {
  Values all;
  for (const auto& [name, value] : self(c).attributes)
    if (is_module(value)) all.push_back(make_list({{c.session.text(name)}, value}));
  for (const auto& [name, value] : self(c).items) all.push_back(make_list({{c.session.text(name)}, value}));
  return make_list(std::move(all));
}
Value apply(const Call& c) {
  const Value all = modules(c);
  for (const Value& module : *all.as<List>()->items) c.session.invoke(c.value("fn"), {{module}, {}});
  return c.value("self");
}
Value itself(const Call& c) { return c.value("self"); }

// Conversions. A drawn parameter stays the same tensor, as in PyTorch. A buffer becomes another tensor.

using Parameters = std::map<Id, Id>;  // computed parameters, and what they became: several modules may share one

Value converted(Session& session, const Value& value, DType dtype, Parameters& computed) {
  if (!is_parameter(value)) return {Tensor{session.cast(session.tensor(value), dtype)}};
  if (value.as<Leaf*>()) {
    session.convert(value, dtype);
    return value;
  }
  const auto [made, is_new] = computed.try_emplace(value.as<Tensor>()->id);
  if (is_new) made->second = session.cast(session.tensor(value), dtype);
  return {Tensor{made->second, false, true}};
}

void convert_own(Session& session, Object& object, bool (*is_chosen)(DType), DType dtype, Parameters& computed) {
  const auto chosen = [&](const Value& v) { return is_tensor(v) && is_chosen(session.type_of(v).dtype); };
  std::vector<std::pair<std::string, Value>> changed;
  for (const auto& [name, value] : object.attributes)
    if (chosen(value) && (is_parameter(value) || object.buffers.contains(name)))
      changed.emplace_back(name, converted(session, value, dtype, computed));
  for (auto& [name, value] : changed) object.attributes.insert_or_assign(name, std::move(value));
  for (auto& [name, value] : object.items)
    if (chosen(value)) value = converted(session, value, dtype, computed);
}

void convert_all(const Call& c, bool (*is_chosen)(DType), DType dtype) {
  const Value all = modules(c);
  Parameters computed;
  for (const Value& module : *all.as<List>()->items)
    convert_own(c.session, **module.as<Object*>(), is_chosen, dtype, computed);
}

template <DType dtype>
Value to_floats(const Call& c) {
  convert_all(c, is_float, c.session.computed(dtype));
  return c.value("self");
}

// `type` also converts tensors of integers.
Value to_type(const Call& c) {
  convert_all(
      c, [](DType) { return true; }, c.dtype("dst_type"));
  return c.value("self");
}

/// Returns the dtype that a module or a tensor names, or nullopt for a device.
std::optional<DType> requested_dtype(const Call& c, std::string_view parameter) {
  const Value& target = c.value(parameter);
  if (is_tensor(target)) return c.session.type_of(target).dtype;
  const bool is_device = target.as<std::string_view>() || target.as<std::int64_t>() || target.as<Opaque>();
  return target.none() || is_device ? std::nullopt : std::optional(c.dtype(parameter));
}

// Lays parameters and buffers of images and volumes out as `memory_format` says.
void lay_out_all(const Call& c) {
  const Contents all = contents(c);
  for (const Values* pairs : {&all.parameters, &all.buffers})
    for (const Value& pair : *pairs) {
      const Value& value = (*pair.as<List>()->items)[1];
      if (!is_tensor(value)) continue;
      const Shape shape = c.session.type_of(value).shape;
      const auto strides = shape.size() == 4 || shape.size() == 5 ? c.requested_strides(shape) : std::nullopt;
      auto* const* leaf = value.as<Leaf*>();
      if (strides && leaf && !(*leaf)->id)
        (*leaf)->strides = *strides;
      else if (strides)
        c.session.set_data(value, {c.session.laid_out(c.session.tensor(value), *strides)});
    }
}

// Evaluates to(dtype), to(device, dtype), to(tensor) and to(device).
Value to(const Call& c) {
  lay_out_all(c);
  std::optional<DType> dtype = requested_dtype(c, "device");
  if (c.given("dtype")) dtype = c.dtype("dtype");
  if (!dtype && c.given("tensor")) dtype = requested_dtype(c, "tensor");
  if (!dtype) return c.value("self");
  if (!is_float(*dtype))
    throw Error(
        fmt::format("to: expected a dtype of floats for the parameters of a module, found {}", torch_name(*dtype)));
  convert_all(c, is_float, *dtype);
  return c.value("self");
}

Value nothing(const Call&) { return {}; }
Value update(const Call& c) {
  Object& object = holder(c);
  auto* const* dict = c.value("modules").as<Dict*>();
  if (!dict) c.fail("modules", "modules by names");
  add_named(c, object, **dict);
  return {};
}
// A method of the handle of a hook, whose `self` is the list of hooks and the hook.
Value remove_hook(const Call& c) {
  const Values& both = *c.value("self").as<List>()->items;
  Values& hooks = *both[0].as<List>()->items;
  if (const auto hook = std::ranges::find_if(hooks, [&](const Value& h) { return equal(h, both[1]); });
      hook != hooks.end())
    hooks.erase(hook);
  return {};
}
constexpr Function remover = {"remove", of_module, "self", remove_hook};

template <const std::string_view& attribute>
Value add_hook(const Call& c) {
  Object& object = self(c);
  if (object.attributes.find(attribute) == object.attributes.end())
    object.attributes.insert_or_assign(std::string(attribute), c.session.list({}));
  const Value hooks = object.attributes.find(attribute)->second;
  hooks.as<List>()->items->push_back(c.value("hook"));
  Object* handle = c.session.make_object();
  const Value both = make_list({hooks, c.value("hook")});
  handle->attributes.insert_or_assign("remove", {Builtin{&remover, std::make_shared<const Value>(both)}});
  return {handle};
}
Value register_buffer(const Call& c) {
  auto* const* self = c.value("self").as<Object*>();
  const bool is_object = c.value("tensor").as<Object*>() != nullptr;  // such as a tensor of complex numbers
  if (!self || (!is_tensor(c.value("tensor")) && !is_object && c.given("tensor"))) c.fail("tensor", "a tensor");
  c.session.give_name(c.value("tensor"), *self, c.text("name"));
  (*self)->attributes.insert_or_assign(std::string(c.text("name")), c.value("tensor"));
  (*self)->buffers.insert_or_assign(std::string(c.text("name")), c.flag("persistent"));
  return {};
}
Value register_parameter(const Call& c) {
  set_attribute(c.session, self(c), c.text("name"), c.value("param"));
  return {};
}

// clang-format off
constexpr std::array rows = {
    Function{"eval", of_module, "self", itself},
    Function{"train", of_module, "self, mode=True", itself},
    Function{"cpu", of_module, "self", itself},
    Function{"cuda", of_module, "self", itself},
    Function{"requires_grad_", of_module, "self, requires_grad=True", itself},
    Function{"register_buffer", of_module, "self, name, tensor, persistent=True", register_buffer},
    Function{"append", of_module, "self, module", append},
    Function{"extend", of_module, "self, modules", extend},
    Function{"insert", of_module, "self, index, module", insert},
    Function{"add_module", of_module, "self, name, module", add},
    Function{"register_module", of_module, "self, name, module", add},
    Function{"register_parameter", of_module, "self, name, param", register_parameter},
    Function{"keys", of_module, "self", names},
    Function{"values", of_module, "self", held},
    Function{"items", of_module, "self", pairs},
    Function{"modules", of_module, "self", modules},
    Function{"named_modules", of_module, "self", named_modules},
    Function{"children", of_module, "self", children},
    Function{"named_children", of_module, "self", named_children},
    Function{"parameters", of_module, "self, recurse=True", parameters},
    Function{"named_parameters", of_module, "self, prefix='', recurse=True", named_parameters},
    Function{"buffers", of_module, "self, recurse=True", buffers},
    Function{"named_buffers", of_module, "self, prefix='', recurse=True", named_buffers},
    Function{"state_dict", of_module, "self", state_dict},
    Function{"apply", of_module, "self, fn", apply},
    Function{"to", of_module, "self, device=None, dtype=None, non_blocking=False, *, tensor=None, memory_format=None",
             to},
    Function{"type", of_module, "self, dst_type", to_type},
    Function{"float", of_module, "self", to_floats<DType::f32>},
    Function{"double", of_module, "self", to_floats<DType::f64>},
    Function{"half", of_module, "self", to_floats<DType::f16>},
    Function{"bfloat16", of_module, "self", to_floats<DType::bf16>},
    Function{"update", of_module, "self, modules", update},
    Function{"register_forward_pre_hook", of_module, "self, hook", add_hook<hooks_attribute>},
    Function{"register_forward_hook", of_module, "self, hook", add_hook<hooks_after_attribute>},
    Function{"reset_parameters", of_module, "self", nothing},
    Function{"flatten_parameters", of_module, "self", nothing},
    Function{"zero_grad", of_module, "self, set_to_none=True", nothing},
    Function{"__getitem__", of_holder, "self, index", element},
    Function{"__iter__", of_holder, "self", iterator},
    Function{"__len__", of_holder, "self", length},
};
// clang-format on

}  // namespace
}  // namespace containers

std::span<const Function> container_functions() { return containers::rows; }

}  // namespace deplo::ir::torch::python
