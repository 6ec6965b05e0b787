#include "ir/torch/expression/values/session.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/torch/expression/slices.h"

namespace deplo::ir::torch::python {
namespace {

// Returns a name such as p_mlp_up_weight: the attributes from the outermost module to the leaf.
std::string parameter_name(const Leaf& leaf) {
  std::string path = leaf.name.empty() ? "weight" : leaf.name;
  for (const Object* o = leaf.parent; o && !o->name.empty(); o = o->parent) {
    path = fmt::format("{}_{}", o->name, path);
    if (path.size() > max_path_bytes)
      throw Error(fmt::format("expected a parameter's name of at most {} letters, found …_{}", max_path_bytes, path));
  }
  return "p_" + path;
}

bool is_inside(const Object* inner, const Object* outer) {
  for (int level = 0; inner; inner = inner->parent) {
    if (inner == outer) return true;
    if (++level > max_levels) throw Error(fmt::format("expected at most {} nested modules", max_levels));
  }
  return false;
}

// Returns the dtype of a Python number. Integers may have any size here: operations refuse those that references cannot
// hold exactly (ranges.h).
DType scalar_dtype(const Value& number) {
  if (number.as<bool>()) return DType::boolean;
  return number.as<std::int64_t>() ? DType::i64 : DType::f32;
}

}  // namespace

void Session::spend(std::size_t steps) {
  steps_ += steps;
  if (steps_ > max_steps) throw Error(fmt::format("expected at most {} steps of evaluation", max_steps));
}

void Session::expect_room() const {
  if (builder_.size() >= max_nodes) throw Error(fmt::format("expected at most {} nodes", max_nodes));
}

Id Session::call(std::string_view op, std::vector<Id> args, Attributes attributes, std::string_view name) {
  spend(args.size());
  expect_room();
  return builder_.call(op, std::move(args), std::move(attributes), name);
}

Id Session::tensor(const Value& value) {
  const Id tensor = id_of(value);
  if (!in_place_.is_stale(builder_, tensor)) return in_place_.current(tensor);
  const Views views = in_place_.views(builder_, tensor);
  const std::optional<Id> content = views.known ? in_place_.content(views.origin) : std::nullopt;
  if (!content)
    throw Error(
        "expected a tensor whose memory is known, found one that may share its memory with a tensor that was changed "
        "in place (docs/expressions.md)");
  const Id now = shown(views, *content).back();
  in_place_.refresh(tensor, now);
  return now;
}

std::vector<Id> Session::shown(const Views& views, Id content) {
  std::vector<Id> nodes = {content};
  for (const Id id : views.nodes) {
    const Node& view = builder_.node(id);
    nodes.push_back(call(view.op, {nodes.back()}, view.attributes));
    if (in_place_.strides().is_shared(id)) in_place_.strides().share(nodes.back());
  }
  return nodes;
}

std::optional<Id> Session::content_after(const Views& views, Id result) {
  if (!views.known) return std::nullopt;
  if (views.nodes.empty()) return result;
  const std::optional<Id> content = in_place_.content(views.origin);
  if (!content) return std::nullopt;
  const std::vector<Id> before = shown(views, *content);
  std::optional<Id> value = result;
  for (std::size_t i = views.nodes.size(); value && i-- > 0;)
    value = with_view(*this, before[i], builder_.node(views.nodes[i]), *value);
  return value ? std::optional(copy(*value)) : std::nullopt;  // a node that is no view
}

bool Session::shares_elements(const Views& views, Id node) {
  if (const std::optional<bool> repeats = in_place_.strides().repeats(builder_, node)) return *repeats;
  return std::ranges::any_of(views.nodes, [&](Id view) { return overlaps(*this, builder_.node(view)); });
}

TensorType Session::type_of(const Value& value) const {
  auto* const* leaf = value.as<Leaf*>();
  if (leaf && !(*leaf)->id) return (*leaf)->type;
  CHECK(is_tensor(value));
  return builder_.type(in_place_.current(leaf ? *(*leaf)->id : value.as<Tensor>()->id));
}

bool Session::redraw(const Value& value, Fill fill) {
  auto* const* leaf = value.as<Leaf*>();
  if (!leaf || ((*leaf)->id && (!(*leaf)->parameter || in_place_.current(*(*leaf)->id) != *(*leaf)->id))) return false;
  (*leaf)->source.fill = fill;
  if ((*leaf)->id) builder_.redraw(*(*leaf)->id, fill);
  return true;
}

void Session::assign(const Value& value, Id result, Id first_new) {
  const Id old = tensor(value);
  if (result == old) return;
  const Id id = id_of(value);
  const Views views = in_place_.views(builder_, id);
  if (views.known && shares_elements(views, old))
    throw Error(
        "expected a tensor whose elements have memory of their own to change in place, found one whose elements share "
        "memory, as after expand; change a clone() of it");
  const TensorType type = builder_.type(old);
  if (is_float(builder_.type(result).dtype) && !is_float(type.dtype))
    throw Error(fmt::format("expected a result of {} to put in place, found {}", torch_name(type.dtype),
                            print(builder_.type(result))));
  result = cast(result, type.dtype);
  if (builder_.type(result).shape != type.shape) {
    if (builder_.type(result).shape.size() > type.shape.size())
      throw Error(fmt::format("expected a result of the shape {} to put in place, found {}", print(type.shape),
                              print(builder_.type(result).shape)));
    result = call("expand", {result}, {{"shape", type.shape}});
  }
  result = own(result, first_new).id;
  in_place_.write(builder_, id, result, content_after(views, result));
}

void Session::put(const Value& value, const Value& source) {
  const Id first_new = size();
  const TensorType type = type_of(value);
  const std::optional<double> number = to_number(source);
  // The node of a number is no tensor without dimensions.
  const Id result = number && type.shape.empty()
                        ? call("full", {}, {{"shape", Shape{}}, {"value", *number}, {"dtype", type.dtype}})
                        : cast(operand(source, "copy_", 1), type.dtype);
  assign(value, result, first_new);
}

void Session::set_data(const Value& value, const Value& source) {
  if (!is_tensor(source))
    throw Error(fmt::format("expected a tensor as the data of a tensor, found {}", describe(source)));
  in_place_.refresh(id_of(value), tensor(source));
}

void Session::convert(const Value& value, DType dtype) {
  auto* const* leaf = value.as<Leaf*>();
  if (leaf && !(*leaf)->id)
    (*leaf)->type.dtype = dtype;
  else if (type_of(value).dtype != dtype)
    set_data(value, {Tensor{cast(tensor(value), dtype)}});
}

void Session::show(const Value& value, Id view) { in_place_.refresh(id_of(value), view); }

Id Session::copy(Id tensor) {
  spend();
  expect_room();
  return builder_.copy(tensor);
}

Tensor Session::own(Id node, Id first_new) {
  return {node < first_new || in_place_.is_view(builder_, node) ? copy(node) : node};
}

void Session::share(Id first_new) {
  for (Id id = first_new; id < size(); ++id) in_place_.strides().share(id);
}

bool Session::is_contiguous(const Value& value) {
  auto* const* leaf = value.as<Leaf*>();
  if (leaf && !(*leaf)->id) return !(*leaf)->strides;
  return in_place_.strides().is_contiguous(builder_, in_place_.current(id_of(value))) == true;
}

Shape Session::strides(const Value& value) {
  const std::optional<Shape>& strides = in_place_.strides().of(builder_, tensor(value));
  if (strides) return *strides;
  throw Error("expected a tensor whose strides are known, found one whose place in memory is PyTorch's choice");
}

std::int64_t Session::storage_offset(const Value& value) {
  tensor(value);  // the views of a tensor that is up to date
  const Views views = in_place_.views(builder_, id_of(value));
  std::int64_t total = 0;
  bool is_known = views.known;
  for (const Id view : views.nodes) {
    const std::optional<std::int64_t> offset = in_place_.strides().offset(builder_, view);
    is_known = is_known && offset;
    total += offset.value_or(0);
  }
  if (is_known) return total;
  throw Error("expected a tensor whose place in memory is known, found one that may be a view or a copy");
}

Id Session::memory(const Value& value) {
  tensor(value);
  const Views views = in_place_.views(builder_, id_of(value));
  const std::optional<Id> content = views.known ? in_place_.content(views.origin) : std::nullopt;
  if (!content || in_place_.strides().is_contiguous(builder_, *content) != true)
    throw Error("expected a tensor whose memory is that of a contiguous tensor, found another one");
  const std::int64_t count = element_count(type(*content).shape);
  return call("reshape", {*content}, {{"shape", Shape{count}}});
}

bool Session::may_be_contiguous(const Value& value) {
  return in_place_.strides().is_contiguous(builder_, tensor(value)).value_or(true);
}

void Session::set_elementwise(Id node, const std::vector<Id>& args) {
  if (!in_place_.is_view(builder_, node)) in_place_.strides().set_elementwise(builder_, node, args);
}

void Session::set_contiguous(Id node) {
  if (!in_place_.is_view(builder_, node))
    in_place_.strides().set_strided(builder_, node, row_major_strides(type(node).shape), false);
}

Tensor Session::laid_out(Id node, const Shape& strides) {
  const std::optional<bool> is_so = in_place_.strides().lies_as(builder_, node, strides);
  if (is_so == true) return {node};
  const Id result = copy(node);
  in_place_.strides().set_strided(builder_, result, strides, !is_so);
  return {result};
}

std::optional<bool> Session::lies_as(const Value& value, const Shape& strides) {
  return in_place_.strides().lies_as(builder_, tensor(value), strides);
}

Id Session::id_of(const Value& value) {
  const Tensor* t = value.as<Tensor>();
  return t ? t->id : node_of(value);
}

Id Session::node_of(const Value& value) {
  CHECK(value.as<Leaf*>());
  Leaf& leaf = **value.as<Leaf*>();
  if (!leaf.id) {
    expect_room();
    if (leaf.parameter) leaf.name_as_node = parameter_name(leaf);
    leaf.id = leaf.parameter ? builder_.parameter(leaf.name_as_node, leaf.type, leaf.source)
                             : builder_.input(leaf.name.empty() ? "x" : leaf.name, leaf.type, leaf.source);
    if (leaf.strides) in_place_.strides().set_strided(builder_, *leaf.id, *leaf.strides, false);
  }
  return *leaf.id;
}

Id Session::operand(const Value& value, std::string_view op, int position) {
  if (is_tensor(value)) return tensor(value);
  const std::optional<double> number = to_number(value);
  if (!number) throw Error(fmt::format("{}: expected a tensor or a number, found {}", op, describe(value)));
  expect_room();
  return builder_.scalar(*number, scalar_dtype(value), fmt::format("{}_c{}", op, position));
}

Id Session::cast(Id id, DType dtype) { return type(id).dtype == dtype ? id : call("to", {id}, {{"dtype", dtype}}); }

bool Session::gives_float_type(const Value& value) const {
  if (is_tensor(value)) return is_float(type_of(value).dtype);
  if (const List* list = value.as<List>())
    return std::ranges::any_of(*list->items, [&](const Value& item) { return gives_float_type(item); });
  return value.as<DType>() || value.as<Object*>();
}

Value Session::in_default_type(const Value& result, Id first_new) {
  const Tensor* made = result.as<Tensor>();
  const bool is_new = made && made->id >= first_new;
  return is_new && type(made->id).dtype == DType::f32 ? Value{Tensor{cast(made->id, default_dtype)}} : result;
}

DType Session::computed(DType dtype) {
  if (dtype != DType::f64) return dtype;
  note_ = "tensors of float64 are computed in float32";
  return DType::f32;
}

// Whether a parameter must be computed, because something else in the graph uses the random numbers that it was made
// of. Throws Error if it shares memory in PyTorch with a tensor that is used, and one of them was changed.
bool Session::computes(const Drawn& d, const std::vector<bool>& needed) {
  const auto is_needed = [&](Id id) { return needed[static_cast<std::size_t>(id)]; };
  if (!d.leaf->id || !is_needed(*d.leaf->id)) return false;
  const bool redrawn = !(d.leaf->source.fill == d.fill);
  const bool changed = redrawn || in_place_.current(*d.leaf->id) != *d.leaf->id;
  if (in_place_.is_written(d.origin, d.since) || (changed && is_needed(in_place_.content(d.origin).value_or(d.origin))))
    throw Error(fmt::format(
        "nn.Parameter: expected no change of {} or of the tensor that it was made of while the other one is "
        "used, because they share memory; make the parameter of the tensor's clone()",
        builder_.node(*d.leaf->id).name));
  return !redrawn && std::ranges::any_of(d.inputs, is_needed, &std::pair<Id, std::string>::first);
}

// A computed parameter may need the random numbers of others.
void Session::compute_parameters(const std::vector<Id>& outputs) {
  for (std::size_t before = drawn_.size() + 1; drawn_.size() < before;) {
    before = drawn_.size();
    const std::vector<bool> needed = builder_.needed(outputs);
    std::erase_if(drawn_, [&](const Drawn& d) {
      if (!computes(d, needed)) return false;
      for (const auto& [input, name] : d.inputs) builder_.restore_input(input, name);
      builder_.compute(*d.leaf->id, d.source);
      return true;
    });
  }
}

// A constructor may use a parameter before its module gets its own name.
void Session::rename_parameters() {
  for (const Leaf& leaf : leaves_) {
    if (!leaf.parameter || !leaf.id) continue;
    if (const std::string name = parameter_name(leaf); name != leaf.name_as_node) builder_.rename(*leaf.id, name);
  }
}

Graph Session::finish(const std::vector<Id>& outputs) {
  rename_parameters();
  compute_parameters(outputs);
  Graph graph = builder_.finish(outputs);
  graph.note = note_;
  return graph;
}

Leaf* Session::make_leaf(TensorType type, Fill fill, bool parameter) {
  Leaf leaf;
  leaf.parameter = parameter;
  leaf.type = std::move(type);
  leaf.source.fill = fill;
  return &leaves_.emplace_back(std::move(leaf));
}

Leaf* Session::draw_parameter(Id source, Fill fill, const std::vector<Id>& inputs) {
  Leaf* leaf = make_leaf(type(source), fill, true);
  if (in_place_.strides().is_contiguous(builder_, source) == false)
    leaf->strides = in_place_.strides().of(builder_, source);
  Drawn drawn = {leaf, fill, source, in_place_.views(builder_, source).origin, size()};
  for (const Id input : inputs) {
    drawn.inputs.emplace_back(input, builder_.node(input).name);
    builder_.drop_input(input);
  }
  drawn_.push_back(std::move(drawn));
  return leaf;
}

Object* Session::make_object() { return &objects_.emplace_back(); }
const Closure* Session::keep(Closure closure) { return &closures_.emplace_back(std::move(closure)); }
Class* Session::keep(Class type) { return &classes_.emplace_back(std::move(type)); }
const Value& Session::keep_value(Value value) { return values_.emplace_back(std::move(value)); }
Scope* Session::make_scope() { return &scopes_.emplace_back(); }
Dict* Session::make_dict() { return &dicts_.emplace_back(); }

// The session alone owns the items, because lists may contain themselves and may be nested as deeply as steps allow.
Value Session::list(Values items) {
  spend(items.size());
  List list;
  list.items = std::shared_ptr<Values>(std::shared_ptr<void>(), &lists_.emplace_back(std::move(items)));
  return {std::move(list)};
}

std::string_view Session::text(std::string text) {
  spend(text.size() / 16);
  return texts_.emplace_back(std::move(text));
}

namespace {

// Whether the object is in a list of modules that is not part of a module yet, such as a local variable.
bool is_in_local_list(const Object& object) {
  const Object* root = object.parent;
  while (root && root->parent) root = root->parent;
  return root && holds_others(*root);
}

}  // namespace

// A name comes from the first assignment, as in PyTorch's named_parameters. A place in a local list of modules counts
// only if there is no other place.
void Session::give_name(const Value& value, Object* parent, std::string_view name) {
  if (auto* const* object = value.as<Object*>();
      object && parent && (!(*object)->parent || is_in_local_list(**object)) && !is_inside(parent, *object)) {
    (*object)->parent = parent;
    (*object)->name = name;
  }
  if (Leaf* leaf = leaf_of(value); leaf && leaf->name.empty() && !leaf->id) {
    leaf->name = name;
    leaf->parent = parent;
    if (!leaf->parameter) tensor({leaf});
  }
}

}  // namespace deplo::ir::torch::python
